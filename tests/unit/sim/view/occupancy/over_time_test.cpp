#include "sim/view/occupancy/over_time.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

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

TEST_CASE("A level's windows equal a count of every cycle, for runs of any length", "[occupancy]") {
    const auto most_step = GENERATE(Cycle{1}, Cycle{7}, Cycle{100}, Cycle{5000});
    CAPTURE(most_step);
    std::mt19937 random(static_cast<unsigned>(most_step));
    LevelWindows level;
    std::map<Cycle, std::uint64_t> held_from{{0, 0}};
    Cycle at = 0;
    std::uint64_t held = 0;
    for (int i = 0; i < 1500; ++i) {
        at += random() % (most_step + 1);
        const bool is_more = held == 0 || random() % 2 == 0;
        level.change(at, is_more ? 1 : -1);
        held += is_more ? 1U : static_cast<std::uint64_t>(-1);
        held_from[at] = held;
    }
    const Cycle cycles = at + most_step;
    const MostHeld most = std::move(level).until(cycles);
    CHECK(most.windows.size() <= most_windows);
    CHECK(most.windows.size() == (cycles + most.window_cycles - 1) / most.window_cycles);
    // Not longer than needed: half as long, they would be too many.
    CHECK((most.window_cycles == 1 || cycles > most_windows * (most.window_cycles / 2)));
    for (std::size_t window = 0; window < most.windows.size(); ++window) {
        const Cycle begin = window * most.window_cycles;
        const Cycle end = std::min(begin + most.window_cycles, cycles);
        std::uint64_t expected = std::prev(held_from.upper_bound(begin))->second;
        for (auto change = held_from.lower_bound(begin); change != held_from.end() && change->first < end;
             ++change) {
            expected = std::max(expected, change->second);
        }
        REQUIRE(most.windows[window] == expected);
    }
}

TEST_CASE("A level's changes in one cycle count together, in any order", "[occupancy]") {
    LevelWindows level;
    level.change(0, 2);
    level.change(4, 1);
    level.change(4, -1);
    const auto windows = std::move(level).until(8).windows;
    CHECK(windows == std::vector<std::uint64_t>(8, 2));
}

TEST_CASE("Changes after the end of the run are in no window", "[occupancy]") {
    LevelWindows level;
    level.change(2, 1);
    level.change(20, -1);
    const auto windows = std::move(level).until(5).windows;
    CHECK(windows == std::vector<std::uint64_t>{0, 0, 1, 1, 1});
    CHECK(LevelWindows().until(0).windows.empty());
}
