#include "hw/common/semaphores.h"

#include <catch2/catch.hpp>
#include <systemc>

#include "tests/support/fresh_simulation.h"

using namespace systole::hw;

namespace {

struct SemaphoresBench : systole::tests::FreshSimulation {
    Clock clock;
    OrderChecker order;
    Semaphores semaphores{clock, order};
};

}  // namespace

TEST_CASE("A wait goes on in the cycle of the signal", "[hw][semaphores]") {
    SemaphoresBench bench;
    sc_core::sc_spawn([&] {
        bench.semaphores.wait(3, 0);
        CHECK(bench.clock.now() == 40);
        bench.semaphores.wait(3, 0);
        CHECK(bench.clock.now() == 40);
        bench.semaphores.wait(3, 0);
        CHECK(bench.clock.now() == 55);
    });
    sc_core::sc_spawn([&] {
        bench.clock.wait_until(10);
        bench.semaphores.signal(3, 1, 40);  // known ahead
        bench.semaphores.signal(3, 1, 40);
        bench.clock.wait_until(55);
        bench.semaphores.signal(3, 1, 55);
    });
    sc_core::sc_start();
    CHECK(sc_core::sc_time_stamp() == sc_core::sc_time(55, sc_core::SC_NS));
}

TEST_CASE("A semaphore has one unit that signals it and one that waits for it", "[hw][semaphores]") {
    SemaphoresBench bench;
    sc_core::sc_spawn([&] {
        bench.semaphores.signal(0, 1, 0);
        bench.semaphores.signal(0, 1, 0);
        CHECK_THROWS_AS(bench.semaphores.signal(0, 2, 0), SharedSemaphore);
        bench.semaphores.wait(0, 2);
        CHECK_THROWS_AS(bench.semaphores.wait(0, 1), SharedSemaphore);
        bench.semaphores.wait(0, 2);
        bench.semaphores.signal(1, 2, 0);  // another semaphore, another unit
    });
    sc_core::sc_start();
}
