#include "compiler/graph/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/model_error.h"

namespace systole::graph {
namespace {

/// One direction of a window.
struct Axis {
    const char* name;
    std::uint32_t input, kernel, stride, pad_before, pad_after;
};

std::uint32_t count(const Axis& axis) {
    if (axis.kernel == 0)
        throw ModelError(fmt::format("the {} of its kernel is 0; it must be at least 1", axis.name));
    if (axis.stride == 0)
        throw ModelError(fmt::format("the {} of its stride is 0; it must be at least 1", axis.name));
    const std::uint64_t padded = std::uint64_t{axis.input} + axis.pad_before + axis.pad_after;
    if (axis.kernel > padded) {
        throw ModelError(
            fmt::format("the {} of its kernel is {}; the padded input's is {} and must not be smaller",
                        axis.name, axis.kernel, padded));
    }
    const std::uint64_t windows = (padded - axis.kernel) / axis.stride + 1;
    if (windows > std::numeric_limits<std::uint32_t>::max()) {
        throw ModelError(fmt::format("the {} of its result is {}; that is too large", axis.name, windows));
    }
    return static_cast<std::uint32_t>(windows);
}

WindowSpan span(const Axis& axis, std::uint32_t window) {
    const std::int64_t origin = std::int64_t{window} * axis.stride - axis.pad_before;
    const std::int64_t kernel = axis.kernel;
    return {origin, static_cast<std::uint32_t>(std::clamp<std::int64_t>(-origin, 0, kernel)),
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(axis.input - origin, 0, kernel))};
}

Axis vertical(const Shape& input, const Window& window) {
    return {"height", input.height, window.kernel_height, window.stride_y, window.pad_top, window.pad_bottom};
}

Axis horizontal(const Shape& input, const Window& window) {
    return {"width", input.width, window.kernel_width, window.stride_x, window.pad_left, window.pad_right};
}

}  // namespace

Shape window_output(const Shape& input, const Window& window, std::uint32_t channels) {
    return {count(vertical(input, window)), count(horizontal(input, window)), channels};
}

WindowSpan vertical_span(const Shape& input, const Window& window, std::uint32_t output_row) {
    return span(vertical(input, window), output_row);
}

WindowSpan horizontal_span(const Shape& input, const Window& window, std::uint32_t output_column) {
    return span(horizontal(input, window), output_column);
}

}  // namespace systole::graph
