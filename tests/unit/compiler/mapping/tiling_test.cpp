#include "compiler/mapping/tiling.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <utility>

#include "tests/support/random_runs.h"

namespace systole::mapping {
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

TEST_CASE("A grouped tiling has exactly the tiles in which channels meet those of their group",
          "[compiler][mapping]") {
    const std::uint32_t seed = 6;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::uint64_t left_out = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(200); ++run) {
        const Geometry geometry{.rows = static_cast<std::uint32_t>(random() % 30 + 1),
                                .columns = static_cast<std::uint32_t>(random() % 30 + 1)};
        ir::Window window;
        window.kernel_height = static_cast<std::uint32_t>(random() % 4 + 1);
        window.kernel_width = static_cast<std::uint32_t>(random() % 4 + 1);
        // A third are depthwise.
        const auto group_inputs = static_cast<std::uint32_t>(random() % 3 == 0 ? 1 : random() % 12 + 1);
        const auto group_outputs = static_cast<std::uint32_t>(random() % 3 + 1);
        const auto groups = static_cast<std::uint32_t>(random() % 40 / group_inputs + 1);
        const std::uint32_t inputs = groups * group_inputs;
        const Tiling tiling = grouped_tiling(window, inputs, groups, groups * group_outputs, geometry);
        check_columns(tiling, geometry);

        std::set<std::pair<std::uint64_t, std::size_t>> expected;
        for (std::uint32_t element = 0; element < window.kernel_height * window.kernel_width * inputs;
             ++element) {
            for (std::uint32_t m = 0; m < group_outputs; ++m) {
                const std::uint32_t channel = element % inputs / group_inputs * group_outputs + m;
                expected.insert({element / geometry.rows, channel / geometry.columns});
            }
        }
        CHECK(tiles_of(tiling) == expected);
        left_out += dense_tiling(tiling.elements, tiling.channels, geometry).tiles - tiling.tiles;
    }
    CHECK(left_out >= tests::random_share(1001));
}

}  // namespace systole::mapping
