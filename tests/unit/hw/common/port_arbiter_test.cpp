#include "hw/common/port_arbiter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <systemc>

#include "tests/support/fresh_simulation.h"

using namespace systole;
using namespace systole::hw;

namespace {

struct ArbiterBench : systole::tests::FreshSimulation {
    /// Ports with these numbers of places and more users than places.
    explicit ArbiterBench(const std::vector<std::uint32_t>& places) : arbiter(ports_of(places), clock) {}

    static std::vector<PortArbiter::Places> ports_of(const std::vector<std::uint32_t>& places) {
        std::vector<PortArbiter::Places> ports;
        for (const std::uint32_t count : places) ports.push_back({count, count + 1});
        return ports;
    }

    /// Requests ports in cycle `at`; `granted` becomes the cycle of the grant.
    void ask(std::size_t user, Cycle at, std::vector<PortArbiter::Need> needs, Cycle& granted) {
        sc_core::sc_spawn([this, user, at, needs, &granted] {
            clock.wait_until(at);
            arbiter.acquire(user, needs);
            granted = clock.now();
        });
    }

    Clock clock;
    PortArbiter arbiter;
};

}  // namespace

TEST_CASE("A taken port is granted again in the cycle in which it is free", "[hw][port_arbiter]") {
    ArbiterBench bench({1});
    Cycle first = 99;
    Cycle second = 99;
    bench.ask(1, 3, {{0, 0, 10}}, first);
    bench.ask(0, 4, {{0, 0, 1}}, second);
    sc_core::sc_start();
    CHECK(first == 3);
    CHECK(second == 13);
}

TEST_CASE("Of two requests in one cycle, that of the user with the lower number is granted",
          "[hw][port_arbiter]") {
    const bool low_first = GENERATE(true, false);
    ArbiterBench bench({1});
    Cycle low = 99;
    Cycle high = 99;
    if (low_first) bench.ask(0, 5, {{0, 0, 7}}, low);
    bench.ask(1, 5, {{0, 0, 7}}, high);
    if (!low_first) bench.ask(0, 5, {{0, 0, 7}}, low);
    sc_core::sc_start();
    CHECK(low == 5);
    CHECK(high == 12);
}

TEST_CASE("A request that is not granted holds nothing", "[hw][port_arbiter]") {
    ArbiterBench bench({1, 1});
    Cycle holder = 99;
    Cycle both = 99;
    Cycle other = 99;
    bench.ask(2, 0, {{0, 0, 20}}, holder);
    bench.ask(0, 1, {{0, 0, 5}, {1, 0, 5}}, both);
    bench.ask(1, 2, {{1, 0, 9}}, other);
    sc_core::sc_start();
    CHECK(holder == 0);
    CHECK(other == 2);
    CHECK(both == 20);
}

TEST_CASE("A port is held by as many users at once as it has places", "[hw][port_arbiter]") {
    ArbiterBench bench({2});
    Cycle granted[3] = {99, 99, 99};
    for (std::size_t user = 0; user < 3; ++user) bench.ask(user, 0, {{0, 0, 4}}, granted[user]);
    sc_core::sc_start();
    CHECK(granted[0] == 0);
    CHECK(granted[1] == 0);
    CHECK(granted[2] == 4);
}

TEST_CASE("A port held until released is free when it is released", "[hw][port_arbiter]") {
    const auto later = GENERATE(Cycle{0}, Cycle{5});
    ArbiterBench bench({1});
    Cycle waiting = 99;
    sc_core::sc_spawn([&] {
        bench.arbiter.acquire(0, {{0}});
        bench.clock.wait_until(17);
        bench.arbiter.release(0, 17 + later);
    });
    bench.ask(1, 2, {{0, 0, 1}}, waiting);
    sc_core::sc_start();
    CHECK(waiting == 17 + later);
}

TEST_CASE("A port is free before a booked interval and behind it", "[hw][port_arbiter]") {
    // Booked for cycles 13 to 17; wanted for 3 cycles from the grant on, or from 2 cycles after it.
    const auto offset = GENERATE(Cycle{0}, Cycle{2});
    const auto asked = GENERATE(Cycle{1}, Cycle{8}, Cycle{9}, Cycle{10}, Cycle{11}, Cycle{15}, Cycle{16},
                                Cycle{18}, Cycle{30});
    CAPTURE(offset, asked);
    ArbiterBench bench({1});
    Cycle booked = 99;
    Cycle granted = 99;
    bench.ask(0, 0, {{0, 13, 5}}, booked);
    bench.ask(1, asked, {{0, offset, 3}}, granted);
    sc_core::sc_start();
    CHECK(booked == 0);
    const bool before = asked + offset + 3 <= 13;
    CHECK(granted == (before ? asked : std::max(asked, 18 - offset)));
}

TEST_CASE("A port held until released overlaps every later interval", "[hw][port_arbiter]") {
    ArbiterBench bench({1});
    Cycle open = 99;
    Cycle before = 99;
    Cycle behind = 99;
    bench.ask(0, 0, {{0, 10}}, open);
    bench.ask(1, 1, {{0, 2, 7}}, before);
    bench.ask(1, 3, {{0, 2, 6}}, behind);
    sc_core::sc_spawn([&] {
        bench.clock.wait_until(40);
        bench.arbiter.release(0, 43);
    });
    sc_core::sc_start();
    CHECK(open == 0);
    CHECK(before == 1);
    CHECK(behind == 41);
}

TEST_CASE("A request until released waits for all booked intervals", "[hw][port_arbiter]") {
    ArbiterBench bench({1});
    Cycle booked = 99;
    Cycle open = 99;
    bench.ask(0, 0, {{0, 20, 5}}, booked);
    bench.ask(1, 1, {{0, 3}}, open);
    sc_core::sc_start();
    CHECK(booked == 0);
    CHECK(open == 25 - 3);
}

TEST_CASE("A user does not wait for itself", "[hw][port_arbiter]") {
    ArbiterBench bench({1});
    Cycle granted[3] = {99, 99, 99};
    Cycle other = 99;
    bench.ask(0, 0, {{0, 20, 4}}, granted[0]);
    bench.ask(0, 1, {{0, 21, 4}}, granted[1]);
    bench.ask(0, 2, {{0}}, granted[2]);
    bench.ask(1, 3, {{0, 0, 1}}, other);
    sc_core::sc_spawn([&] {
        bench.clock.wait_until(50);
        bench.arbiter.release(0, 50);
    });
    sc_core::sc_start();
    for (Cycle i = 0; i < 3; ++i) CHECK(granted[i] == i);
    CHECK(other == 50);
}

TEST_CASE("A second request of a user in one cycle is decided in the next", "[hw][port_arbiter]") {
    // The arbiter decides in the middle of a cycle; the second request comes then, before it or after it.
    const bool arbiter_is_late = GENERATE(true, false);
    CAPTURE(arbiter_is_late);
    systole::tests::FreshSimulation simulation;
    Clock clock;
    if (arbiter_is_late) clock.perturb([] { return 1U; });
    // Port 0 has a place for everybody.
    PortArbiter arbiter({{3, 3}, {1, 3}, {1, 3}}, clock);
    Cycle first = 99;
    Cycle second = 99;
    Cycle third = 99;
    Cycle other = 99;
    sc_core::sc_spawn([&] {
        sc_core::wait(5, sc_core::SC_NS);
        arbiter.acquire(1, {{0, 0, 1}});
        first = clock.now();
        sc_core::wait(500, sc_core::SC_PS);
        arbiter.acquire(1, {{1, 0, 1}});
        second = clock.now();
        arbiter.acquire(1, {{1, 0, 1}});
        third = clock.now();
    });
    sc_core::sc_spawn([&] {
        sc_core::wait(5, sc_core::SC_NS);
        arbiter.acquire(0, {{2, 0, 1}});
        other = clock.now();
    });
    sc_core::sc_start();
    CHECK(first == 5);
    CHECK(other == 5);
    CHECK(second == 6);
    CHECK(third == 7);
}

TEST_CASE("With two places, a user waits only while both are taken", "[hw][port_arbiter]") {
    ArbiterBench bench({2});
    Cycle granted[3] = {99, 99, 99};
    bench.ask(0, 0, {{0, 5, 10}}, granted[0]);   // 5 to 14
    bench.ask(1, 0, {{0, 12, 10}}, granted[1]);  // 12 to 21
    bench.ask(2, 2, {{0, 0, 11}}, granted[2]);   // 2 to 12 would meet both in cycle 12
    sc_core::sc_start();
    CHECK(granted[0] == 0);
    CHECK(granted[1] == 0);
    CHECK(granted[2] == 15);
}

TEST_CASE("Consecutive intervals of two users need only one of two places", "[hw][port_arbiter]") {
    ArbiterBench bench({2});
    Cycle granted[3] = {99, 99, 99};
    bench.ask(0, 0, {{0, 5, 5}}, granted[0]);   // 5 to 9
    bench.ask(1, 0, {{0, 10, 5}}, granted[1]);  // 10 to 14
    bench.ask(2, 0, {{0, 0, 30}}, granted[2]);
    sc_core::sc_start();
    CHECK(granted[2] == 0);
}

TEST_CASE("A port with a place for every user is granted at once", "[hw][port_arbiter]") {
    systole::tests::FreshSimulation simulation;
    const Clock clock;
    PortArbiter arbiter({{2, 2}, {1, 2}}, clock);
    Cycle at_once = 99;
    Cycle waited = 99;
    sc_core::sc_spawn([&] {
        arbiter.acquire(0, {{0}, {1, 0, 9}});
        arbiter.acquire(0, {{0}});
    });
    sc_core::sc_spawn([&] {
        clock.wait_until(3);
        CHECK(arbiter.acquire(1, {{0}, {1, 0, 0}}) == 0);
        CHECK_FALSE(clock.settled());
        at_once = clock.now();
        waited = arbiter.acquire(1, {{0}, {1, 0, 2}});
    });
    sc_core::sc_start();
    CHECK(at_once == 3);
    CHECK(waited == 6);
}
