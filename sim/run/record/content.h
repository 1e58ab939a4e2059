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

/// A file, with others beside it, or a folder with files, on which a run depends. It is identified by its
/// contents.
struct Content {
    std::string name;  ///< without folder; models are named after it
    std::string hash;  ///< of the bytes; for several files, of their names and hashes
    Label path;        ///< its path, for messages and for reading
};
SYSTOLE_RECORD_FIELDS(Content, name, hash, path)

/// The content of a file or folder. It has no hash if the file cannot be read; opening the file later throws
/// the reason. A file that this process has hashed before is read again only if it has changed since.
Content content_of(const std::filesystem::path& path);

/// The content of a file that names further files, relative to its folder. Without any, that of the file.
Content content_of(const std::filesystem::path& path, const std::vector<std::filesystem::path>& further);

}  // namespace systole::run
