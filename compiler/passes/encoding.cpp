#include "compiler/passes/encoding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace systole::passes {

std::int32_t Encoding::stored(double real) const {
    const double lowest = isa::lowest(type);
    const double highest = isa::highest(type);
    return static_cast<std::int32_t>(std::clamp(std::round(real / scale) + zero_point, lowest, highest));
}

Encoding encoding_of(const Range& range, quantized::ElementType type) {
    // A tensor that is always 0 gets some scale; so does one below what float tells apart.
    constexpr double smallest_width = 1e-30;
    const double width = double{range.maximum} - double{range.minimum};
    const double highest = isa::highest(type);
    if (width < smallest_width) return {1.0 / highest, 0, type};
    if (isa::is_wide(type)) {
        return {std::max(std::abs(double{range.minimum}), double{range.maximum}) / highest, 0, type};
    }
    const double scale = width / highest;
    return {scale, Encoding{scale, 0, type}.stored(-double{range.minimum}), type};
}

quantized::ByteTable tabulate(const std::function<float(float)>& function, const Encoding& from,
                              const Encoding& to) {
    quantized::ByteTable table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        const float value = function(static_cast<float>(from.real(static_cast<std::int32_t>(byte))));
        table[byte] = static_cast<std::uint8_t>(to.stored(value));
    }
    return table;
}

quantized::WideTable tabulate_wide(const std::function<float(float)>& function, const Encoding& from,
                                   const Encoding& to) {
    constexpr std::int32_t step = 128;
    quantized::WideTable table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::int32_t stored = static_cast<std::int32_t>(i) * step + isa::lowest(from.type);
        const float value = function(static_cast<float>(from.real(stored)));
        table[i] = static_cast<std::int16_t>(to.stored(value));
    }
    return table;
}

quantized::Table make_table(const std::function<float(float)>& function, const Encoding& from,
                            const Encoding& to) {
    if (isa::is_wide(from.type) != isa::is_wide(to.type)) {
        throw std::logic_error("a table is between two encodings of one width");
    }
    if (isa::is_wide(to.type)) return tabulate_wide(function, from, to);
    return tabulate(function, from, to);
}

}  // namespace systole::passes
