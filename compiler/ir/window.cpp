#include "compiler/ir/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"

namespace systole::ir {
namespace {

/// One direction of a window.
struct Axis {
    const char* name;
    std::uint32_t input, kernel, stride, pad_before, pad_after, dilation;
};

std::uint32_t count(const Axis& axis) {
    if (axis.kernel == 0)
        throw ModelError(fmt::format("the {} of its kernel is 0; it must be at least 1", axis.name));
    if (axis.stride == 0)
        throw ModelError(fmt::format("the {} of its stride is 0; it must be at least 1", axis.name));
    if (axis.dilation == 0)
        throw ModelError(fmt::format("the {} of its dilation is 0; it must be at least 1", axis.name));
    const std::uint64_t padded = std::uint64_t{axis.input} + axis.pad_before + axis.pad_after;
    const std::uint64_t covered = covered_extent(axis.kernel, axis.dilation);
    if (covered > padded) {
        throw ModelError(
            fmt::format("the {} of its kernel is {}{}; the padded input's is {} and must not be smaller",
                        axis.name, covered, axis.dilation == 1 ? "" : " with its dilation", padded));
    }
    const std::uint64_t windows = (padded - covered) / axis.stride + 1;
    if (windows > std::numeric_limits<std::uint32_t>::max()) {
        throw ModelError(fmt::format("the {} of its result is {}; that is too large", axis.name, windows));
    }
    return static_cast<std::uint32_t>(windows);
}

WindowSpan span(const Axis& axis, std::uint32_t window) {
    const std::int64_t origin = std::int64_t{window} * axis.stride - axis.pad_before;
    const std::int64_t kernel = axis.kernel;
    // The number of kernel elements that lie before an element of the input.
    const auto before = [&](std::int64_t element) {
        const std::int64_t distance = element - origin;
        if (distance <= 0) return std::uint32_t{0};
        const std::int64_t elements = (distance + axis.dilation - 1) / axis.dilation;
        return static_cast<std::uint32_t>(std::min(elements, kernel));
    };
    return {origin, before(0), before(axis.input), axis.dilation};
}

Axis vertical(const FeatureMap& input, const Window& window) {
    return {"height",       input.height,      window.kernel_height, window.stride_y,
            window.pad_top, window.pad_bottom, window.dilation_y};
}

Axis horizontal(const FeatureMap& input, const Window& window) {
    return {"width",         input.width,      window.kernel_width, window.stride_x,
            window.pad_left, window.pad_right, window.dilation_x};
}

}  // namespace

std::vector<AttributeDeclaration> window_attributes() {
    constexpr double most = std::numeric_limits<std::uint32_t>::max();
    using Integers = std::vector<std::int64_t>;
    return {{.name = "kernel",
             .meaning = "height and width of the window",
             .absent = Integers{1, 1},
             .minimum = 1,
             .maximum = most,
             .size = 2},
            {.name = "stride",
             .meaning = "rows and columns from one window to the next",
             .absent = Integers{1, 1},
             .minimum = 1,
             .maximum = most,
             .size = 2},
            {.name = "padding",
             .meaning = "elements outside the image: top, left, bottom, right",
             .absent = Integers{0, 0, 0, 0},
             .minimum = 0,
             .maximum = most,
             .size = 4},
            {.name = "dilation",
             .meaning = "rows and columns from one element of the kernel to the next",
             .absent = Integers{1, 1},
             .minimum = 1,
             .maximum = most,
             .size = 2}};
}

std::vector<NamedAttribute> attributes_of(const Window& window) {
    using Integers = std::vector<std::int64_t>;
    return {{"kernel", Integers{window.kernel_height, window.kernel_width}},
            {"stride", Integers{window.stride_y, window.stride_x}},
            {"padding", Integers{window.pad_top, window.pad_left, window.pad_bottom, window.pad_right}},
            {"dilation", Integers{window.dilation_y, window.dilation_x}}};
}

Window window_of(const Node& node) {
    const auto at = [&](const char* attribute, std::size_t index) {
        return static_cast<std::uint32_t>(node.integers(attribute).at(index));
    };
    return {.kernel_height = at("kernel", 0),
            .kernel_width = at("kernel", 1),
            .stride_y = at("stride", 0),
            .stride_x = at("stride", 1),
            .pad_top = at("padding", 0),
            .pad_left = at("padding", 1),
            .pad_bottom = at("padding", 2),
            .pad_right = at("padding", 3),
            .dilation_y = at("dilation", 0),
            .dilation_x = at("dilation", 1)};
}

std::string to_text(const Window& window) {
    std::string text = fmt::format("kernel {}x{}, stride {}x{}, padding {},{},{},{}", window.kernel_height,
                                   window.kernel_width, window.stride_y, window.stride_x, window.pad_top,
                                   window.pad_left, window.pad_bottom, window.pad_right);
    if (window.is_dilated()) {
        text += fmt::format(", dilation {}x{}", window.dilation_y, window.dilation_x);
    }
    return text;
}

Window same_window(const FeatureMap& input, const std::array<std::uint32_t, 2>& kernel,
                   const std::array<std::uint32_t, 2>& stride) {
    const Padding vertical = same_padding(input.height, kernel[0], stride[0]);
    const Padding horizontal = same_padding(input.width, kernel[1], stride[1]);
    return {.kernel_height = kernel[0],
            .kernel_width = kernel[1],
            .stride_y = stride[0],
            .stride_x = stride[1],
            .pad_top = vertical.before,
            .pad_left = horizontal.before,
            .pad_bottom = vertical.after,
            .pad_right = horizontal.after};
}

FeatureMap window_output(const FeatureMap& input, const Window& window, std::uint32_t channels) {
    return {count(vertical(input, window)), count(horizontal(input, window)), channels};
}

WindowSpan vertical_span(const FeatureMap& input, const Window& window, std::uint32_t output_row) {
    return span(vertical(input, window), output_row);
}

WindowSpan horizontal_span(const FeatureMap& input, const Window& window, std::uint32_t output_column) {
    return span(horizontal(input, window), output_column);
}

}  // namespace systole::ir
