#include "compiler/operators/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

namespace systole::operators {

std::int32_t Encoding::stored(double real) const {
    if (std::isnan(real)) return zero_point;  // the logarithm of a negative number, in a table
    const double lowest = lowest_of(type);
    const double highest = highest_of(type);
    return static_cast<std::int32_t>(std::clamp(std::round(real / scale) + zero_point, lowest, highest));
}

std::vector<float> real_numbers(std::span<const std::int32_t> stored, const ir::Value& value) {
    const Encoding encoding = encoding_of(value);
    std::vector<float> real(stored.size());
    std::ranges::transform(stored, real.begin(),
                           [&](std::int32_t number) { return static_cast<float>(encoding.real(number)); });
    return real;
}

void store_numbers(std::span<const float> real, const ir::Value& value, std::span<std::int32_t> stored) {
    const Encoding encoding = encoding_of(value);
    std::ranges::transform(real, stored.begin(), [&](float number) { return encoding.stored(number); });
}

Encoding encoding_of(const ir::Value& value) {
    // Files may give nodes any numbers; few operators know others than those of one scale.
    const std::size_t scales = value.quantization ? value.quantization->scales.size() : 0;
    if (scales != 1) {
        throw ModelError(fmt::format("{} has {}; here it must have one for the whole tensor",
                                     ir::quoted(value.name), ir::counted(scales, "scale")));
    }
    return {value.quantization->scales.front(), value.quantization->zero_points.front(), value.type};
}

Encoding encoding_of(const ir::Range& range, DataType type) {
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

mapping::ByteTable tabulate(const std::function<float(float)>& function, const Encoding& from,
                            const Encoding& to) {
    mapping::ByteTable table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        const float value = function(static_cast<float>(from.real(static_cast<std::int32_t>(byte))));
        table[byte] = static_cast<std::uint8_t>(to.stored(value));
    }
    return table;
}

mapping::WideTable tabulate_wide(const std::function<float(float)>& function, const Encoding& from,
                                 const Encoding& to) {
    constexpr std::int32_t step = 128;
    mapping::WideTable table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::int32_t stored = static_cast<std::int32_t>(i) * step + lowest_of(from.type);
        const float value = function(static_cast<float>(from.real(stored)));
        table[i] = static_cast<std::int16_t>(to.stored(value));
    }
    return table;
}

mapping::Table make_table(const std::function<float(float)>& function, const Encoding& from,
                          const Encoding& to) {
    if (bytes_of(from.type) != bytes_of(to.type)) {
        throw std::logic_error("a table is between two encodings of one width");
    }
    if (bytes_of(to.type) == 2) return tabulate_wide(function, from, to);
    return tabulate(function, from, to);
}

}  // namespace systole::operators
