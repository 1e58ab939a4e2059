#include "sim/run/input/byte_stream.h"

#include <zlib.h>

#include <cstring>
#include <limits>
#include <utility>

namespace systole::input {
namespace {

constexpr std::array<std::uint8_t, 2> gzip_magic{0x1f, 0x8b};

bool is_gzip(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= gzip_magic.size() &&
           std::equal(gzip_magic.begin(), gzip_magic.end(), bytes.begin());
}

/// zlib's sizes are unsigned int; larger sizes are passed in steps.
uInt step(std::size_t size) {
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

ByteStream::ByteStream(std::span<const std::uint8_t> bytes, std::string_view file)
    : rest_(bytes), file_(file) {
    if (!is_gzip(bytes)) return;
    constexpr int gzip_only = 16 + MAX_WBITS;  // accepts no zlib header
    auto state = std::make_unique<z_stream>();
    if (inflateInit2(state.get(), gzip_only) != Z_OK) throw std::bad_alloc();
    inflate_ = std::move(state);
}

ByteStream::~ByteStream() {
    if (inflate_) inflateEnd(inflate_.get());
}

bool ByteStream::starts_with(std::string_view expected) {
    if (expected.size() > max_peek)
        throw std::logic_error("ByteStream::starts_with: more than max_peek bytes");
    if (peeked_end_ - peeked_begin_ < expected.size()) {
        const auto unread =
            std::copy(peeked_.begin() + static_cast<std::ptrdiff_t>(peeked_begin_),
                      peeked_.begin() + static_cast<std::ptrdiff_t>(peeked_end_), peeked_.begin());
        peeked_begin_ = 0;
        peeked_end_ = static_cast<std::size_t>(unread - peeked_.begin());
        peeked_end_ += read_source(std::span(peeked_).subspan(peeked_end_));
    }
    const std::span<const std::uint8_t> ahead(peeked_.data() + peeked_begin_, peeked_end_ - peeked_begin_);
    return ahead.size() >= expected.size() &&
           std::memcmp(ahead.data(), expected.data(), expected.size()) == 0;
}

std::size_t ByteStream::read(std::span<std::uint8_t> out) {
    const std::size_t ahead = std::min(out.size(), peeked_end_ - peeked_begin_);
    std::copy_n(peeked_.begin() + static_cast<std::ptrdiff_t>(peeked_begin_), ahead, out.begin());
    peeked_begin_ += ahead;
    return ahead + read_source(out.subspan(ahead));
}

void ByteStream::read_exactly(std::span<std::uint8_t> out, std::string_view what) {
    const std::size_t has = read(out);
    if (has < out.size()) throw InputError(fmt::format("{}: the file ends within the {}", file_, what));
}

void ByteStream::expect_end(std::string_view what) {
    std::uint8_t byte = 0;
    if (read({&byte, 1}) != 0) {
        throw InputError(fmt::format("{}: bytes follow the {}; the file must end there", file_, what));
    }
}

std::size_t ByteStream::read_source(std::span<std::uint8_t> out) {
    if (!inflate_) return read_plain(out);
    std::size_t done = 0;
    while (done < out.size() && (!member_ended_ || next_member())) done += inflate_some(out.subspan(done));
    return done;
}

std::size_t ByteStream::read_plain(std::span<std::uint8_t> out) {
    const std::size_t size = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), size, out.begin());
    rest_ = rest_.subspan(size);
    return size;
}

std::size_t ByteStream::inflate_some(std::span<std::uint8_t> out) {
    z_stream& state = *inflate_;
    const uInt given = step(rest_.size());
    const uInt room = step(out.size());
    // zlib only reads the bytes at next_in; its C interface lacks the const without ZLIB_CONST.
    state.next_in = const_cast<Bytef*>(rest_.data());
    state.avail_in = given;
    state.next_out = out.data();
    state.avail_out = room;
    const int result = inflate(&state, Z_NO_FLUSH);
    rest_ = rest_.subspan(given - state.avail_in);
    const std::size_t made = room - state.avail_out;
    if (result == Z_STREAM_END) {
        member_ended_ = true;
    } else if (result == Z_BUF_ERROR || (result == Z_OK && made == 0 && rest_.empty())) {
        throw InputError(fmt::format("{}: gzip data ends early; the file is cut off", file_));
    } else if (result == Z_MEM_ERROR) {
        throw std::bad_alloc();
    } else if (result != Z_OK) {
        throw InputError(fmt::format("{}: gzip data is damaged ({})", file_,
                                     state.msg != nullptr ? state.msg : "unknown format"));
    }
    return made;
}

bool ByteStream::next_member() {
    if (rest_.empty()) return false;
    if (!is_gzip(rest_)) {
        throw InputError(
            fmt::format("{}: {} bytes follow the gzip data; the file must end there", file_, rest_.size()));
    }
    inflateReset(inflate_.get());
    member_ended_ = false;
    return true;
}

void ByteStream::fail_truncated(std::string_view what, std::uint64_t has, std::uint64_t needs) const {
    throw InputError(fmt::format("{}: the {} has {} bytes; its header says {}", file_, what, has, needs));
}

}  // namespace systole::input
