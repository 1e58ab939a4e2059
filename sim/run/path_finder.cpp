#include "sim/run/path_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <span>
#include <sstream>
#include <system_error>

#include "base/user_error.h"
#include "hw/machine/config_error.h"

namespace systole::run {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view networks = "models";
constexpr std::array<std::string_view, 7> network_extensions{".h5",  ".keras", ".json",  ".hlo",
                                                             ".txt", ".onnx",  ".tflite"};
constexpr std::array<std::string_view, 1> config_extensions{".json"};

std::span<const std::string_view> extensions_of(std::string_view kind) {
    return kind == networks ? std::span<const std::string_view>(network_extensions) : config_extensions;
}

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

/// Folders are left out: in models, "mnist_cnn" is the name of a run and not the folder.
bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

/// Whether the text is a name instead of a path: without folder and extension.
bool is_bare(const fs::path& path) {
    return !path.has_parent_path() && path.has_filename() && !path.has_extension() && path != "." &&
           path != "..";
}

/// The path relative to the current folder, if it lies below that.
fs::path shown(const fs::path& found) {
    std::error_code error;
    const fs::path relative = fs::relative(found, error);
    const bool inside = !error && !relative.empty() && *relative.begin() != "..";
    return inside ? relative : found.lexically_normal();
}

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The user's own folder. The XDG base directory specification says to ignore a relative $XDG_CONFIG_HOME.
fs::path user_folder() {
    const fs::path configured = environment("XDG_CONFIG_HOME");
    if (configured.is_absolute()) return configured / "systole";
    const fs::path home = environment("HOME");
    return home.empty() ? fs::path() : home / ".config/systole";
}

fs::path shipped_folder() {
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (error) return {};
    fs::path installed = executable.parent_path().parent_path() / "share/systole";
    if (is_there(installed / "configs")) return installed;
    for (const fs::path& folder : upwards(executable.parent_path())) {
        if (is_there(folder / "configs/machines")) return folder;
    }
    return installed;
}

}  // namespace

NameFolders name_folders() {
    NameFolders folders;
    if (const fs::path user = user_folder(); !user.empty()) folders.of_user.push_back(user);
    std::istringstream entries(environment("SYSTOLE_PATH"));
    for (std::string entry; std::getline(entries, entry, ':');) {
        std::error_code error;
        if (!entry.empty()) folders.of_user.push_back(fs::absolute(entry, error).lexically_normal());
    }
    folders.shipped = shipped_folder();
    return folders;
}

PathFinder::PathFinder(const fs::path& run_file, const NameFolders& others)
    : shipped_(others.shipped),
      where_paths_("the current folder"),
      where_("the current folder and those above it") {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    folders_.push_back(here);
    for (const fs::path& folder : upwards(here)) roots_.push_back({folder});
    if (!run_file.empty()) {
        const fs::path beside = fs::absolute(run_file, error).lexically_normal().parent_path();
        const std::string all = fmt::format("{} and those above it", beside.string());
        where_paths_ = beside == here ? where_ : where_paths_ + ", " + all;
        if (beside != here) where_ += ", " + all;
        for (const fs::path& folder : upwards(beside)) {
            folders_.push_back(folder);
            roots_.push_back({folder});
        }
    }
    for (const fs::path& folder : others.of_user) {
        roots_.push_back({folder, true});
        where_ += ", " + folder.string();
    }
    if (!others.shipped.empty()) {
        roots_.push_back({others.shipped});
        where_ += ", " + others.shipped.string();
    }
}

fs::path PathFinder::find(const std::string& given) const {
    fs::path path = given;
    if (path.is_absolute() || path.empty() || is_there(path)) return path;
    for (const fs::path& folder : folders_) {
        if (is_there(folder / path)) return shown(folder / path);
    }
    const bool is_shipped = path.has_parent_path() && !shipped_.empty() && is_there(shipped_ / path);
    return is_shipped ? shown(shipped_ / path) : path;
}

std::vector<fs::path> PathFinder::folders_of(const Root& root, std::string_view kind) {
    if (kind != networks) {
        std::vector<fs::path> folders{root.folder / "configs" / kind};
        if (root.is_of_user) folders.insert(folders.begin(), root.folder / kind);
        return folders;
    }
    std::vector<fs::path> folders;
    std::error_code error;  // a folder that does not exist has no names
    for (const auto& entry : fs::directory_iterator(root.folder / networks, error)) {
        if (entry.is_directory(error)) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    folders.insert(folders.begin(), root.folder / networks);
    return folders;
}

fs::path PathFinder::look_up(const std::string& given, std::string_view kind) const {
    fs::path path = find(given);
    if (is_file(path)) return path;
    if (!is_bare(given)) return {};
    for (const Root& root : roots_) {
        for (const fs::path& folder : folders_of(root, kind)) {
            for (const std::string_view extension : extensions_of(kind)) {
                const fs::path candidate = folder / fmt::format("{}{}", given, extension);
                if (is_file(candidate)) return shown(candidate);
            }
        }
    }
    return {};
}

bool PathFinder::knows(const std::string& given, std::string_view kind) const {
    return !look_up(given, kind).empty();
}

std::set<std::string> PathFinder::names(std::string_view kind) const {
    const std::span<const std::string_view> extensions = extensions_of(kind);
    std::set<std::string> names;
    for (const Root& root : roots_) {
        for (const fs::path& folder : folders_of(root, kind)) {
            std::error_code error;  // a folder that does not exist has no names
            for (const auto& entry : fs::directory_iterator(folder, error)) {
                const std::string extension = entry.path().extension().string();
                const std::string name = entry.path().stem().string();
                const bool known =
                    std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
                if (known && is_bare(name)) names.insert(name);
            }
        }
    }
    return names;
}

std::string PathFinder::looked_in(const fs::path& path) const {
    if (path.is_absolute()) return {};
    const bool also_shipped = path.has_parent_path() && !shipped_.empty();
    return fmt::format("; looked in {}{}", where_paths_, also_shipped ? ", " + shipped_.string() : "");
}

std::string PathFinder::proposal(const fs::path& path, std::string_view kind) const {
    // What to propose for a word: a bare name or, before this, a file where the path leads.
    std::map<std::string, std::string> proposals;
    const std::set<std::string> known = names(kind);
    for (const std::string& name : known) proposals.emplace(name, name);
    const std::span<const std::string_view> extensions = extensions_of(kind);
    std::vector<fs::path> folders = folders_;
    if (path.has_parent_path() && !shipped_.empty()) folders.push_back(shipped_);
    for (const fs::path& folder : folders) {
        std::error_code error;  // a folder that does not exist has no files
        for (const auto& entry : fs::directory_iterator(folder / path.parent_path(), error)) {
            const fs::path file = entry.path().filename();
            if (std::ranges::find(extensions, file.extension().string()) == extensions.end()) continue;
            proposals[file.stem().string()] = (path.parent_path() / file).string();
        }
    }
    std::vector<std::string> words;
    words.reserve(proposals.size());
    for (const auto& [word, proposed] : proposals) words.push_back(word);
    const std::string word = path.stem().string();
    const std::string_view near = nearest(word, words);
    if (!near.empty()) return did_you_mean(proposals.at(std::string(near)));
    if (path.has_parent_path()) return {};
    return suggestion(word, std::vector<std::string>(known.begin(), known.end()));
}

fs::path PathFinder::find(const std::string& given, std::string_view kind) const {
    fs::path found = look_up(given, kind);
    if (!found.empty()) return found;
    if (!is_bare(given)) {
        found = find(given);
        if (is_there(found)) return found;  // a folder, which its reader refuses as such
        throw machine::ConfigError(
            fmt::format("{}: there is no such file{}{}", given, looked_in(given), proposal(given, kind)));
    }
    const std::string named = kind == networks ? fmt::format("models/{0}.* or models/*/{0}.*", given)
                                               : fmt::format("configs/{}/{}.json", kind, given);
    const std::set<std::string> known = names(kind);
    throw machine::ConfigError(
        fmt::format("{}: there is no such file, nor a {}; looked in {}{}", given, named, where_,
                    suggestion(given, std::vector<std::string>(known.begin(), known.end()))));
}

}  // namespace systole::run
