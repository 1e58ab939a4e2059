#include "hw/common/port_arbiter.h"

#include <catch2/catch.hpp>
#include <functional>
#include <systemc>

#include "tests/support/fresh_simulation.h"

using namespace systole::hw;

namespace {

struct Bench : systole::tests::FreshSimulation {
    explicit Bench(std::vector<std::uint32_t> capacity) : arbiter(std::move(capacity), true, clock) {}

    /// Asks at a cycle; the returned cycle is that of the grant.
    void ask(std::size_t user, Cycle at, std::vector<PortArbiter::Need> needs, Cycle& granted) {
        sc_core::sc_spawn([this, user, at, needs, &granted] {
            WaitState state("test");
            clock.wait_until(at);
            arbiter.acquire(user, needs, state);
            granted = clock.now();
        });
    }

    Clock clock;
    PortArbiter arbiter;
};

}  // namespace

TEST_CASE("A taken port is granted again in the cycle in which it is free", "[hw][port_arbiter]") {
    Bench bench({1});
    Cycle first = 99;
    Cycle second = 99;
    bench.ask(1, 3, {{0, 10}}, first);
    bench.ask(0, 4, {{0, 1}}, second);
    sc_core::sc_start();
    CHECK(first == 3);
    CHECK(second == 13);
}

TEST_CASE("Of two requests in one cycle the user with the lower number goes first", "[hw][port_arbiter]") {
    const bool low_first = GENERATE(true, false);
    Bench bench({1});
    Cycle low = 99;
    Cycle high = 99;
    if (low_first) bench.ask(0, 5, {{0, 7}}, low);
    bench.ask(1, 5, {{0, 7}}, high);
    if (!low_first) bench.ask(0, 5, {{0, 7}}, low);
    sc_core::sc_start();
    CHECK(low == 5);
    CHECK(high == 12);
}

TEST_CASE("Who cannot have all holds nothing", "[hw][port_arbiter]") {
    Bench bench({1, 1});
    Cycle holder = 99;
    Cycle both = 99;
    Cycle other = 99;
    bench.ask(2, 0, {{0, 20}}, holder);
    bench.ask(0, 1, {{0, 5}, {1, 5}}, both);
    bench.ask(1, 2, {{1, 9}}, other);
    sc_core::sc_start();
    CHECK(holder == 0);
    CHECK(other == 2);
    CHECK(both == 20);
}

TEST_CASE("As many users as a port has places hold it at once", "[hw][port_arbiter]") {
    Bench bench({2});
    Cycle granted[3] = {99, 99, 99};
    for (std::size_t user = 0; user < 3; ++user) bench.ask(user, 0, {{0, 4}}, granted[user]);
    sc_core::sc_start();
    CHECK(granted[0] == 0);
    CHECK(granted[1] == 0);
    CHECK(granted[2] == 4);
}

TEST_CASE("What is held until released is free when it is released", "[hw][port_arbiter]") {
    Bench bench({1});
    Cycle waiting = 99;
    sc_core::sc_spawn([&] {
        WaitState state("test");
        bench.arbiter.acquire(0, {{0}}, state);
        bench.clock.wait_until(17);
        bench.arbiter.release(0);
    });
    bench.ask(1, 2, {{0, 1}}, waiting);
    sc_core::sc_start();
    CHECK(waiting == 17);
}
