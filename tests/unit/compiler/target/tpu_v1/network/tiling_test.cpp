#include "compiler/target/tpu_v1/network/tiling.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <set>
#include <utility>

#include "tests/support/random_runs.h"

namespace systole::tpu_v1 {
namespace {

using isa::Geometry;

/// The (element tile, column tile) pairs of a tiling. Checks that weight tiles are numbered in the order
/// of columns and elements, and that no run could be joined with the one before.
std::set<std::pair<std::uint64_t, std::size_t>> tiles_of(const Tiling& tiling) {
    std::set<std::pair<std::uint64_t, std::size_t>> found;
    std::uint32_t next_tile = 0;
    for (std::size_t j = 0; j < tiling.columns.size(); ++j) {
        std::uint64_t end_of_run = 0;
        bool first = true;
        for (const TileRun& run : tiling.columns[j].runs) {
            CHECK((first || run.first_element_tile > end_of_run));
            CHECK(run.first_weight_tile == next_tile);
            for (std::uint64_t t = 0; t < run.tiles; ++t) found.insert({run.first_element_tile + t, j});
            next_tile += run.tiles;
            end_of_run = std::uint64_t{run.first_element_tile} + run.tiles;
            first = false;
        }
    }
    CHECK(next_tile == tiling.tiles);
    CHECK(found.size() == tiling.tiles);
    return found;
}

void check_columns(const Tiling& tiling, const Geometry& geometry) {
    std::uint32_t next = 0;
    for (const ColumnTile& column : tiling.columns) {
        CHECK(column.first_channel == next);
        CHECK(column.channels >= 1);
        CHECK(column.channels <= geometry.columns);
        next += column.channels;
    }
    CHECK(next == tiling.channels);
}

}  // namespace

TEST_CASE("A matrix that just fits the array is one tile, one more element or channel makes two",
          "[compiler][mapping]") {
    const Geometry geometry{.rows = 7, .columns = 5};
    CHECK(dense_tiling(7, 5, geometry).tiles == 1);
    CHECK(dense_tiling(8, 5, geometry).tiles == 2);
    CHECK(dense_tiling(7, 6, geometry).tiles == 2);
    const Tiling tiling = dense_tiling(15, 6, geometry);
    CHECK(tiling.tiles == 6);
    REQUIRE(tiling.columns.size() == 2);
    CHECK(tiling.columns[0] ==
          ColumnTile{.first_channel = 0,
                     .channels = 5,
                     .runs = {{.first_element_tile = 0, .tiles = 3, .first_weight_tile = 0}}});
    CHECK(tiling.columns[1] ==
          ColumnTile{.first_channel = 5,
                     .channels = 1,
                     .runs = {{.first_element_tile = 0, .tiles = 3, .first_weight_tile = 3}}});
}

TEST_CASE("A dense tiling has every tile once", "[compiler][mapping]") {
    const std::uint32_t seed = 5;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (std::uint32_t run = 0; run < tests::random_runs(100); ++run) {
        const Geometry geometry{.rows = static_cast<std::uint32_t>(random() % 30 + 1),
                                .columns = static_cast<std::uint32_t>(random() % 30 + 1)};
        const auto elements = static_cast<std::uint32_t>(random() % 200 + 1);
        const auto channels = static_cast<std::uint32_t>(random() % 200 + 1);
        const Tiling tiling = dense_tiling(elements, channels, geometry);
        check_columns(tiling, geometry);
        tiles_of(tiling);
        const std::uint32_t down = (elements + geometry.rows - 1) / geometry.rows;
        const std::uint32_t across = (channels + geometry.columns - 1) / geometry.columns;
        CHECK(tiling.tiles == down * across);
    }
}

namespace {

/// A direction of the windows: the numbers of the kernel's elements of all pixels of a block, by definition.
std::set<std::uint64_t> elements_along(std::uint32_t kernel, std::uint32_t stride, std::uint32_t dilation,
                                       std::uint32_t pixels) {
    std::set<std::uint64_t> elements;
    for (std::uint32_t pixel = 0; pixel < pixels; ++pixel) {
        for (std::uint32_t i = 0; i < kernel; ++i) elements.insert(pixel * stride + i * dilation);
    }
    return elements;
}

}  // namespace

TEST_CASE("A convolution's tiling has exactly the tiles in which an input meets a weight",
          "[compiler][mapping]") {
    const std::uint32_t seed = 6;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    std::uint64_t left_out = 0;
    std::uint64_t left_out_without_groups = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(400); ++run) {
        const Geometry geometry{.rows = below(30) + 1, .columns = below(30) + 1};
        ConvolutionMatrix matrix;
        matrix.window = {.kernel_height = below(4) + 1,
                         .kernel_width = below(4) + 1,
                         .stride_y = below(4) + 1,
                         .stride_x = below(4) + 1,
                         .dilation_y = below(2) * below(6) + 1,
                         .dilation_x = below(2) * below(6) + 1};
        // A third are depthwise.
        const std::uint32_t group_inputs = below(3) == 0 ? 1 : below(12) + 1;
        const std::uint32_t group_outputs = below(3) + 1;
        matrix.groups = below(40) / group_inputs + 1;
        matrix.input_channels = matrix.groups * group_inputs;
        matrix.columns = matrix.groups * group_outputs;
        if (below(2) == 0) {
            matrix.block = {.width = below(3) + 1, .height = below(3) + 1};
            matrix.groups = 1;
            matrix.columns = std::max(matrix.columns, matrix.block.pixels());
        }
        CAPTURE(run, ir::to_text(matrix.window), matrix.block.width, matrix.block.height);
        const Tiling tiling = convolution_tiling(matrix, geometry);
        check_columns(tiling, geometry);

        const ir::Window& window = matrix.window;
        const std::uint32_t height =
            (window.kernel_height - 1) * window.dilation_y + 1 + (matrix.block.height - 1) * window.stride_y;
        const std::uint32_t width =
            (window.kernel_width - 1) * window.dilation_x + 1 + (matrix.block.width - 1) * window.stride_x;
        CHECK(tiling.elements == std::uint64_t{height} * width * matrix.input_channels);
        const std::uint32_t outputs = matrix.columns / matrix.groups;
        std::set<std::pair<std::uint64_t, std::size_t>> expected;
        for (const std::uint64_t row :
             elements_along(window.kernel_height, window.stride_y, window.dilation_y, matrix.block.height)) {
            for (const std::uint64_t column : elements_along(window.kernel_width, window.stride_x,
                                                             window.dilation_x, matrix.block.width)) {
                for (std::uint32_t input = 0; input < matrix.input_channels; ++input) {
                    const std::uint64_t element = (row * width + column) * matrix.input_channels + input;
                    const std::uint32_t group = input / (matrix.input_channels / matrix.groups);
                    for (std::uint32_t m = 0; m < outputs; ++m) {
                        expected.insert({element / geometry.rows, (group * outputs + m) / geometry.columns});
                    }
                }
            }
        }
        CHECK(tiles_of(tiling) == expected);
        const std::uint64_t fewer =
            dense_tiling(tiling.elements, tiling.channels, geometry).tiles - tiling.tiles;
        left_out += fewer;
        if (matrix.groups == 1) left_out_without_groups += fewer;
    }
    CHECK(left_out >= tests::random_share(1001));
    CHECK(left_out_without_groups >= tests::random_share(1001));
}

TEST_CASE("A kernel of 3 x 3 takes nine tiles for each 256 channels with any dilation",
          "[compiler][mapping]") {
    const std::uint32_t dilation = GENERATE(1U, 2U, 6U, 12U);
    CAPTURE(dilation);
    ConvolutionMatrix matrix{.window = {.kernel_height = 3, .kernel_width = 3}, .input_channels = 256};
    matrix.window.dilation_y = matrix.window.dilation_x = dilation;
    matrix.columns = 256;
    CHECK(convolution_tiling(matrix, {.rows = 256, .columns = 256}).tiles == 9);
    matrix.columns = 257;
    CHECK(convolution_tiling(matrix, {.rows = 256, .columns = 256}).tiles == 18);
}

TEST_CASE("A convolution without zeros has the tiles of a dense matrix", "[compiler][mapping]") {
    ConvolutionMatrix matrix{.window = {.kernel_height = 3, .kernel_width = 2}, .input_channels = 11};
    matrix.columns = 23;
    const Geometry geometry{.rows = 7, .columns = 5};
    CHECK(convolution_tiling(matrix, geometry) == dense_tiling(66, 23, geometry));
    // Tiles of any number are counted at once.
    matrix.input_channels = 1U << 28U;
    matrix.window = {.kernel_height = 4096, .kernel_width = 1};
    CHECK(convolution_tiling(matrix, {.rows = 1, .columns = 23}).tiles == std::uint64_t{1} << 40U);
}

}  // namespace systole::tpu_v1
