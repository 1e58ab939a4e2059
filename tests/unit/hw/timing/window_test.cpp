#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "hw/timing/matrix_unit.h"
#include "tests/support/random_runs.h"

using namespace systole;
using isa::Register;

namespace {

isa::Registers window(std::uint32_t kernel, std::uint32_t channels, std::uint32_t tile = 0) {
    isa::Registers registers;
    registers.set(Register::WindowKernelHeight, kernel);
    registers.set(Register::WindowKernelWidth, kernel);
    registers.set(Register::WindowChannels, channels);
    registers.set(Register::WindowTile, tile);
    return registers;
}

}  // namespace

TEST_CASE("A window is cut into parts of the array's height", "[hw][timing]") {
    const isa::Registers registers = window(6, 12);  // 432 elements
    CHECK(timing::window_part(registers, 0, 256).begin == 0);
    CHECK(timing::window_part(registers, 0, 256).elements == 256);
    CHECK(timing::window_part(registers, 1, 256).begin == 256);
    CHECK(timing::window_part(registers, 1, 256).elements == 176);
    CHECK(timing::window_part(registers, 2, 256).elements == 0);
    CHECK(timing::window_part(window(6, 12, 1), 0, 256).begin == 256);
}

TEST_CASE("The fetches of a line are those of the worked example", "[hw][timing]") {
    const WindowGeometry geometry{.input_height = 28,
                                  .input_width = 28,
                                  .channels = 12,
                                  .kernel_height = 6,
                                  .kernel_width = 6,
                                  .stride_y = 2,
                                  .stride_x = 2,
                                  .pad_top = 2,
                                  .pad_left = 2,
                                  .output_height = 14,
                                  .output_width = 14,
                                  .image_stride_bytes = 9472};
    CHECK(timing::line_fetches(geometry, {0, 256}, 1, 256) == 8);
    CHECK(timing::line_fetches(geometry, {256, 176}, 1, 256) == 6);
    CHECK(timing::line_fetches(geometry, {0, 256}, 2, 256) > 8);
}

TEST_CASE("Line fetches lie between the distinct bytes and one access a window", "[hw][timing]") {
    const unsigned seed = GENERATE(11U, 12U);
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (std::uint32_t round = 0; round < tests::random_runs(2000); ++round) {
        const std::uint64_t windows = 1 + random() % 20;
        const std::uint64_t bytes = 1 + random() % 300;
        const std::uint64_t stride = 1 + random() % 300;
        const std::uint64_t row = 1 + random() % 256;
        std::set<std::uint64_t> touched;
        for (std::uint64_t w = 0; w < windows; ++w) {
            for (std::uint64_t b = 0; b < bytes; ++b) touched.insert(w * stride + b);
        }
        const std::uint64_t fetches = timing::kernel_row_fetches(windows, bytes, stride, row);
        CAPTURE(windows, bytes, stride, row);
        REQUIRE(fetches * row >= touched.size());
        REQUIRE(fetches <= windows * ((bytes + row - 1) / row));
    }
}
