#include "hw/math/interpolated_table.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <stdexcept>

static_assert(std::endian::native == std::endian::little, "elements are moved as they lie in memory");

namespace systole::math {

void lookup(std::span<const std::uint8_t> in, std::span<std::uint8_t> out, const InterpolatedTable& table) {
    if (in.size() != out.size()) {
        throw std::logic_error(
            fmt::format("lookup: {} bytes of operands, {} of results", in.size(), out.size()));
    }
    constexpr std::size_t element_bytes = sizeof(std::int16_t);
    for (std::size_t i = 0; i + element_bytes <= in.size(); i += element_bytes) {
        std::int16_t element = 0;
        std::memcpy(&element, in.data() + i, element_bytes);
        element = interpolate(table, element);
        std::memcpy(out.data() + i, &element, element_bytes);
    }
}

InterpolatedTable read_interpolated_table(std::span<const std::uint8_t> bytes) {
    InterpolatedTable table{};
    if (bytes.size() < sizeof(table)) {
        throw std::logic_error(
            fmt::format("an interpolated table takes {} bytes; there are {}", sizeof(table), bytes.size()));
    }
    std::memcpy(table.data(), bytes.data(), sizeof(table));
    return table;
}

}  // namespace systole::math
