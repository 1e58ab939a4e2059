#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace systole::run {

/// Where names are looked up besides the current folder and that of the run file.
struct NameFolders {
    std::vector<std::filesystem::path> of_user;  ///< $XDG_CONFIG_HOME/systole, then those of SYSTOLE_PATH
    std::filesystem::path shipped;               ///< the project's files, found from the executable
};

/// The folders that environment and executable of this process give. PREFIX/bin/sim ships
/// PREFIX/share/systole, and the binary of a build its checkout.
NameFolders name_folders();

/// Finds the files that a run names. One rule for all of them: a relative path is looked for in the current
/// folder, then in the run file's folder and those above it; at last, if it names a folder
/// ("models/isca17/mlp0.json"), among the files that the project ships.
///
/// A bare name, without folder and extension ("tpu_v1"), that is no such file is looked for as
/// configs/KIND/NAME.json in the current folder and those above it, in the run file's folder and those above
/// it, and in NameFolders; a folder of the user may have KIND/NAME.json as well. Networks are the kind
/// "models": the file is models/NAME or models/FOLDER/NAME with the extension of a network.
class PathFinder {
public:
    /// `run_file` is empty if there is none.
    explicit PathFinder(const std::filesystem::path& run_file, const NameFolders& others = name_folders());

    /// The file, or the path as it was given if there is no such file; opening it then throws.
    std::filesystem::path find(const std::string& given) const;
    /// The same for a file that may be given by its bare name. Throws ConfigError if there is neither such a
    /// file nor such a name.
    std::filesystem::path find(const std::string& given, std::string_view kind) const;
    /// Whether there is such a file or such a name.
    bool knows(const std::string& given, std::string_view kind) const;
    /// All bare names of a kind.
    std::set<std::string> names(std::string_view kind) const;

private:
    /// A folder in which names are looked up.
    struct Root {
        std::filesystem::path folder;
        bool is_of_user = false;
    };

    static std::vector<std::filesystem::path> folders_of(const Root& root, std::string_view kind);
    /// Empty if there is none.
    std::filesystem::path look_up(const std::string& given, std::string_view kind) const;
    /// The folders in which a path was looked for, for messages; empty of an absolute one.
    std::string looked_in(const std::filesystem::path& path) const;
    /// For messages: the file or name that is probably meant by a path that leads to no file.
    std::string proposal(const std::filesystem::path& path, std::string_view kind) const;

    std::vector<std::filesystem::path> folders_;  ///< for paths
    std::filesystem::path shipped_;               ///< for paths, at last
    std::vector<Root> roots_;                     ///< for bare names
    std::string where_paths_;                     ///< folders_, for messages
    std::string where_;                           ///< the roots, for messages
};

}  // namespace systole::run
