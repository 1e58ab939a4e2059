#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace systole::run {

/// Finds the files that a run names. One rule for all of them: a relative path is looked for in the
/// current folder, then in the run file's folder, then in the folders above the run file. A bare name,
/// without folder and extension ("tpu_v1"), that is no such file is looked for as configs/KIND/NAME.json
/// in the same folders, and in those above the current one.
class PathFinder {
public:
    /// `run_file` is empty if there is none.
    explicit PathFinder(const std::filesystem::path& run_file);

    /// The file, or the path as it was given if there is no such file; opening it then throws.
    std::filesystem::path find(const std::string& given) const;
    /// The same for a file that may be given by its bare name; `kind` is a folder of configs/. Throws
    /// ConfigError if there is neither such a file nor such a name.
    std::filesystem::path find(const std::string& given, std::string_view kind) const;
    /// Whether there is such a file or such a name.
    bool knows(const std::string& given, std::string_view kind) const;
    /// All bare names of a kind.
    std::set<std::string> names(std::string_view kind) const;

private:
    std::optional<std::filesystem::path> look_up(const std::string& given, std::string_view kind) const;

    std::vector<std::filesystem::path> folders_;       ///< for paths
    std::vector<std::filesystem::path> name_folders_;  ///< for bare names
};

}  // namespace systole::run
