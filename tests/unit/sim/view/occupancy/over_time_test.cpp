#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "sim/view/occupancy/occupancy.h"

using namespace systole;
using namespace systole::occupancy;

namespace {

RowValue value(Cycle begin, Cycle end, std::uint64_t rows) {
    return {.writer = 0, .visit = 0, .rows = {0, rows}, .begin = begin, .end = end};
}

std::vector<std::uint64_t> most_of(const std::vector<RowValue>& values, Cycle cycles, Cycle window_cycles) {
    return most_held(changes_of(values, cycles), cycles, window_cycles);
}

}  // namespace

TEST_CASE("Peak occupancy in each window", "[occupancy]") {
    const std::vector<RowValue> values{value(0, 10, 5), value(9, 21, 2), value(21, 30, 4),
                                       value(25, 25, 100)};
    CHECK(most_of(values, 30, 10) == std::vector<std::uint64_t>{7, 2, 4});
    CHECK(most_of(values, 31, 10) == std::vector<std::uint64_t>{7, 2, 4, 0});
    CHECK(most_of(values, 22, 10) == std::vector<std::uint64_t>{7, 2, 4});
    CHECK(most_of({}, 3, 2) == std::vector<std::uint64_t>{0, 0});
    CHECK(most_of({}, 0, 2).empty());
}

TEST_CASE("A value that ends in a cycle makes room for one that begins in it", "[occupancy]") {
    const std::vector<RowValue> values{value(5, 10, 1), value(0, 5, 1)};
    CHECK(most_of(values, 10, 10) == std::vector<std::uint64_t>{1});
    CHECK(changes_of(values, 10) == Changes{{0, 1}, {5, 0}, {10, -1}});
}

TEST_CASE("Windows equal a count of every cycle", "[occupancy]") {
    const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U);
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](Cycle most) { return random() % (most + 1); };
    const Cycle cycles = 1 + draw(200);
    const Cycle window = 1 + draw(30);
    std::vector<RowValue> values;
    for (int i = 0; i < 30; ++i) values.push_back(value(draw(220), draw(220), draw(9)));

    std::vector<std::uint64_t> expected((cycles + window - 1) / window);
    for (Cycle cycle = 0; cycle < cycles; ++cycle) {
        std::uint64_t held = 0;
        for (const RowValue& each : values)
            held += each.begin <= cycle && cycle < each.end ? each.rows.count() : 0;
        expected[cycle / window] = std::max(expected[cycle / window], held);
    }
    CHECK(most_of(values, cycles, window) == expected);
}
