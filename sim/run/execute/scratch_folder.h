#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/run/record/content.h"

namespace systole::run {

/// A folder of this process's own for files, gone with its owner.
class ScratchFolder {
public:
    /// Throws std::system_error where none can be made.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// A file with this text, as the content of specs.
    Content add(const std::string& name, std::string_view text) const;

private:
    std::filesystem::path path_;
};

}  // namespace systole::run
