#include "hw/common/command_queue.h"

#include <catch2/catch.hpp>
#include <systemc>

#include "tests/support/fresh_simulation.h"

using namespace systole::hw;

namespace {

struct QueueBench : systole::tests::FreshSimulation {
    void push(Command::Kind kind, InstructionNumber number) {
        Command command;
        command.kind = kind;
        command.number = number;
        queue.push(std::move(command));
    }

    Clock clock;
    OrderChecker order;
    Semaphores semaphores{clock, order};
    CommandQueue queue{0, 8, semaphores, clock};
    UnitCounters counters;
};

}  // namespace

TEST_CASE("The current instruction is the one that the unit executes, then the first in the queue",
          "[hw][command_queue]") {
    QueueBench bench;
    CHECK_FALSE(bench.queue.current());
    sc_core::sc_spawn([&] {
        bench.push(Command::Kind::Work, 4);
        bench.push(Command::Kind::Work, 5);
        bench.push(Command::Kind::Wait, 9);
        CHECK(bench.queue.current() == 4);
        CHECK(bench.queue.next(bench.counters).number == 4);
        CHECK(bench.queue.current() == 4);  // not 5, which waits behind it
        bench.queue.complete(bench.clock.now());
        CHECK(bench.queue.current() == 5);
        bench.queue.next(bench.counters);
        bench.queue.complete(bench.clock.now());
        bench.queue.next(bench.counters);  // nobody signals
        FAIL_CHECK("a wait without a signal is over");
    });
    sc_core::sc_start();
    CHECK(bench.queue.current() == 9);
}
