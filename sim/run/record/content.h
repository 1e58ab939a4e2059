#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/record/fields.h"

namespace systole::run {

/// SHA-256 of bytes, in hexadecimal.
std::string hash_of(std::string_view bytes);

/// A text that a run's result does not depend on.
struct Label {
    using Uncompared = void;
    std::string text;
};
SYSTOLE_RECORD_FIELDS(Label, text)

/// A file, or a folder with files, that decides something about a run: by its contents.
struct Content {
    std::string name;  ///< without folder: models are called after it
    std::string hash;  ///< of the bytes; of a folder, of its files' names and hashes
    Label path;        ///< where it lies: for messages, and to read it
};
SYSTOLE_RECORD_FIELDS(Content, name, hash, path)

/// The content of a file or folder. One that cannot be read has no hash: whoever opens it says why.
Content content_of(const std::filesystem::path& path);

}  // namespace systole::run
