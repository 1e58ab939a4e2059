// The elements that a product streams, as they lie in vector memory.
#include "hw/product_setup/rows.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

using namespace systole;

TEST_CASE("Windows take every second pixel with a dilation of 2, and zeros outside the image",
          "[hw][product_setup]") {
    constexpr std::uint64_t lanes = 4;
    isa::PixelWindows windows{.height = 6,
                              .width = 7,
                              .channels = 4,
                              .image_rows = 42,
                              .kernel_height = 2,
                              .kernel_width = 3,
                              .stride_y = 1,
                              .stride_x = 2,
                              .pad_top = 1,
                              .pad_left = 1,
                              .output_height = 6,
                              .output_width = 3};
    // A pixel's numbers are small whole ones, which bfloat16 has: 4 * pixel + channel + 1.
    std::vector<std::uint32_t> memory;
    for (std::uint32_t i = 0; i < windows.image_rows * lanes; ++i) {
        memory.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(i + 1)));
    }
    for (const std::uint64_t dilation_x : {std::uint64_t{1}, std::uint64_t{2}}) {
        for (const std::uint64_t dilation_y : {std::uint64_t{1}, std::uint64_t{2}}) {
            windows.dilation_x = dilation_x;
            windows.dilation_y = dilation_y;
            const hw::ProductRows rows{.memory = memory.data(),
                                       .lanes = lanes,
                                       .panels = {.first_row = 0, .rows = 42, .panels = 1, .panel_rows = 42},
                                       .windows = windows,
                                       .first = 0,
                                       .rows = windows.output_height * windows.output_width,
                                       .depth = windows.elements()};
            std::vector<float> streamed(rows.rows * rows.depth);
            rows.write(streamed.data());
            std::vector<float> expected;
            for (std::int64_t y = 0; y < 6; ++y) {
                for (std::int64_t x = 0; x < 3; ++x) {
                    for (std::int64_t tap = 0; tap < 2 * 3; ++tap) {
                        const std::int64_t line = y - 1 + tap / 3 * static_cast<std::int64_t>(dilation_y);
                        const std::int64_t column =
                            2 * x - 1 + tap % 3 * static_cast<std::int64_t>(dilation_x);
                        const bool is_inside = line >= 0 && line < 6 && column >= 0 && column < 7;
                        for (std::int64_t channel = 0; channel < 4; ++channel) {
                            const std::int64_t number = (line * 7 + column) * 4 + channel + 1;
                            expected.push_back(is_inside ? static_cast<float>(number) : 0.0F);
                        }
                    }
                }
            }
            CHECK(streamed == expected);
        }
    }
}
