#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Items of CBOR (RFC 8949), of which compact records consist. Each is written in the fewest bytes that hold
/// it exactly, so that equal values have equal bytes.
namespace systole::run::cbor {

/// The first three bits of an item.
enum class Major : std::uint8_t { Unsigned, Negative, Bytes, Text, Array, Map, Tag, Simple };

void write_head(Major major, std::uint64_t argument, std::string& to);
void write_text(std::string_view text, std::string& to);
void write_integer(std::int64_t value, std::string& to);
void write_unsigned(std::uint64_t value, std::string& to);
void write_bool(bool value, std::string& to);
void write_null(std::string& to);
void write_real(double value, std::string& to);

/// Reads items one after the other. Each function throws RecordError if the next item is of another kind, or
/// if the bytes end.
class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    std::string_view read_text();
    std::int64_t read_integer();
    std::uint64_t read_unsigned();
    bool read_bool();
    double read_real();
    /// The number of elements that follow; at most the number of bytes left, since each takes at least one.
    std::size_t read_array();
    /// The number of pairs of a text and an item that follow.
    std::size_t read_map();
    /// Skips null, if it is next.
    bool read_null();
    /// Skips an item with everything in it, and returns its bytes.
    std::string_view read_item();
    bool is_at_end() const { return at_ == bytes_.size(); }

private:
    struct Head {
        Major major;
        std::uint8_t info;  ///< the last five bits of its first byte
        std::uint64_t argument;
    };
    std::uint8_t next() const;
    std::uint64_t take(std::size_t count);
    Head read_head();
    std::uint64_t read_head(Major major, std::string_view meaning);
    std::size_t read_count(Major major, std::string_view meaning);
    void skip(int depth);

    std::string_view bytes_;
    std::size_t at_ = 0;
};

}  // namespace systole::run::cbor
