#include "compiler/frontend/hlo/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <new>

#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

/// zlib's stream from its begin to its end.
struct Inflation {
    Inflation() {
        constexpr int gzip_alone = 16;
        if (inflateInit2(&stream, MAX_WBITS + gzip_alone) != Z_OK) throw std::bad_alloc();
    }
    ~Inflation() { inflateEnd(&stream); }
    Inflation(const Inflation&) = delete;
    Inflation& operator=(const Inflation&) = delete;

    z_stream stream{};
};

}  // namespace

bool is_gzip(std::string_view head) {
    return head.starts_with("\x1f\x8b");
}

std::string gunzip(std::string_view bytes, std::uint64_t most) {
    constexpr std::size_t part_bytes = 1 << 16;
    std::array<unsigned char, part_bytes> part{};
    std::string all;
    Inflation inflation;
    z_stream& stream = inflation.stream;
    // zlib does not write to its input. Its counters hold what a message may have.
    stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<unsigned>(bytes.size());
    int result = Z_OK;
    while (result == Z_OK) {
        stream.next_out = part.data();
        stream.avail_out = part_bytes;
        result = inflate(&stream, Z_NO_FLUSH);
        const std::size_t made = part_bytes - stream.avail_out;
        if (made > most - all.size())
            throw ModelError(fmt::format("its gzip holds more than {} bytes; modules have fewer", most));
        all.append(reinterpret_cast<const char*>(part.data()), made);
    }
    if (result != Z_STREAM_END || stream.avail_in > 0)
        throw ModelError("it is damaged: its gzip is not whole");
    return all;
}

}  // namespace systole::hlo
