#include "compiler/target/tpu_v1/network/pixel_block.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <set>

namespace systole::tpu_v1 {

TEST_CASE("The window of blocks covers the windows of a block's pixels, and nothing more",
          "[compiler][mapping]") {
    std::mt19937 random(1);
    const auto number = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % most) + 1; };
    for (int i = 0; i < 200; ++i) {
        INFO("case " << i << " of seed 1");
        const ir::Window window{.kernel_height = number(3),
                                .kernel_width = number(3),
                                .stride_y = number(3),
                                .stride_x = number(3),
                                .dilation_y = number(3),
                                .dilation_x = number(3)};
        const PixelBlock block{.width = number(3), .height = number(3)};
        // The offsets of all elements of all pixels, each as it is defined.
        std::set<std::uint32_t> rows;
        std::set<std::uint32_t> columns;
        for (std::uint32_t pixel = 0; pixel < block.height; ++pixel) {
            for (std::uint32_t k = 0; k < window.kernel_height; ++k) {
                rows.insert(pixel * window.stride_y + k * window.dilation_y);
            }
        }
        for (std::uint32_t pixel = 0; pixel < block.width; ++pixel) {
            for (std::uint32_t k = 0; k < window.kernel_width; ++k) {
                columns.insert(pixel * window.stride_x + k * window.dilation_x);
            }
        }
        const ir::Window whole = window_of_blocks(window, block);
        CHECK(whole.kernel_height == *rows.rbegin() + 1);
        CHECK(whole.kernel_width == *columns.rbegin() + 1);
        CHECK(whole.stride_y == window.stride_y * block.height);
        CHECK(whole.stride_x == window.stride_x * block.width);
        CHECK_FALSE(whole.is_dilated());
        const UsedElements used = used_elements(window, block);
        CHECK(std::ranges::equal(used.rows, rows));
        CHECK(std::ranges::equal(used.columns, columns));
        // Each pixel has each element of the kernel once, at its place.
        for (std::uint32_t y = 0; y < block.height; ++y) {
            for (std::uint32_t x = 0; x < block.width; ++x) {
                std::set<std::uint32_t> elements;
                for (std::uint32_t row = 0; row < whole.kernel_height; ++row) {
                    for (std::uint32_t column = 0; column < whole.kernel_width; ++column) {
                        const std::optional<std::uint32_t> element =
                            kernel_element(window, y, x, row, column);
                        if (!element) continue;
                        CHECK(elements.insert(*element).second);
                        CHECK(row ==
                              y * window.stride_y + *element / window.kernel_width * window.dilation_y);
                        CHECK(column ==
                              x * window.stride_x + *element % window.kernel_width * window.dilation_x);
                    }
                }
                CHECK(elements.size() == window.kernel_elements());
            }
        }
    }
}

}  // namespace systole::tpu_v1
