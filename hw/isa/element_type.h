#pragma once

#include <cstdint>
#include <limits>

namespace systole::isa {

/// How the elements of a tensor are stored: two's complement where signed, little endian.
enum class ElementType : std::uint8_t { Uint8, Int8, Int16 };

constexpr std::uint32_t bytes_of(ElementType type) {
    return type == ElementType::Int16 ? 2 : 1;
}

constexpr bool is_wide(ElementType type) {
    return bytes_of(type) == 2;
}

constexpr bool is_signed(ElementType type) {
    return type != ElementType::Uint8;
}

/// The smallest number an element can be.
constexpr std::int32_t lowest(ElementType type) {
    if (type == ElementType::Int16) return std::numeric_limits<std::int16_t>::min();
    return is_signed(type) ? std::numeric_limits<std::int8_t>::min() : 0;
}

/// The largest number an element can be.
constexpr std::int32_t highest(ElementType type) {
    if (type == ElementType::Int16) return std::numeric_limits<std::int16_t>::max();
    return is_signed(type) ? std::numeric_limits<std::int8_t>::max()
                           : std::numeric_limits<std::uint8_t>::max();
}

/// "uint8", "int8", "int16".
constexpr const char* name_of(ElementType type) {
    if (type == ElementType::Int16) return "int16";
    return is_signed(type) ? "int8" : "uint8";
}

}  // namespace systole::isa
