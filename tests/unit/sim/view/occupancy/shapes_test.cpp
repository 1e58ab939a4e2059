#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/view/occupancy/occupancy.h"

using namespace systole;
using occupancy::RowValue;

namespace {

std::vector<occupancy::Shape> shapes_of(const std::vector<RowValue>& values, Cycle tolerance) {
    std::vector<occupancy::Shape> shapes;
    occupancy::for_each_shape(values, tolerance,
                              [&](occupancy::Shape&& shape) { shapes.push_back(std::move(shape)); });
    return shapes;
}

}  // namespace

TEST_CASE("Values of one turn in adjacent rows are one shape", "[occupancy]") {
    const std::vector<RowValue> values{{1, 1, {0, 4}, 0, 50},   {1, 1, {4, 9}, 10, 60},
                                       {1, 1, {9, 12}, 60, 70}, {1, 1, {20, 21}, 0, 50},
                                       {2, 1, {21, 23}, 0, 99}, {1, 2, {4, 9}, 80, 90}};
    const std::vector<occupancy::Shape> expected{
        {{1, 1, {0, 4}, 0, 50}, {1, 1, {4, 9}, 10, 60}},
        {{1, 1, {9, 12}, 60, 70}},  // it came when the others had gone
        {{1, 1, {20, 21}, 0, 50}},  // there are rows between them
        {{2, 1, {21, 23}, 0, 99}},  // another's
        {{1, 2, {4, 9}, 80, 90}}};  // of another turn
    CHECK(shapes_of(values, 9) == expected);
    CHECK(shapes_of(values, 10).front() == occupancy::Shape{{1, 1, {0, 9}, 0, 60}});
}

TEST_CASE("Steps of a shape are as coarse as the tolerance allows", "[occupancy]") {
    const auto tolerance = GENERATE(Cycle{0}, Cycle{1}, Cycle{7}, Cycle{1000});
    const std::uint64_t rows = 100;
    std::vector<RowValue> values;
    for (std::uint64_t row = 0; row < rows; ++row)
        values.push_back({0, 0, {row, row + 1}, row, 500 + 2 * row});
    const std::vector<occupancy::Shape> shapes = shapes_of(values, tolerance);
    REQUIRE(shapes.size() == 1);
    const std::uint64_t together = std::min(tolerance / 2 + 1, rows);  // ends are two cycles apart
    CHECK(shapes[0].size() == (rows + together - 1) / together);
    std::uint64_t row = 0;
    for (const RowValue& step : shapes[0]) {
        CHECK(step.rows.first == row);
        CHECK(step.begin == row);
        row = step.rows.last;
        CHECK(step.end == 500 + 2 * (row - 1));
    }
    CHECK(row == rows);
}
