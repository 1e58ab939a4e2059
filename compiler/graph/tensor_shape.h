#pragma once

#include <cstdint>

namespace systole::graph {

/// The shape of a feature map of one inference, in height, width, channel order. A vector is
/// 1 x 1 x channels.
struct Shape {
    std::uint32_t height = 1;
    std::uint32_t width = 1;
    std::uint32_t channels = 1;

    constexpr std::uint64_t elements() const { return std::uint64_t{height} * width * channels; }
    bool operator==(const Shape&) const = default;
};

/// How windows lie over a feature map. Padding is explicit and may differ from side to side.
struct Window {
    std::uint32_t kernel_height = 1;
    std::uint32_t kernel_width = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;
    std::uint32_t pad_bottom = 0;
    std::uint32_t pad_right = 0;

    bool operator==(const Window&) const = default;
};

}  // namespace systole::graph
