#include "sim/run/execute/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "base/whole_file.h"

namespace systole::run {

namespace fs = std::filesystem;

namespace {

constexpr const char* prefix = "systole_";
constexpr const char* lock_name = ".lock";

/// The lock of a folder's file; -1 if another process holds it, or if there is no such file.
Descriptor locked(const fs::path& folder, int more_flags) {
    Descriptor file(::open((folder / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | more_flags, 0600));
    if (file.number() >= 0 && ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) file.close();
    return file;
}

/// Removes folders that nobody holds: not the youngest, which another process may be about to hold.
void remove_abandoned(const fs::path& parent) {
    constexpr auto youngest = std::chrono::minutes(10);
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(parent, ignored)) {
        const fs::path& folder = entry.path();
        if (!folder.filename().string().starts_with(prefix) || !fs::exists(folder / lock_name, ignored))
            continue;
        if (fs::file_time_type::clock::now() - fs::last_write_time(folder / lock_name, ignored) < youngest)
            continue;
        if (locked(folder, 0).number() >= 0) fs::remove_all(folder, ignored);
    }
}

/// Where temporary files go, and the variable that says so: those that fs::temp_directory_path() reads.
struct Place {
    fs::path folder = "/tmp";
    std::string_view variable = {};  ///< empty: none
};

Place place_of_temporary_files() {
    for (const char* const variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
        const char* const named = std::getenv(variable);
        if (named != nullptr && *named != '\0') return {.folder = named, .variable = variable};
    }
    return {};
}

[[noreturn]] void fail(const Place& place, const std::error_code& error) {
    throw OutputError(fmt::format("{}: no folder for temporary files can be made: {}; the variable {}",
                                  place.folder.string(), error.message(),
                                  place.variable.empty()
                                      ? "TMPDIR may name another place"
                                      : fmt::format("{} names this place", place.variable)));
}

}  // namespace

ScratchFolder::ScratchFolder() {
    const Place place = place_of_temporary_files();
    remove_abandoned(place.folder);
    std::string pattern = (place.folder / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) fail(place, {errno, std::generic_category()});
    path_ = pattern;
    lock_ = locked(path_, O_CREAT);
    removed_.emplace([this] { remove(); });
}

ScratchFolder::~ScratchFolder() {
    remove();
}

void ScratchFolder::remove() const {
    std::error_code ignored;  // files that remain do no harm
    std::filesystem::remove_all(path_, ignored);
}

Content ScratchFolder::add(const std::string& name, std::string_view text) const {
    const std::filesystem::path folder = path_ / hash_of(text);
    std::error_code ignored;  // write_file tells
    std::filesystem::create_directories(folder, ignored);
    write_file(folder / name, text);
    return content_of(folder / name);
}

}  // namespace systole::run
