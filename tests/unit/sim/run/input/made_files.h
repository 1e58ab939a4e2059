#pragma once

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/input/images.h"
#include "tests/support/files.h"

namespace systole::input::tests {

using Bytes = std::vector<std::uint8_t>;

inline void add(Bytes& bytes, std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
}

/// `value` in `width` bytes.
inline void add_big_endian(Bytes& bytes, std::uint64_t value, int width) {
    for (int i = width - 1; i >= 0; --i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void add_little_endian(Bytes& bytes, std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// An IDX file of unsigned bytes.
inline Bytes idx(const std::vector<std::uint32_t>& extents, const Bytes& values) {
    Bytes bytes{0, 0, 0x08, static_cast<std::uint8_t>(extents.size())};
    for (const std::uint32_t extent : extents) add_big_endian(bytes, extent, 4);
    bytes.insert(bytes.end(), values.begin(), values.end());
    return bytes;
}

/// `bytes` as one gzip member.
inline Bytes gzip(const Bytes& bytes) {
    z_stream state{};
    REQUIRE(deflateInit2(&state, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    Bytes out(deflateBound(&state, bytes.size()));
    state.next_in = const_cast<Bytef*>(bytes.data());
    state.avail_in = static_cast<uInt>(bytes.size());
    state.next_out = out.data();
    state.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
    out.resize(out.size() - state.avail_out);
    deflateEnd(&state);
    return out;
}

inline Bytes counted(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 3);
    return bytes;
}

/// The message of the InputError that `action` throws; fails the test if it throws none.
inline std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError& error) {
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
        return error.what();
    }
    FAIL("no InputError");
    return {};
}

/// A folder with files of bytes.
class TemporaryDirectory : public systole::tests::Folder {
public:
    std::filesystem::path write(std::string_view name, const Bytes& bytes) const {
        const std::filesystem::path file = path() / name;
        std::ofstream out(file, std::ios::binary);
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        REQUIRE(out.good());
        return file;
    }
};

}  // namespace systole::input::tests
