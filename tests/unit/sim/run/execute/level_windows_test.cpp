#include "sim/run/execute/level_windows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include "sim/run/record/record.h"

using namespace systole;
using namespace systole::run;

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
    const Levels most = std::move(level).until(cycles);
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
