#include "sim/run/path_finder.h"

#include <fmt/format.h>

#include <system_error>

#include "hw/base/user_error.h"
#include "hw/machine/config_error.h"

namespace systole::run {

namespace fs = std::filesystem;

namespace {

/// The folder and all folders above it, nearest first.
std::vector<fs::path> upwards(fs::path folder) {
    std::vector<fs::path> folders;
    for (;;) {
        folders.push_back(folder);
        if (folder == folder.parent_path()) return folders;
        folder = folder.parent_path();
    }
}

bool is_there(const fs::path& path) {
    std::error_code ignored;  // a path that cannot be accessed counts as absent
    return fs::exists(path, ignored);
}

/// Whether the text is a name instead of a path: without folder and extension.
bool is_bare(const fs::path& path) {
    return !path.has_parent_path() && path.has_filename() && !path.has_extension();
}

/// The path relative to the current folder, if it lies below that.
fs::path shown(const fs::path& found) {
    std::error_code error;
    const fs::path relative = fs::relative(found, error);
    const bool inside = !error && !relative.empty() && *relative.begin() != "..";
    return inside ? relative : found.lexically_normal();
}

}  // namespace

PathFinder::PathFinder(const fs::path& run_file) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    folders_.push_back(here);
    name_folders_ = upwards(here);
    if (run_file.empty()) return;
    for (const fs::path& folder : upwards(fs::absolute(run_file, error).lexically_normal().parent_path())) {
        folders_.push_back(folder);
        name_folders_.push_back(folder);
    }
}

fs::path PathFinder::find(const std::string& given) const {
    fs::path path = given;
    if (path.is_absolute() || path.empty() || is_there(path)) return path;
    for (const fs::path& folder : folders_) {
        if (is_there(folder / path)) return shown(folder / path);
    }
    return path;
}

std::optional<fs::path> PathFinder::look_up(const std::string& given, std::string_view kind) const {
    const fs::path path = find(given);
    if (is_there(path)) return path;
    if (!is_bare(path)) return std::nullopt;
    for (const fs::path& folder : name_folders_) {
        const fs::path candidate = folder / "configs" / kind / (given + ".json");
        if (is_there(candidate)) return shown(candidate);
    }
    return std::nullopt;
}

bool PathFinder::knows(const std::string& given, std::string_view kind) const {
    return look_up(given, kind).has_value();
}

std::set<std::string> PathFinder::names(std::string_view kind) const {
    std::set<std::string> names;
    for (const fs::path& folder : name_folders_) {
        std::error_code error;  // a folder that does not exist has no names
        for (const auto& entry : fs::directory_iterator(folder / "configs" / kind, error)) {
            if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
        }
    }
    return names;
}

fs::path PathFinder::find(const std::string& given, std::string_view kind) const {
    if (const auto found = look_up(given, kind)) return *found;
    if (!is_bare(given)) throw machine::ConfigError(fmt::format("{}: there is no such file", given));
    const std::set<std::string> known = names(kind);
    throw machine::ConfigError(
        fmt::format("{}: there is no such file, nor a configs/{}/{}.json{}", given, kind, given,
                    suggestion(given, std::vector<std::string>(known.begin(), known.end()))));
}

}  // namespace systole::run
