#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace systole::math {

/// Functions of one float32. Each has one implementation here, of additions, multiplications and divisions of
/// float64 in a fixed order, and none of a system's library: so bits are the same on every processor. A
/// result is the nearest float32 to a value whose relative error is below 2^-45 (tests compare with `long
/// double`), and settled.
enum class FloatFunction : std::uint8_t {
    Exp,
    Expm1,  ///< e^x - 1
    Log,
    Log1p,  ///< ln(1 + x)
    Tanh,
    Logistic,  ///< 1 / (1 + e^-x)
    Erf,
    Sqrt,
    Rsqrt,  ///< 1 / sqrt(x)
};

inline constexpr std::array<std::string_view, 9> float_function_names{
    "exp", "expm1", "log", "log1p", "tanh", "logistic", "erf", "sqrt", "rsqrt"};

constexpr const auto& names_of(FloatFunction) {
    return float_function_names;
}

/// out[i] = function(in[i]); `out` may be `in`. Operands must be settled. Throws std::logic_error if the
/// sizes differ.
void apply(FloatFunction function, std::span<const float> in, std::span<float> out);

/// The same of one number.
float evaluate(FloatFunction function, float x);

}  // namespace systole::math
