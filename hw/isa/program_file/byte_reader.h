#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace systole::isa {

/// Reads consecutive little-endian values, never past the end. Errors are ProgramErrors "byte N: ...", where
/// N counts from the file's first byte.
class ByteReader {
public:
    /// Reads bytes [begin, end) of `file`, which must outlive the reader.
    ByteReader(std::span<const std::uint8_t> file, std::size_t begin, std::size_t end)
        : file_(file.first(end)), position_(begin) {}

    std::size_t position() const { return position_; }
    std::size_t remaining() const { return file_.size() - position_; }

    /// `what` is for the message.
    std::span<const std::uint8_t> bytes(std::uint64_t count, std::string_view what);
    std::uint64_t number(unsigned size, std::string_view what);
    std::uint8_t number8(std::string_view what) { return static_cast<std::uint8_t>(number(1, what)); }
    std::uint32_t number32(std::string_view what) { return static_cast<std::uint32_t>(number(4, what)); }
    std::uint64_t number64(std::string_view what) { return number(8, what); }
    double real(std::string_view what);
    /// Length (4 bytes) and characters.
    std::string string(std::string_view what);
    /// A count (4 bytes) of items of at least `smallest` bytes each; throws if the rest is too short for
    /// them.
    std::size_t count(std::size_t smallest, std::string_view what);

    /// Throws if bytes are left.
    void finish(std::string_view what) const;

    [[noreturn]] void fail(std::string_view rule) const { fail_at(position_, rule); }
    [[noreturn]] static void fail_at(std::size_t position, std::string_view rule);

private:
    std::span<const std::uint8_t> file_;
    std::size_t position_;
};

}  // namespace systole::isa
