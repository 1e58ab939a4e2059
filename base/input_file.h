#pragma once

#include <cstdint>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>

/// Opening the files that a user names as input: run files, machines, networks, images, programs, reports.
namespace systole {

/// The largest input file in bytes: more than the weights of any network that can run. Some kinds of file
/// have a limit of their own, below it.
inline constexpr std::uint64_t most_input_bytes = std::uint64_t{8} << 30U;

/// The reason why a path cannot be read as input; nullopt if it can. Only regular files can: a device may
/// never end, and a pipe that nobody writes to blocks the reader. The file is not read.
std::optional<std::string> input_fault(const std::filesystem::path& path,
                                       std::uint64_t most_bytes = most_input_bytes);

/// Fills `bytes`, which have the file's size. Returns whether the file had as many.
bool fill_from(const std::filesystem::path& path, char* bytes, std::uint64_t size);

/// Throws Error, in one line that begins with the path, unless the path can be read as input.
template <class Error>
void check_input_file(const std::filesystem::path& path, std::uint64_t most_bytes = most_input_bytes) {
    if (const auto fault = input_fault(path, most_bytes)) throw Error(path.string() + ": " + *fault);
}

/// The bytes of an input file. Throws Error, in one line that begins with the path.
template <class Error, class Bytes = std::string>
Bytes read_input_file(const std::filesystem::path& path, std::uint64_t most_bytes = most_input_bytes) {
    check_input_file<Error>(path, most_bytes);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    Bytes bytes;
    try {
        if (!error) bytes.resize(size);
    } catch (const std::bad_alloc&) {
        throw Error(path.string() + ": there is not enough memory for its " + std::to_string(size) +
                    " bytes");
    }
    if (error || !fill_from(path, reinterpret_cast<char*>(bytes.data()), size)) {
        throw Error(path.string() + ": cannot be read");
    }
    return bytes;
}

}  // namespace systole
