#include "compiler/operators/resize/coordinates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace systole::operators {
namespace {

std::size_t clamped_element(std::int64_t element, std::size_t extent) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(element, 0, static_cast<std::int64_t>(extent) - 1));
}

/// The place in the input of an element of the result, in float32 as the runtimes compute it: TFLite
/// multiplies by the quotient of the extents, ONNX divides by the scale.
float coordinate(const AxisResize& axis, std::size_t element) {
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
        if (axis.output == 1) return 0.0F;
        // ONNX counts with the fraction of an element that a scale leaves over.
        constexpr float rounding = 1e-3F;
        const float scaled_extent = input * axis.scale;
        if (scaled_extent - output < rounding) return x * ((input - 1.0F) / (output - 1.0F));
        return x * (input - 1.0F) / (scaled_extent - 1.0F);
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
    if (axis.nearest == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(place + half));
    throw std::logic_error("unknown rule for the nearest element: " + axis.nearest);
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
        taps.push_back({{clamped_element(nearest_element(axis, coordinate(axis, i)), axis.input), 1.0F}});
    }
    return taps;
}

std::vector<std::vector<Tap>> linear_taps(const AxisResize& axis) {
    std::vector<std::vector<Tap>> taps;
    for (std::size_t i = 0; i < axis.output; ++i) {
        const float place = coordinate(axis, i);
        const float below = std::floor(place);
        const float fraction = place - below;
        const auto first = static_cast<std::int64_t>(below);
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
        const float place = coordinate(axis, i);
        const float below = std::floor(place);
        const std::array<float, 4> weights = cubic_weights(place - below, axis.cubic);
        std::vector<Tap> element;
        float sum = 0.0F;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const std::int64_t source = static_cast<std::int64_t>(below) - 1 + static_cast<std::int64_t>(k);
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
