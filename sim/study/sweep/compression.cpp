#include "sim/study/sweep/compression.h"

#include <zlib.h>

#include <array>
#include <stdexcept>

#include "base/user_error.h"

namespace systole::sweep {
namespace {

// zlib takes what it reads as pointers to unsigned, not constant bytes.
Bytef* bytes_of(std::string_view text) {
    return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
}

}  // namespace

std::string compressed(std::string_view bytes) {
    constexpr int level = 1;  // the quickest: records shrink to a quarter
    uLongf size = compressBound(bytes.size());
    std::string stream(size, '\0');
    if (compress2(bytes_of(stream), &size, bytes_of(bytes), bytes.size(), level) != Z_OK) {
        throw std::runtime_error("zlib cannot compress a record");
    }
    stream.resize(size);
    return stream;
}

std::string expanded(std::string_view stream) {
    z_stream state{};
    if (inflateInit(&state) != Z_OK) throw std::runtime_error("zlib cannot begin");
    state.next_in = bytes_of(stream);
    state.avail_in = static_cast<uInt>(stream.size());
    std::string bytes;
    std::array<char, 65536> piece{};
    int code = Z_OK;
    while (code == Z_OK) {
        state.next_out = reinterpret_cast<Bytef*>(piece.data());
        state.avail_out = static_cast<uInt>(piece.size());
        code = inflate(&state, Z_NO_FLUSH);
        bytes.append(piece.data(), piece.size() - state.avail_out);
    }
    inflateEnd(&state);
    if (code != Z_STREAM_END) throw UserError("a compressed record is broken");
    return bytes;
}

}  // namespace systole::sweep
