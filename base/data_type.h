#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

namespace systole {

/// A number format: how an element of a tensor, a weight or a sum is stored. Signed integers are two's
/// complement; everything is little endian. The enumerators' values are codes in program files (docs/isa.md):
/// they must not change.
enum class DataType : std::uint8_t {
    Uint8,
    Int8,
    Int16,
    Uint16,
    Int32,
    Bfloat16,  ///< the upper half of a float32
    Float32,
    Uint32,
    Float16,
    Bool,  ///< a byte, 0 or 1
};

/// The properties of a number format.
struct DataTypeTraits {
    std::string_view name;  ///< in files, assembly and messages
    std::uint8_t bytes = 0;
    bool is_signed = false;
    bool is_integer = false;  ///< whole numbers that an int32 holds
};

inline constexpr std::size_t data_type_count = static_cast<std::size_t>(DataType::Bool) + 1;

/// In the order of the enumeration.
inline constexpr std::array<DataTypeTraits, data_type_count> data_type_traits{{
    {"uint8", 1, false, true},
    {"int8", 1, true, true},
    {"int16", 2, true, true},
    {"uint16", 2, false, true},
    {"int32", 4, true, true},
    {"bfloat16", 2, true, false},
    {"float32", 4, true, false},
    {"uint32", 4, false, false},
    {"float16", 2, true, false},
    {"bool", 1, false, false},
}};

/// In the order of the enumeration.
inline constexpr std::array<std::string_view, data_type_count> data_type_names = [] {
    std::array<std::string_view, data_type_count> names;
    for (std::size_t i = 0; i < data_type_count; ++i) names[i] = data_type_traits[i].name;
    return names;
}();

/// The formats that units compute in. The other formats occur only in files.
inline constexpr std::span<const std::string_view> computed_type_names =
    std::span(data_type_names).first(static_cast<std::size_t>(DataType::Float32) + 1);

/// The names of the formats in the order of their values; every enumeration with names has this function.
constexpr const auto& names_of(DataType) {
    return data_type_names;
}

constexpr const DataTypeTraits& traits_of(DataType type) {
    return data_type_traits[static_cast<std::size_t>(type)];
}

constexpr std::uint32_t bytes_of(DataType type) {
    return traits_of(type).bytes;
}

constexpr bool is_signed(DataType type) {
    return traits_of(type).is_signed;
}

constexpr bool is_integer(DataType type) {
    return traits_of(type).is_integer;
}

/// Whether the numbers of a format are floats; those of the others are whole.
constexpr bool is_float(DataType type) {
    return type == DataType::Float32 || type == DataType::Bfloat16 || type == DataType::Float16;
}

/// "uint8", "int8", ...
constexpr std::string_view name_of(DataType type) {
    return traits_of(type).name;
}

/// The number format of that name, if there is one.
constexpr std::optional<DataType> find_data_type(std::string_view name) {
    for (std::size_t i = 0; i < data_type_count; ++i) {
        if (data_type_traits[i].name == name) return static_cast<DataType>(i);
    }
    return std::nullopt;
}

/// The smallest and the largest number of an integer format. Throws std::logic_error for the others.
constexpr std::int32_t lowest_of(DataType type) {
    if (!is_integer(type)) throw std::logic_error("only integers have a lowest number");
    if (!is_signed(type)) return 0;
    return std::numeric_limits<std::int32_t>::min() >> (32 - 8 * bytes_of(type));
}

constexpr std::int32_t highest_of(DataType type) {
    if (!is_integer(type)) throw std::logic_error("only integers have a highest number");
    const std::uint32_t bits = 8 * bytes_of(type) - (is_signed(type) ? 1 : 0);
    return static_cast<std::int32_t>((std::uint64_t{1} << bits) - 1);
}

}  // namespace systole
