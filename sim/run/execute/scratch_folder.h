#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/interruption.h"
#include "sim/run/execute/process.h"
#include "sim/run/record/content.h"

namespace systole::run {

/// A folder for files of this process alone. The destructor removes it, and so does an interruption. Those of
/// processes that were killed are removed by the next one of the same user.
class ScratchFolder {
public:
    /// Throws OutputError, with TMPDIR, if no folder can be created.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Writes a file with this text and returns it as content for specs. Throws OutputError.
    Content add(const std::string& name, std::string_view text) const;

private:
    void remove() const;

    std::filesystem::path path_;
    Descriptor lock_;  ///< of a file in the folder: held as long as this process, or a copy of it, lives
    std::optional<UndoneOnInterruption> removed_;
};

}  // namespace systole::run
