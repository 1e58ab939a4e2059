#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/arithmetic.h"
#include "compiler/ir/graph.h"

namespace systole::ir {

/// The windows over a feature map. Padding is explicit and may differ between the four sides. Neighbouring
/// elements of a kernel lie `dilation` rows or columns apart.
struct Window {
    std::uint32_t kernel_height = 1;
    std::uint32_t kernel_width = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;
    std::uint32_t pad_bottom = 0;
    std::uint32_t pad_right = 0;
    std::uint32_t dilation_y = 1;
    std::uint32_t dilation_x = 1;

    std::uint64_t kernel_elements() const { return std::uint64_t{kernel_height} * kernel_width; }
    bool is_dilated() const { return dilation_y != 1 || dilation_x != 1; }
    bool operator==(const Window&) const = default;
};

/// The attributes `kernel` [height, width], `stride` [vertical, horizontal], `padding` [top, left, bottom,
/// right] and `dilation` [vertical, horizontal] of operators that move a window.
std::vector<AttributeDeclaration> window_attributes();
std::vector<NamedAttribute> attributes_of(const Window& window);
Window window_of(const Node& node);

/// The rows or columns that a kernel covers, from its first element to its last.
constexpr std::uint64_t covered_extent(std::uint32_t kernel, std::uint32_t dilation) {
    return kernel == 0 ? 0 : (std::uint64_t{kernel} - 1) * dilation + 1;
}

/// "kernel 3x3, stride 1x1, padding 1,1,1,1" (top, left, bottom, right), and ", dilation 2x2" if there is
/// one.
std::string to_text(const Window& window);

/// The output size: the number of windows over the input, from top to bottom and from left to right, and
/// `channels`. Throws ModelError if a stride, a kernel or a dilation is 0, or if the kernel covers more than
/// the padded input.
FeatureMap window_output(const FeatureMap& input, const Window& window, std::uint32_t channels);

/// The part of a window that lies inside the input, in one direction: offsets [first, last) into the
/// kernel.
struct WindowSpan {
    std::int64_t origin = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t step = 1;  ///< the dilation

    /// The input element under an element of the kernel from `first` to `last` - 1.
    std::size_t under(std::uint32_t kernel_element) const {
        return static_cast<std::size_t>(origin + std::int64_t{kernel_element} * step);
    }
};

WindowSpan vertical_span(const FeatureMap& input, const Window& window, std::uint32_t output_row);
WindowSpan horizontal_span(const FeatureMap& input, const Window& window, std::uint32_t output_column);

/// Elements added before and after an axis.
struct Padding {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
};

/// TensorFlow's "same" padding: the least with which ceil(input / stride) windows fit. If it is odd, `after`
/// gets one more. `stride` is at least 1.
constexpr Padding same_padding(std::uint32_t input, std::uint32_t kernel, std::uint32_t stride) {
    const std::uint64_t windows = divide_up(std::uint64_t{input}, std::uint64_t{stride});
    const std::uint64_t covered = windows == 0 ? 0 : (windows - 1) * stride + kernel;
    // Fits 32 bits: it is less than the kernel, as the last window begins inside the input.
    const auto total = static_cast<std::uint32_t>(covered > input ? covered - input : 0);
    return {total / 2, total - total / 2};
}

/// Windows of this kernel and stride with "same" padding.
Window same_window(const FeatureMap& input, const std::array<std::uint32_t, 2>& kernel,
                   const std::array<std::uint32_t, 2>& stride);

}  // namespace systole::ir
