#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/run/record/content.h"

namespace systole::run {

/// A folder for files of this process alone. The destructor removes it.
class ScratchFolder {
public:
    /// Throws std::system_error if no folder can be created.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Writes a file with this text and returns it as content for specs.
    Content add(const std::string& name, std::string_view text) const;

private:
    std::filesystem::path path_;
};

}  // namespace systole::run
