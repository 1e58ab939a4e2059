#include "hw/common/clock.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "tests/support/fresh_simulation.h"

using namespace systole;
using namespace systole::hw;

TEST_CASE("Cycles beyond what a double counts are exact, up to the end of time", "[hw][clock]") {
    systole::tests::FreshSimulation simulation;
    const Clock clock(sc_core::sc_time(7, sc_core::SC_PS));
    static constexpr Cycle last = std::numeric_limits<std::uint64_t>::max() / 7;
    const Cycle cycle = GENERATE(Cycle{1}, (Cycle{1} << 53U) + 1, last - 1, last);
    CHECK(clock.delay_until(cycle).value() == cycle * 7);
    CHECK(clock.after(clock.delay_until(cycle)) == cycle);
    CHECK_THROWS_AS(clock.delay_until(last + 1), std::overflow_error);
}

TEST_CASE("A cycle settles in its middle and ends behind it", "[hw][clock]") {
    systole::tests::FreshSimulation simulation;
    const auto picoseconds = GENERATE(4U, 7U, 1000U);
    const Clock clock(sc_core::sc_time(picoseconds, sc_core::SC_PS));
    sc_core::sc_spawn([&] {
        clock.wait_until(5);
        CHECK(clock.now() == 5);
        CHECK_FALSE(clock.settled());
        clock.wait_for_settled();
        CHECK(clock.now() == 5);
        CHECK(clock.settled());
        CHECK(sc_core::sc_time_stamp().value() == 5U * picoseconds + picoseconds / 2);
        clock.wait_for_settled();
        CHECK(sc_core::sc_time_stamp().value() == 5U * picoseconds + picoseconds / 2);
        clock.wait_for_end_of(5);
        CHECK(clock.now() == 5);
        CHECK(sc_core::sc_time_stamp().value() == 6U * picoseconds - 1);
        clock.wait_for_end_of(4);
        CHECK(sc_core::sc_time_stamp().value() == 6U * picoseconds - 1);
        clock.wait_for_beginning();
        CHECK(sc_core::sc_time_stamp().value() == 6U * picoseconds);
    });
    sc_core::sc_start();
}
