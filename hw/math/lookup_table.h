#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

namespace systole::math {

/// Functions of one number that networks apply to their activations.
enum class FunctionKind : std::uint8_t {
    Linear,       ///< alpha * x + beta
    Relu,         ///< max(x, 0)
    Relu6,        ///< min(max(x, 0), 6)
    LeakyRelu,    ///< x < 0: alpha * x
    Elu,          ///< x < 0: alpha * (e^x - 1)
    Selu,         ///< Elu with the published self-normalizing alpha, times the published scale
    Sigmoid,      ///< 1 / (1 + e^-x)
    HardSigmoid,  ///< alpha * x + beta, between 0 and 1
    Tanh,
    Exponential,  ///< e^x
    Softplus,     ///< ln(1 + e^x)
    Softsign,     ///< x / (1 + |x|)
    Swish,        ///< x * Sigmoid(x), also called SiLU
    HardSwish,    ///< x * min(max(x + 3, 0), 6) / 6
    Gelu,         ///< x * the normal distribution function
    GeluTanh,     ///< its approximation with tanh
};

/// A function with the parameters of its kind; other parameters are not used.
struct Function {
    FunctionKind kind = FunctionKind::Linear;
    double alpha = 1.0;
    double beta = 0.0;
};

double evaluate(const Function& function, double x);

/// The quantization of bytes: real = scale * (stored - zero_point).
struct ByteQuantization {
    double scale = 1.0;
    std::int32_t zero_point = 0;
    bool is_signed = false;  ///< stored as two's complement
};

/// The output byte for each stored input byte.
using LookupTable = std::array<std::uint8_t, 256>;

/// The table of a function between two quantizations. Results are rounded to nearest, halves away from zero,
/// and saturated. Throws std::domain_error unless the scales are finite and positive, and if the function
/// returns NaN.
LookupTable make_table(const std::function<double(double)>& function, const ByteQuantization& in,
                       const ByteQuantization& out);

/// out[i] = table[in[i]]; `out` may be `in`. Throws std::logic_error if the sizes differ.
void lookup(std::span<const std::uint8_t> in, std::span<std::uint8_t> out, const LookupTable& table);

}  // namespace systole::math
