#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/data_type.h"

namespace systole {

/// How the host turns the real numbers of an input into stored integers. The enumerators' values are codes in
/// program files (docs/isa.md): they must not change.
enum class Conversion : std::uint8_t {
    Nearest,     ///< no file says how: x / scale in float64, halves away from zero
    HalfToEven,  ///< as ONNX's QuantizeLinear: x / scale in float32, halves to the even number
    HalfAway,    ///< as TFLite's QUANTIZE: x / scale in float32, halves away from zero
};

inline constexpr std::size_t conversion_count = static_cast<std::size_t>(Conversion::HalfAway) + 1;

/// In the order of the enumeration.
inline constexpr std::array<std::string_view, conversion_count> conversion_names{"nearest", "half_to_even",
                                                                                 "half_away"};

/// The names of the conversions in the order of their values.
constexpr const auto& names_of(Conversion) {
    return conversion_names;
}

constexpr std::string_view name_of(Conversion conversion) {
    return conversion_names[static_cast<std::size_t>(conversion)];
}

/// The conversion of that name, if there is one.
constexpr std::optional<Conversion> find_conversion(std::string_view name) {
    for (std::size_t i = 0; i < conversion_count; ++i) {
        if (conversion_names[i] == name) return static_cast<Conversion>(i);
    }
    return std::nullopt;
}

/// How a tensor stores real numbers: real = scale * (stored - zero_point).
struct Storage {
    double scale = 1.0;
    std::int32_t zero_point = 0;
    DataType type = DataType::Uint8;
    Conversion conversion = Conversion::Nearest;

    /// In double, because the difference of two integers of 32 bits does not fit in 32 bits.
    double real(std::int32_t stored) const {
        return scale * (static_cast<double>(stored) - static_cast<double>(zero_point));
    }

    bool operator==(const Storage&) const = default;
};

/// The stored number of a real one, clamped to the type; that of NaN is 0.
inline std::int32_t stored_number(double real, const Storage& storage) {
    // The quotients of float32 are those of float: a division in double would round twice.
    const double quotient = storage.conversion == Conversion::Nearest
                                ? real / storage.scale
                                : double{static_cast<float>(real) / static_cast<float>(storage.scale)};
    if (std::isnan(quotient)) return 0;
    // nearbyint rounds halves to even, as nothing here changes the rounding mode.
    const double rounded =
        storage.conversion == Conversion::HalfToEven ? std::nearbyint(quotient) : std::round(quotient);
    return static_cast<std::int32_t>(
        std::clamp<double>(rounded + storage.zero_point, lowest_of(storage.type), highest_of(storage.type)));
}

/// The real number of a stored one. A scale of float32, as files have it, multiplies in float32, as ONNX's
/// DequantizeLinear and TFLite's DEQUANTIZE do.
inline float real_number(std::int32_t stored, double scale, std::int32_t zero_point) {
    const std::int64_t difference = std::int64_t{stored} - zero_point;
    const auto single = static_cast<float>(scale);
    if (double{single} == scale) return static_cast<float>(difference) * single;
    return static_cast<float>(scale * static_cast<double>(difference));
}

}  // namespace systole
