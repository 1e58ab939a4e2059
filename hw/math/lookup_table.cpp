#include "hw/math/lookup_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace systole::math {
namespace {

double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

double elu(double x, double alpha) {
    return x < 0.0 ? alpha * std::expm1(x) : x;
}

double selu(double x) {
    // Klambauer et al., "Self-Normalizing Neural Networks", 2017.
    constexpr double alpha = 1.6732632423543772;
    constexpr double scale = 1.0507009873554805;
    return scale * elu(x, alpha);
}

/// ln(1 + e^x), in a form that does not overflow for large x.
double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double gelu(double x) {
    return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

double gelu_tanh(double x) {
    // Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
    constexpr double cubic = 0.044715;
    const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + cubic * x * x * x);
    return 0.5 * x * (1.0 + std::tanh(inner));
}

void check_scale(double scale) {
    if (!std::isfinite(scale) || scale <= 0.0) {
        throw std::domain_error(fmt::format("scale is {}; it must be finite and above 0", scale));
    }
}

double stored_minimum(bool is_signed) {
    return is_signed ? std::numeric_limits<std::int8_t>::min() : std::numeric_limits<std::uint8_t>::min();
}

double stored_maximum(bool is_signed) {
    return is_signed ? std::numeric_limits<std::int8_t>::max() : std::numeric_limits<std::uint8_t>::max();
}

}  // namespace

double evaluate(const Function& function, double x) {
    switch (function.kind) {
        case FunctionKind::Linear:
            return function.alpha * x + function.beta;
        case FunctionKind::Relu:
            return std::max(x, 0.0);
        case FunctionKind::Relu6:
            return std::clamp(x, 0.0, 6.0);
        case FunctionKind::LeakyRelu:
            return x < 0.0 ? function.alpha * x : x;
        case FunctionKind::Elu:
            return elu(x, function.alpha);
        case FunctionKind::Selu:
            return selu(x);
        case FunctionKind::Sigmoid:
            return sigmoid(x);
        case FunctionKind::HardSigmoid:
            return std::clamp(function.alpha * x + function.beta, 0.0, 1.0);
        case FunctionKind::Tanh:
            return std::tanh(x);
        case FunctionKind::Exponential:
            return std::exp(x);
        case FunctionKind::Softplus:
            return softplus(x);
        case FunctionKind::Softsign:
            return x / (1.0 + std::abs(x));
        case FunctionKind::Swish:
            return x * sigmoid(x);
        case FunctionKind::HardSwish:
            return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
        case FunctionKind::Gelu:
            return gelu(x);
        case FunctionKind::GeluTanh:
            return gelu_tanh(x);
    }
    throw std::logic_error(
        fmt::format("evaluate: no function has number {}", static_cast<int>(function.kind)));
}

LookupTable make_table(const std::function<double(double)>& function, const ByteQuantization& in,
                       const ByteQuantization& out) {
    check_scale(in.scale);
    check_scale(out.scale);
    LookupTable table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        const int stored = in.is_signed ? static_cast<std::int8_t>(byte) : static_cast<std::uint8_t>(byte);
        const double x = in.scale * (stored - static_cast<double>(in.zero_point));
        const double y = function(x);
        if (std::isnan(y)) {
            throw std::domain_error(fmt::format("function of {} is {}; it must be a number", x, y));
        }
        const double result = std::clamp(std::round(y / out.scale) + out.zero_point,
                                         stored_minimum(out.is_signed), stored_maximum(out.is_signed));
        table[byte] = static_cast<std::uint8_t>(static_cast<int>(result));
    }
    return table;
}

void lookup(std::span<const std::uint8_t> in, std::span<std::uint8_t> out, const LookupTable& table) {
    if (in.size() != out.size()) {
        throw std::logic_error(fmt::format("lookup: {} operands, {} results", in.size(), out.size()));
    }
    std::transform(in.begin(), in.end(), out.begin(), [&table](std::uint8_t byte) { return table[byte]; });
}

}  // namespace systole::math
