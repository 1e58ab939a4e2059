#include "sim/occupancy/over_time.h"

#include <catch2/catch.hpp>
#include <random>

using namespace systole::occupancy;

TEST_CASE("The most that is held in each window", "[occupancy]") {
    const std::vector<Holding> holdings{{0, 10, 5}, {9, 21, 2}, {21, 30, 4}, {25, 25, 100}};
    CHECK(most_held(holdings, 30, 10) == std::vector<std::uint64_t>{7, 2, 4});
    CHECK(most_held(holdings, 31, 10) == std::vector<std::uint64_t>{7, 2, 4, 0});
    CHECK(most_held(holdings, 22, 10) == std::vector<std::uint64_t>{7, 2, 4});
    CHECK(most_held({}, 3, 2) == std::vector<std::uint64_t>{0, 0});
    CHECK(most_held({}, 0, 2).empty());
}

TEST_CASE("What ends in a cycle makes room for what begins in it", "[occupancy]") {
    CHECK(most_held({{5, 10, 1}, {0, 5, 1}}, 10, 10) == std::vector<std::uint64_t>{1});
}

TEST_CASE("Windows hold what a count of every cycle finds", "[occupancy]") {
    const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U);
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](Cycle most) { return random() % (most + 1); };
    const Cycle cycles = 1 + draw(200);
    const Cycle window = 1 + draw(30);
    std::vector<Holding> holdings;
    for (int i = 0; i < 30; ++i) holdings.push_back({draw(220), draw(220), draw(9)});

    std::vector<std::uint64_t> expected((cycles + window - 1) / window);
    for (Cycle cycle = 0; cycle < cycles; ++cycle) {
        std::uint64_t held = 0;
        for (const Holding& each : holdings)
            held += each.begin <= cycle && cycle < each.end ? each.amount : 0;
        expected[cycle / window] = std::max(expected[cycle / window], held);
    }
    CHECK(most_held(holdings, cycles, window) == expected);
}

TEST_CASE("The times of a repeated instruction are those of all its repetitions", "[occupancy]") {
    Spans spans;
    SpanRecorder recorder(spans);
    recorder.instruction({.unit = 3, .number = 2, .begun = 10, .released = 20, .complete = 35});
    recorder.instruction({.unit = 3, .number = 2, .begun = 20, .released = 30, .complete = 45});
    recorder.instruction({.unit = 3, .number = 0, .begun = 0, .released = 5, .complete = 5});
    recorder.tile({.fetched = 3, .whole = 9, .shifted = 12});
    REQUIRE(spans.instructions.size() == 3);
    CHECK(spans.instructions[2].begun == 10);
    CHECK(spans.instructions[2].released == 30);
    CHECK(spans.instructions[2].complete == 45);
    CHECK(spans.instructions[1].released == 0);  // never heard of
    REQUIRE(spans.tiles.size() == 1);
    CHECK(spans.tiles[0].fetched == 3);
    CHECK(spans.tiles[0].shifted == 12);
}
