#include "base/whole_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace systole {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
    throw OutputError(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

std::string reason_of(int error) {
    // A stream may fail without a reason of the system.
    return error == 0 ? "unknown reason" : std::generic_category().message(error);
}

/// /dev/stdout leads to a regular file if the shell sends it there; that file must not be replaced, because
/// it is open.
bool is_descriptor(const fs::path& path) {
    std::error_code error;
    const std::string place = fs::absolute(path, error).lexically_normal().string();
    return place.starts_with("/dev/std") || place.starts_with("/dev/fd/") || place.starts_with("/proc/");
}

/// The file that a chain of symbolic links leads to, which need not exist.
fs::path followed(const fs::path& path) {
    constexpr int most_links = 40;  // as Linux
    fs::path file = path;
    for (int links = 0; links < most_links; ++links) {
        std::error_code error;
        const fs::path next = fs::read_symlink(file, error);
        if (error) return file;
        file = file.parent_path() / next;
    }
    fail(path, reason_of(ELOOP));
}

/// The temporary name: hidden, of this process on this computer, and with the same extension.
fs::path part_of(const fs::path& target) {
    std::array<char, 32> host{};  // on a network file system, processes of two computers may have one number
    ::gethostname(host.data(), host.size() - 1);
    constexpr std::size_t longest = 160;  // file systems allow 255
    std::string name = target.filename().string();
    if (name.size() > longest) name.erase(0, name.size() - longest);
    return target.parent_path() / fmt::format(".part-{}-{}-{}", host.data(), ::getpid(), name);
}

}  // namespace

WholeFile::WholeFile(fs::path path) : path_(std::move(path)), target_(path_), place_(path_) {
    if (path_.empty()) fail("\"\"", "the name is empty");
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    if (fs::is_directory(status)) fail(path_, reason_of(EISDIR));
    const bool is_there = fs::exists(status);
    const bool replaced = (!is_there || fs::is_regular_file(status)) && !is_descriptor(path_);
    if (replaced) {
        if (is_there && ::access(path_.c_str(), W_OK) != 0) fail(path_, reason_of(errno));
        target_ = followed(path_);
        place_ = part_of(target_);
        unfinished_.emplace([part = place_] { ::unlink(part.c_str()); });
    }
    errno = 0;
    file_.open(place_, std::ios::binary);
    if (replaced && !file_) {
        const std::string reason = reason_of(errno);
        const fs::path folder = target_.parent_path();
        fail(path_,
             fmt::format("no file can be created in {}: {}", folder.empty() ? "." : folder.string(), reason));
    }
    check();
    if (replaced && is_there) fs::permissions(place_, status.permissions(), error);  // as before, if allowed
}

WholeFile::~WholeFile() {
    if (unfinished_) ::unlink(place_.c_str());
}

void WholeFile::write(std::string_view bytes) {
    errno = 0;
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    check();
}

void WholeFile::commit() {
    errno = 0;
    file_.close();
    check();
    if (!unfinished_) return;
    std::error_code error;
    fs::rename(place_, target_, error);
    if (error) fail(path_, error.message());
    unfinished_.reset();
}

void WholeFile::check() const {
    if (!file_) fail(path_, reason_of(errno));
}

void write_file(const fs::path& path, std::string_view contents) {
    WholeFile file(path);
    file.write(contents);
    file.commit();
}

}  // namespace systole
