#include "base/input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

namespace systole {
namespace {

namespace fs = std::filesystem;

std::string_view kind_of(fs::file_type type) {
    switch (type) {
        case fs::file_type::directory:
            return "a directory";
        case fs::file_type::block:
        case fs::file_type::character:
            return "a device";
        case fs::file_type::fifo:
            return "a pipe";
        case fs::file_type::socket:
            return "a socket";
        default:
            return "of an unknown kind";
    }
}

}  // namespace

std::optional<std::string> input_fault(const fs::path& path, std::uint64_t most_bytes) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) return "there is no such file";
    if (error) return fmt::format("cannot be opened: {}", error.message());
    if (!fs::is_regular_file(status)) {
        return fmt::format("is {}; it must be a regular file", kind_of(status.type()));
    }
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) return fmt::format("cannot be opened: {}", error.message());
    if (size > most_bytes) return fmt::format("takes {} bytes; the limit is {}", size, most_bytes);
    errno = 0;
    if (!std::ifstream(path, std::ios::binary)) {
        return fmt::format("cannot be opened: {}", std::generic_category().message(errno));
    }
    return std::nullopt;
}

bool fill_from(const fs::path& path, char* bytes, std::uint64_t size) {
    std::ifstream file(path, std::ios::binary);
    file.read(bytes, static_cast<std::streamsize>(size));
    return file.gcount() == static_cast<std::streamsize>(size);
}

}  // namespace systole
