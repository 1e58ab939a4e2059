#pragma once

#include <cstdint>

#include "compiler/graph/tensor_shape.h"

namespace systole::graph {

/// How many windows lie over the input, from top to bottom and from left to right; `channels` is the
/// result's. Throws ModelError where a stride or a kernel is 0 or the kernel is larger than the padded
/// input.
Shape window_output(const Shape& input, const Window& window, std::uint32_t channels);

/// The part of a window that lies inside the input, in one direction: offsets [first, last) into the
/// kernel; kernel element k lies over input element `origin` + k.
struct WindowSpan {
    std::int64_t origin = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

WindowSpan vertical_span(const Shape& input, const Window& window, std::uint32_t output_row);
WindowSpan horizontal_span(const Shape& input, const Window& window, std::uint32_t output_column);

}  // namespace systole::graph
