#include "compiler/ir/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::ir {

std::int32_t Encoding::stored(double real) const {
    if (std::isnan(real)) return zero_point;  // the logarithm of a negative number, in a table
    const double lowest = lowest_of(type);
    const double highest = highest_of(type);
    return static_cast<std::int32_t>(std::clamp(std::round(real / scale) + zero_point, lowest, highest));
}

std::vector<float> real_numbers(std::span<const std::int32_t> stored, const Value& value) {
    const Encoding encoding = encoding_of(value);
    std::vector<float> real(stored.size());
    std::ranges::transform(stored, real.begin(),
                           [&](std::int32_t number) { return static_cast<float>(encoding.real(number)); });
    return real;
}

void store_numbers(std::span<const float> real, const Value& value, std::span<std::int32_t> stored) {
    const Encoding encoding = encoding_of(value);
    std::ranges::transform(real, stored.begin(), [&](float number) { return encoding.stored(number); });
}

Encoding encoding_of(const Value& value) {
    // Files may give nodes any numbers; few operators know others than those of one scale.
    const std::size_t scales = value.quantization ? value.quantization->scales.size() : 0;
    if (scales != 1) {
        throw ModelError(fmt::format("{} has {}; here it must have one for the whole tensor",
                                     in_quotes(value.name), counted(scales, "scale")));
    }
    return {value.quantization->scales.front(), value.quantization->zero_points.front(), value.type};
}

Encoding encoding_of(const Range& range, DataType type) {
    // A range of width 0, or one too small for float, gets an arbitrary scale.
    constexpr double smallest_width = 1e-30;
    const double width = double{range.maximum} - double{range.minimum};
    const double highest = highest_of(type);
    if (width < smallest_width) return {1.0 / highest, 0, type};
    if (bytes_of(type) == 2) {
        return {std::max(std::abs(double{range.minimum}), double{range.maximum}) / highest, 0, type};
    }
    const double scale = width / highest;
    return {scale, Encoding{scale, 0, type}.stored(-double{range.minimum}), type};
}

Range union_of(const Range& a, const Range& b) {
    const auto chosen = [](float first, float second, float of_both) {
        if (std::isnan(first)) return first;
        return std::isnan(second) ? second : of_both;
    };
    return {chosen(a.minimum, b.minimum, std::min(a.minimum, b.minimum)),
            chosen(a.maximum, b.maximum, std::max(a.maximum, b.maximum))};
}

std::optional<float> end_without_size(const Range& range) {
    if (!std::isfinite(range.minimum)) return range.minimum;
    if (!std::isfinite(range.maximum)) return range.maximum;
    return std::nullopt;
}

ScaleAxis scale_axis(const Value& value) {
    ScaleAxis scales;
    if (!value.quantization || !value.quantization->axis) return scales;
    const std::size_t axis = *value.quantization->axis;
    scales.count = value.shape[axis];
    for (std::size_t i = axis + 1; i < value.shape.rank(); ++i) scales.stride *= value.shape[i];
    return scales;
}

}  // namespace systole::ir
