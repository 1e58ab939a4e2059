#include "sim/run/record/cbor.h"

#include <bit>
#include <cmath>
#include <limits>

#include "sim/run/record/fields.h"

namespace systole::run::cbor {
namespace {

// The last five bits of an item's first byte: the argument itself if below 24, else the number of its bytes.
constexpr std::uint8_t one_byte = 24;
constexpr std::uint8_t two_bytes = 25;
constexpr std::uint8_t four_bytes = 26;
constexpr std::uint8_t eight_bytes = 27;

constexpr std::uint8_t simple_false = 20;
constexpr std::uint8_t simple_true = 21;
constexpr std::uint8_t simple_null = 22;

// The only 16-bit numbers that are written: not-a-number and the infinities.
constexpr std::uint16_t half_infinity = 0x7c00;
constexpr std::uint16_t half_minus_infinity = 0xfc00;
constexpr std::uint16_t half_nan = 0x7e00;

constexpr int most_depth = 100;

void write_big_endian(std::uint64_t value, std::size_t count, std::string& to) {
    for (std::size_t i = count; i-- > 0;) to += static_cast<char>((value >> (8 * i)) & 255U);
}

void write_first_byte(Major major, std::uint8_t info, std::string& to) {
    to += static_cast<char>(static_cast<unsigned>(major) << 5U | info);
}

void write_simple(std::uint8_t info, std::string& to) {
    write_first_byte(Major::Simple, info, to);
}

}  // namespace

void write_head(Major major, std::uint64_t argument, std::string& to) {
    const auto write = [&](std::uint8_t info, std::size_t count) {
        write_first_byte(major, info, to);
        write_big_endian(argument, count, to);
    };
    if (argument < one_byte) return write(static_cast<std::uint8_t>(argument), 0);
    if (argument <= std::numeric_limits<std::uint8_t>::max()) return write(one_byte, 1);
    if (argument <= std::numeric_limits<std::uint16_t>::max()) return write(two_bytes, 2);
    if (argument <= std::numeric_limits<std::uint32_t>::max()) return write(four_bytes, 4);
    write(eight_bytes, 8);
}

void write_text(std::string_view text, std::string& to) {
    write_head(Major::Text, text.size(), to);
    to += text;
}

void write_integer(std::int64_t value, std::string& to) {
    if (value >= 0) return write_unsigned(static_cast<std::uint64_t>(value), to);
    write_head(Major::Negative, ~static_cast<std::uint64_t>(value), to);
}

void write_unsigned(std::uint64_t value, std::string& to) {
    write_head(Major::Unsigned, value, to);
}

void write_bool(bool value, std::string& to) {
    write_simple(value ? simple_true : simple_false, to);
}

void write_null(std::string& to) {
    write_simple(simple_null, to);
}

void write_real(double value, std::string& to) {
    const auto write_half = [&](std::uint16_t bits) {
        write_simple(two_bytes, to);
        write_big_endian(bits, 2, to);
    };
    if (std::isnan(value)) return write_half(half_nan);
    if (std::isinf(value)) return write_half(value > 0 ? half_infinity : half_minus_infinity);
    constexpr double largest = std::numeric_limits<float>::max();
    if (std::abs(value) <= largest && static_cast<double>(static_cast<float>(value)) == value) {
        write_simple(four_bytes, to);
        return write_big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4, to);
    }
    write_simple(eight_bytes, to);
    write_big_endian(std::bit_cast<std::uint64_t>(value), 8, to);
}

std::string_view Reader::read_text() {
    const std::uint64_t size = read_head(Major::Text, "text");
    if (size > bytes_.size() - at_) throw RecordError("it ends within a text");
    const std::string_view text = bytes_.substr(at_, size);
    at_ += size;
    return text;
}

std::int64_t Reader::read_integer() {
    const Head head = read_head();
    if (head.major != Major::Unsigned && head.major != Major::Negative) {
        throw RecordError("it is not a whole number");
    }
    if (head.argument > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        throw RecordError("it is out of range");
    }
    return static_cast<std::int64_t>(head.major == Major::Unsigned ? head.argument : ~head.argument);
}

std::uint64_t Reader::read_unsigned() {
    return read_head(Major::Unsigned, "whole number from 0 on");
}

bool Reader::read_bool() {
    const Head head = read_head();
    if (head.major != Major::Simple || (head.info != simple_false && head.info != simple_true)) {
        throw RecordError("it is neither true nor false");
    }
    return head.info == simple_true;
}

double Reader::read_real() {
    const Head head = read_head();
    if (head.major == Major::Simple) {
        if (head.info == eight_bytes) return std::bit_cast<double>(head.argument);
        if (head.info == four_bytes) return std::bit_cast<float>(static_cast<std::uint32_t>(head.argument));
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (head.info == two_bytes && head.argument == half_nan) return std::nan("");
        if (head.info == two_bytes && head.argument == half_infinity) return infinity;
        if (head.info == two_bytes && head.argument == half_minus_infinity) return -infinity;
    }
    throw RecordError("it is not a number of 32 or 64 bits");
}

std::size_t Reader::read_array() {
    return read_count(Major::Array, "list");
}

std::size_t Reader::read_map() {
    return read_count(Major::Map, "record");
}

bool Reader::read_null() {
    if (next() != (static_cast<unsigned>(Major::Simple) << 5U | simple_null)) return false;
    ++at_;
    return true;
}

std::string_view Reader::read_item() {
    const std::size_t begin = at_;
    skip(0);
    return bytes_.substr(begin, at_ - begin);
}

std::uint8_t Reader::next() const {
    if (is_at_end()) throw RecordError("it ends too early");
    return static_cast<std::uint8_t>(bytes_[at_]);
}

std::uint64_t Reader::take(std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        value = value << 8U | next();
        ++at_;
    }
    return value;
}

Reader::Head Reader::read_head() {
    const auto first = static_cast<std::uint8_t>(take(1));
    const auto info = static_cast<std::uint8_t>(first & 31U);
    Head head{.major = static_cast<Major>(first >> 5U), .info = info, .argument = info};
    if (info < one_byte) return head;
    if (info > eight_bytes) throw RecordError("a form of length that records do not have");
    head.argument = take(std::size_t{1} << (info - one_byte));
    return head;
}

std::uint64_t Reader::read_head(Major major, std::string_view meaning) {
    const Head head = read_head();
    if (head.major != major) throw RecordError("it is no " + std::string(meaning));
    return head.argument;
}

std::size_t Reader::read_count(Major major, std::string_view meaning) {
    const std::uint64_t count = read_head(major, meaning);
    if (count > bytes_.size() - at_) throw RecordError("it ends within a " + std::string(meaning));
    return count;
}

void Reader::skip(int depth) {
    if (depth > most_depth) throw RecordError("it is nested too deeply");
    const Head head = read_head();
    std::uint64_t items = 0;
    switch (head.major) {
        case Major::Unsigned:
        case Major::Negative:
        case Major::Simple:
            return;
        case Major::Bytes:
        case Major::Text:
            if (head.argument > bytes_.size() - at_) throw RecordError("it ends within a text");
            at_ += head.argument;
            return;
        case Major::Array:
            items = head.argument;
            break;
        case Major::Map:
            if (head.argument > bytes_.size()) throw RecordError("it ends within a record");
            items = 2 * head.argument;
            break;
        case Major::Tag:
            items = 1;
            break;
    }
    for (std::uint64_t i = 0; i < items; ++i) skip(depth + 1);
}

}  // namespace systole::run::cbor
