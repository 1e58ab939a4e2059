#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/input/images.h"

struct z_stream_s;

namespace systole::input {

/// The bytes of a file from front to back, decompressed if the file is gzip, which its magic number shows
/// (RFC 1952; several members count as one stream).
///
/// Bytes are decompressed only on request, so the reader decides how much memory a file takes. Damaged or
/// truncated gzip data throws InputError from any function that advances.
class ByteStream {
public:
    /// The largest number of bytes that `starts_with` can compare.
    static constexpr std::size_t max_peek = 8;

    /// `bytes` must outlive the stream; `file` begins each error message.
    ByteStream(std::span<const std::uint8_t> bytes, std::string_view file);
    ~ByteStream();
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    const std::string& file() const { return file_; }

    /// Whether the next bytes are `expected` (at most max_peek); they stay in the stream.
    bool starts_with(std::string_view expected);

    /// Fills `out` from the front; returns the number of bytes, which is smaller at the end of the file.
    std::size_t read(std::span<std::uint8_t> out);
    /// Fills the whole of `out`. Throws InputError, which names the part `what`, if the file ends before.
    void read_exactly(std::span<std::uint8_t> out, std::string_view what);

    /// The order of the bytes of the values that follow; little-endian at first.
    void set_byte_order(std::endian order) { byte_order_ = order; }
    /// The next `count` values, in the byte order if T is wider than a byte. Memory grows with the bytes that
    /// the file really has, so a wrong `count` allocates little. Throws InputError if the file ends before.
    template <typename T>
    std::vector<T> read_values(std::uint64_t count, std::string_view what);

    /// Throws InputError if bytes follow; `what` names the part that must be the last.
    void expect_end(std::string_view what);

private:
    std::size_t read_source(std::span<std::uint8_t> out);
    std::size_t read_plain(std::span<std::uint8_t> out);
    std::size_t inflate_some(std::span<std::uint8_t> out);
    bool next_member();
    [[noreturn]] void fail_truncated(std::string_view what, std::uint64_t has, std::uint64_t needs) const;

    std::span<const std::uint8_t> rest_;
    std::string file_;
    std::unique_ptr<z_stream_s> inflate_;  ///< null if the file is not compressed
    bool member_ended_ = false;
    std::endian byte_order_ = std::endian::little;
    std::array<std::uint8_t, max_peek> peeked_{};
    std::size_t peeked_begin_ = 0;
    std::size_t peeked_end_ = 0;
};

template <typename T>
std::vector<T> ByteStream::read_values(std::uint64_t count, std::string_view what) {
    static_assert(std::endian::native == std::endian::little, "little-endian values are copied as they are");
    constexpr std::uint64_t first_step = (std::uint64_t{16} << 20U) / sizeof(T);
    std::vector<T> values;
    std::uint64_t done = 0;
    while (done < count) {
        values.resize(std::min(count, std::max(first_step, 2 * done)));
        const std::span<T> added = std::span(values).subspan(done);
        const std::size_t bytes = read({reinterpret_cast<std::uint8_t*>(added.data()), added.size_bytes()});
        if (bytes < added.size_bytes()) {
            fail_truncated(what, done * sizeof(T) + bytes, count * sizeof(T));
        }
        if (sizeof(T) > 1 && byte_order_ == std::endian::big) {
            for (T& value : added) {
                auto* const first = reinterpret_cast<std::uint8_t*>(&value);
                std::reverse(first, first + sizeof(T));
            }
        }
        done = values.size();
    }
    return values;
}

}  // namespace systole::input
