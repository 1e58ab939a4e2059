#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace systole {

/// How scaled integers become stored ones. docs/operators.md lists the rule of each operator.
enum class Rounding : std::uint8_t {
    Tflite,         ///< a fixed-point multiplier, and a shift that rounds a second time
    HalfToEven,     ///< the same number, rounded once, halves to the even number, as in ONNX
    FloatHalfEven,  ///< a float32 multiplier and product, halves to the even number, as in the Edge TPU
};

inline constexpr std::size_t rounding_count = static_cast<std::size_t>(Rounding::FloatHalfEven) + 1;

/// In the order of the enumeration.
inline constexpr std::array<std::string_view, rounding_count> rounding_names{"tflite", "half_to_even",
                                                                             "float_half_even"};

constexpr std::string_view name_of(Rounding rounding) {
    return rounding_names[static_cast<std::size_t>(rounding)];
}

/// The rounding of that name, if there is one.
constexpr std::optional<Rounding> find_rounding(std::string_view name) {
    for (std::size_t i = 0; i < rounding_count; ++i) {
        if (rounding_names[i] == name) return static_cast<Rounding>(i);
    }
    return std::nullopt;
}

}  // namespace systole
