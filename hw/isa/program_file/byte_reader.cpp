#include "hw/isa/program_file/byte_reader.h"

#include <fmt/format.h>

#include <bit>

#include "hw/isa/program_error.h"

namespace systole::isa {

std::span<const std::uint8_t> ByteReader::bytes(std::uint64_t count, std::string_view what) {
    if (count > remaining()) fail(fmt::format("{} takes {} bytes; {} are left", what, count, remaining()));
    const auto taken = file_.subspan(position_, count);
    position_ += count;
    return taken;
}

std::uint64_t ByteReader::number(unsigned size, std::string_view what) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::uint8_t byte : bytes(size, what)) {
        value |= std::uint64_t{byte} << shift;
        shift += 8;
    }
    return value;
}

double ByteReader::real(std::string_view what) {
    return std::bit_cast<double>(number64(what));
}

std::string ByteReader::string(std::string_view what) {
    const auto taken = bytes(number32(what), what);
    return {taken.begin(), taken.end()};
}

std::size_t ByteReader::count(std::size_t smallest, std::string_view what) {
    const std::size_t begin = position_;
    const std::uint64_t value = number32(what);
    if (value > remaining() / smallest) {
        fail_at(begin, fmt::format("{} {} do not fit the {} bytes left", value, what, remaining()));
    }
    return value;
}

void ByteReader::finish(std::string_view what) const {
    if (remaining() != 0) fail(fmt::format("{} bytes too many in {}", remaining(), what));
}

void ByteReader::fail_at(std::size_t position, std::string_view rule) {
    throw ProgramError(fmt::format("byte {}: {}", position, rule));
}

}  // namespace systole::isa
