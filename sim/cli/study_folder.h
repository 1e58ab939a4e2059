#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/run/execute/scratch_folder.h"
#include "sim/view/report/report_file.h"

namespace systole::cli {

/// The folder of a study's results: the one that the user names, or one that ends with the command.
class StudyFolder {
public:
    /// Throws OutputError where the named folder cannot be made.
    explicit StudyFolder(const std::string& out) : path_(out) {
        if (out.empty()) {
            path_ = scratch_.emplace().path();
        } else {
            report::make_folder(path_);
        }
    }

    const std::filesystem::path& path() const { return path_; }

private:
    std::optional<run::ScratchFolder> scratch_;
    std::filesystem::path path_;
};

}  // namespace systole::cli
