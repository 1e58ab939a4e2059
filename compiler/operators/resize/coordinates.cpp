#include "compiler/operators/resize/coordinates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace systole::operators {
namespace {

std::size_t clamped_element(std::int64_t element, std::size_t extent) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(element, 0, static_cast<std::int64_t>(extent) - 1));
}

/// The place in the input of an element of the result, in float32 as the runtimes compute it: TFLite
/// multiplies by the quotient of the extents, ONNX Runtime divides by the scale.
float float_coordinate(const AxisResize& axis, std::size_t element) {
    const auto x = static_cast<float>(element);
    const auto input = static_cast<float>(axis.input);
    const auto output = static_cast<float>(axis.output);
    const auto scaled = [&](float place) {
        return axis.scale == 0.0F ? place * (input / output) : place / axis.scale;
    };
    constexpr float half = 0.5F;
    if (axis.coordinates == "half_pixel") return scaled(x + half) - half;
    if (axis.coordinates == "pytorch_half_pixel") return axis.output > 1 ? scaled(x + half) - half : 0.0F;
    if (axis.coordinates == "half_pixel_symmetric") {
        const float scale = axis.scale == 0.0F ? output / input : axis.scale;
        const float adjustment = output / (scale * input);
        const float center = input / 2.0F;
        return center * (1.0F - adjustment) + scaled(x + half) - half;
    }
    if (axis.coordinates == "tf_half_pixel_for_nn") return scaled(x + half);
    if (axis.coordinates == "asymmetric") return scaled(x);
    if (axis.coordinates == "align_corners") {
        return axis.output == 1 ? 0.0F : x * ((input - 1.0F) / (output - 1.0F));
    }
    throw std::logic_error("unknown coordinates: " + axis.coordinates);
}

std::int64_t nearest_element(const AxisResize& axis, float place) {
    constexpr float half = 0.5F;
    if (axis.nearest == "floor") return static_cast<std::int64_t>(std::floor(place));
    if (axis.nearest == "ceil") return static_cast<std::int64_t>(std::ceil(place));
    if (axis.nearest == "ceil_where_shrinking") {
        return static_cast<std::int64_t>(axis.scale < 1.0F ? std::ceil(place) : std::floor(place));
    }
    if (axis.nearest == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(place - half));
    // As TFLite rounds. floor(place + 0.5) takes 1 for the float below 0.5, as their sum is rounded to 1.
    if (axis.nearest == "round_prefer_ceil") return static_cast<std::int64_t>(std::round(place));
    throw std::logic_error("unknown rule for the nearest element: " + axis.nearest);
}

// NOLINTNEXTLINE(modernize-use-using): __extension__ goes with typedef alone.
__extension__ typedef __int128 Integer;  // products of extents, and of the parts of a scale, need 120 bits

/// A number as numerator / denominator; the denominator is above 0.
struct Fraction {
    Integer numerator = 0;
    Integer denominator = 1;
};

/// Output by input: what a float32 is exactly, or the quotient of the extents.
Fraction scale_of(const AxisResize& axis) {
    if (axis.scale == 0.0F) {
        return {static_cast<Integer>(axis.output), static_cast<Integer>(axis.input)};
    }
    constexpr int mantissa_bits = std::numeric_limits<float>::digits;
    int exponent = 0;
    const float mantissa = std::frexp(axis.scale, &exponent);
    exponent -= mantissa_bits;
    const auto numerator = static_cast<Integer>(std::ldexp(mantissa, mantissa_bits));
    if (exponent >= 0) return {numerator << exponent, 1};
    return {numerator, Integer{1} << -exponent};
}

/// The place in the input of an element of the result, by the formulas of ONNX's Resize.
Fraction exact_place(const AxisResize& axis, std::size_t element) {
    const auto [p, q] = scale_of(axis);
    const auto x = static_cast<Integer>(element);
    const auto input = static_cast<Integer>(axis.input);
    const auto output = static_cast<Integer>(axis.output);
    const Integer twice_center = 2 * x + 1;
    if (axis.coordinates == "half_pixel") return {twice_center * q - p, 2 * p};
    if (axis.coordinates == "pytorch_half_pixel") {
        return output > 1 ? Fraction{twice_center * q - p, 2 * p} : Fraction{};
    }
    if (axis.coordinates == "half_pixel_symmetric") {
        return {(twice_center - output) * q + (input - 1) * p, 2 * p};
    }
    if (axis.coordinates == "tf_half_pixel_for_nn") return {twice_center * q, 2 * p};
    if (axis.coordinates == "asymmetric") return {x * q, p};
    if (axis.coordinates == "align_corners") {
        // The result's extent counts here with the fraction of an element that a scale leaves over.
        const Integer steps = input * p - q;
        return steps > 0 ? Fraction{x * (input - 1) * q, steps} : Fraction{};
    }
    throw std::logic_error("unknown coordinates: " + axis.coordinates);
}

/// A place as an element of the input, which may be one before the first or behind the last, and what is
/// left over: from 0 to below 1.
struct Split {
    std::int64_t element = 0;
    Fraction rest;
};

Split split(const Fraction& place) {
    Integer below = place.numerator / place.denominator;
    Integer rest = place.numerator % place.denominator;
    if (rest < 0) {
        rest += place.denominator;
        --below;
    }
    return {static_cast<std::int64_t>(below), {rest, place.denominator}};
}

std::int64_t nearest_element(const AxisResize& axis, const Fraction& place) {
    const auto [below, rest] = split(place);
    const Integer twice = 2 * rest.numerator;
    const auto one_more_if = [below = below](bool is_behind) { return below + (is_behind ? 1 : 0); };
    if (axis.nearest == "floor") return below;
    if (axis.nearest == "ceil") return one_more_if(twice > 0);
    if (axis.nearest == "ceil_where_shrinking") return one_more_if(twice > 0 && axis.scale < 1.0F);
    if (axis.nearest == "round_prefer_floor") return one_more_if(twice > rest.denominator);
    if (axis.nearest == "round_prefer_ceil") return one_more_if(twice >= rest.denominator);
    throw std::logic_error("unknown rule for the nearest element: " + axis.nearest);
}

/// The element of the input at or before a place, and the distance to it.
struct Between {
    std::int64_t element = 0;
    float fraction = 0.0F;
};

Between between(const AxisResize& axis, std::size_t element) {
    if (axis.is_exact) {
        const auto [below, rest] = split(exact_place(axis, element));
        return {below, static_cast<float>(static_cast<double>(rest.numerator) /
                                          static_cast<double>(rest.denominator))};
    }
    const float place = float_coordinate(axis, element);
    const float below = std::floor(place);
    return {static_cast<std::int64_t>(below), place - below};
}

/// The weights of the four elements around a place that is `fraction` behind the second (Keys 1981).
std::array<float, 4> cubic_weights(float fraction, float a) {
    const auto inner = [&](float d) { return ((a + 2.0F) * d - (a + 3.0F)) * d * d + 1.0F; };
    const auto outer = [&](float d) { return ((a * d - 5.0F * a) * d + 8.0F * a) * d - 4.0F * a; };
    return {outer(fraction + 1.0F), inner(fraction), inner(1.0F - fraction), outer(2.0F - fraction)};
}

}  // namespace

const std::vector<std::string>& coordinate_modes() {
    static const std::vector<std::string> modes{"half_pixel",           "pytorch_half_pixel",
                                                "half_pixel_symmetric", "tf_half_pixel_for_nn",
                                                "asymmetric",           "align_corners"};
    return modes;
}

const std::vector<std::string>& nearest_modes() {
    static const std::vector<std::string> modes{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                                "ceil_where_shrinking"};
    return modes;
}

std::vector<std::vector<Tap>> nearest_taps(const AxisResize& axis) {
    std::vector<std::vector<Tap>> taps;
    for (std::size_t i = 0; i < axis.output; ++i) {
        const std::int64_t element = axis.is_exact ? nearest_element(axis, exact_place(axis, i))
                                                   : nearest_element(axis, float_coordinate(axis, i));
        taps.push_back({{clamped_element(element, axis.input), 1.0F}});
    }
    return taps;
}

std::vector<std::vector<Tap>> linear_taps(const AxisResize& axis) {
    std::vector<std::vector<Tap>> taps;
    for (std::size_t i = 0; i < axis.output; ++i) {
        const auto [first, fraction] = between(axis, i);
        const std::size_t lower = clamped_element(first, axis.input);
        const std::size_t upper = clamped_element(first + 1, axis.input);
        if (fraction == 0.0F || lower == upper) {
            taps.push_back({{lower, 1.0F}});
        } else {
            taps.push_back({{lower, 1.0F - fraction}, {upper, fraction}});
        }
    }
    return taps;
}

std::vector<std::vector<Tap>> cubic_taps(const AxisResize& axis) {
    std::vector<std::vector<Tap>> taps;
    for (std::size_t i = 0; i < axis.output; ++i) {
        const auto [second, fraction] = between(axis, i);
        const std::array<float, 4> weights = cubic_weights(fraction, axis.cubic);
        std::vector<Tap> element;
        float sum = 0.0F;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const std::int64_t source = second - 1 + static_cast<std::int64_t>(k);
            const bool is_outside = source < 0 || source >= static_cast<std::int64_t>(axis.input);
            const float weight = is_outside && axis.exclude_outside ? 0.0F : weights.at(k);
            element.push_back({clamped_element(source, axis.input), weight});
            sum += weight;
        }
        if (axis.exclude_outside) {
            for (Tap& tap : element) tap.weight /= sum;
        }
        taps.push_back(std::move(element));
    }
    return taps;
}

}  // namespace systole::operators
