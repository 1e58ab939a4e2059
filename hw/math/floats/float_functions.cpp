#include "hw/math/floats/float_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "hw/math/floats/circle_functions.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/power_functions.h"
#include "hw/math/target_clones.h"

// All functions have no branches, so that the compiler makes vector loops of them. Operations are those that
// IEEE 754 rounds correctly (+, -, *, /, square root); the library is compiled with -ffp-contract=off, so no
// two of them become one.
namespace systole::math {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// x = exponent * ln 2 + rest, |rest| at most 0.35; x within ±1000.
struct Reduced {
    double power;  ///< 2^exponent
    double rest;
};

SYSTOLE_ALWAYS_INLINE Reduced reduced(double x) {
    // Adding this number leaves the nearest integer in the low bits of the sum: no conversion to an integer,
    // for which some processors have no vectors.
    constexpr double to_integer = 0x1.8p52;
    constexpr double log2_of_e = 1.4426950408889634;
    // ln 2 in two parts: the first has 32 bits, so that its product with an exponent is exact.
    constexpr double ln2_high = 0x1.62e42feep-1;
    constexpr double ln2_low = 0x1.a39ef35793c76p-33;
    const double shifted = x * log2_of_e + to_integer;
    const double exponent = shifted - to_integer;
    return {.power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52),
            .rest = (x - exponent * ln2_high) - exponent * ln2_low};
}

SYSTOLE_ALWAYS_INLINE double exp_of(double x) {
    // Beyond this, float32 knows infinity and zero alone.
    constexpr double limit = 200.0;
    const Reduced r = reduced(limited(x, limit));
    return (1.0 + r.rest * expm1_over(r.rest)) * r.power;
}

SYSTOLE_ALWAYS_INLINE double expm1_of(double x) {
    constexpr double series = 0.5;
    const double near = limited(x, series);
    const double by_series = near * expm1_over(near);
    const double by_exp = exp_of(x) - 1.0;
    return std::abs(x) <= series ? by_series : by_exp;
}

/// 2 atanh(s) = ln((1 + s) / (1 - s)) for |s| at most 0.172.
SYSTOLE_ALWAYS_INLINE double log_series(double s) {
    return 2.0 * s * (atanh_rest(s) + 1.0);
}

/// ln x of a normal, finite float64 above 0.
SYSTOLE_ALWAYS_INLINE double log_of_positive(double x) {
    constexpr double ln2 = 0.6931471805599453;
    const Scaled scaled = scaled_of(x);
    const double m = scaled.number;
    return scaled.exponent * ln2 + log_series((m - 1.0) / (m + 1.0));
}

/// What ln is of zero, of negative numbers, of infinity and NaN; else `value`.
SYSTOLE_ALWAYS_INLINE double with_limits_of_log(double x, double value) {
    const double finite = x < infinity ? value : x;  // infinity and NaN stay
    const double positive = x > 0.0 ? finite : std::numeric_limits<double>::quiet_NaN();
    const double all = x == 0.0 ? -infinity : positive;
    return all;
}

SYSTOLE_ALWAYS_INLINE double log_of(double x) {
    const bool usual = x > 0.0 && x < infinity;
    return with_limits_of_log(x, log_of_positive(usual ? x : 1.0));
}

SYSTOLE_ALWAYS_INLINE double log1p_of(double x) {
    // Near 1 the series has the whole of x, of which 1 + x would lose the last bits.
    const double near = x > -0.25 && x < 0.375 ? x : 0.0;
    const double by_series = log_series(near / (2.0 + near));
    const double by_log = log_of(1.0 + x);
    return x > -0.25 && x < 0.375 ? by_series : by_log;
}

SYSTOLE_ALWAYS_INLINE double tanh_of(double x) {
    const double t = expm1_of(2.0 * std::abs(x));
    return std::copysign(t / (t + 2.0), x);
}

SYSTOLE_ALWAYS_INLINE double logistic_of(double x) {
    return 1.0 / (1.0 + exp_of(-x));
}

/// 2^n / (1 * 3 * 5 * ... * (2n + 1)) for n = 64, 63, ..., 0.
constexpr auto erf_terms = [] {
    std::array<double, 65> terms{};
    double term = 1.0;
    for (std::size_t n = 0; n < terms.size(); ++n) {
        if (n > 0) term *= 2.0 / static_cast<double>(2 * n + 1);
        terms[terms.size() - 1 - n] = term;
    }
    return terms;
}();

/// 2 / sqrt(pi) * e^(-x^2) * x * (the sum of 2^n x^2n / (1 * 3 * ... * (2n + 1))): all terms have one sign.
SYSTOLE_ALWAYS_INLINE double erf_of(double x) {
    constexpr double two_over_sqrt_pi = 1.1283791670955126;
    constexpr double limit = 4.0;  // beyond it the nearest float32 is 1
    const double near = limited(x, limit);
    const double square = near * near;
    double sum = 0.0;
#pragma GCC unroll 65
    for (const double term : erf_terms) sum = sum * square + term;
    const double value = two_over_sqrt_pi * near * exp_of(-square) * sum;
    return std::abs(x) >= limit ? std::copysign(1.0, x) : value;
}

template <WordOperation Function>
SYSTOLE_ALWAYS_INLINE double value_of(double x) {
    using enum WordOperation;
    if constexpr (Function == Exp) return exp_of(x);
    if constexpr (Function == Expm1) return expm1_of(x);
    if constexpr (Function == Log) return log_of(x);
    if constexpr (Function == Log1p) return log1p_of(x);
    if constexpr (Function == Tanh) return tanh_of(x);
    if constexpr (Function == Logistic) return logistic_of(x);
    if constexpr (Function == Erf) return erf_of(x);
    if constexpr (Function == Sqrt) return std::sqrt(x);
    if constexpr (Function == Rsqrt) return 1.0 / std::sqrt(x);
    if constexpr (Function == Sine) return sine_of(x);
    if constexpr (Function == Cosine) return cosine_of(x);
    if constexpr (Function == Tangent) return tangent_of(x);
    if constexpr (Function == CubeRoot) return cube_root_of(x);
}

/// The loop of one function.
template <WordOperation Function>
SYSTOLE_ALWAYS_INLINE bool apply_one(const float* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = settled(static_cast<float>(value_of<Function>(in[i])));
    return true;
}

/// False for other operations.
SYSTOLE_TARGET_CLONES bool apply_to(WordOperation function, const float* in, float* out, std::size_t count) {
    using enum WordOperation;
    switch (function) {
        case Exp:
            return apply_one<Exp>(in, out, count);
        case Expm1:
            return apply_one<Expm1>(in, out, count);
        case Log:
            return apply_one<Log>(in, out, count);
        case Log1p:
            return apply_one<Log1p>(in, out, count);
        case Tanh:
            return apply_one<Tanh>(in, out, count);
        case Logistic:
            return apply_one<Logistic>(in, out, count);
        case Erf:
            return apply_one<Erf>(in, out, count);
        case Sqrt:
            return apply_one<Sqrt>(in, out, count);
        case Rsqrt:
            return apply_one<Rsqrt>(in, out, count);
        case Sine:
            return apply_one<Sine>(in, out, count);
        case Cosine:
            return apply_one<Cosine>(in, out, count);
        case Tangent:
            return apply_one<Tangent>(in, out, count);
        case CubeRoot:
            return apply_one<CubeRoot>(in, out, count);
        default:
            return false;
    }
}

}  // namespace

void apply_function(WordOperation function, std::span<const float> in, std::span<float> out) {
    if (in.size() != out.size()) throw std::logic_error("a function's input and output differ in size");
    if (!apply_to(function, in.data(), out.data(), in.size()))
        throw std::logic_error("not a function of one number");
}

float evaluate(WordOperation function, float x) {
    float y = 0.0F;
    apply_function(function, {&x, 1}, {&y, 1});
    return y;
}

}  // namespace systole::math
