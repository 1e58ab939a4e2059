#include "hw/common/queued_unit.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "base/cycle.h"
#include "hw/isa/instruction.h"
#include "hw/isa/queue.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

/// An invented unit that is busy for so many cycles with each instruction.
class Slow final : public hw::QueuedUnit<hw::UnitCounters> {
public:
    /// `waits`: until it is free, before it takes the next instruction.
    Slow(const sc_core::sc_module_name& name, const hw::UnitContext& context, Cycle cycles, bool waits)
        : QueuedUnit(name, isa::QueueId::Activation, {.track = "slow", .signals = "slow."}, context) {
        register_counters(counters());
        start("slow", [this, cycles, waits](const hw::Command&) {
            const Cycle released = begin() + cycles;
            complete(released, released + 1);
            if (waits) context_.clock.wait_until(released);
        });
    }
};

tests::UnitBench& issue_two(tests::UnitBench& bench, Slow& unit) {
    bench.process([&bench, &unit] {
        bench.issue(isa::QueueId::Activation, unit.queue(), isa::Vector{.length = 1});
        bench.issue(isa::QueueId::Activation, unit.queue(), isa::Vector{.length = 1});
    });
    return bench;
}

}  // namespace

TEST_CASE("A unit takes the next instruction when it is free", "[queued_unit]") {
    tests::UnitBench bench{machine::MachineConfig()};
    Slow unit("slow", bench.context, 7, true);
    issue_two(bench, unit).run();
    REQUIRE(bench.instructions.size() == 2);
    CHECK(bench.instructions[0].released == bench.instructions[0].begun + 7);
    CHECK(bench.instructions[1].begun == bench.instructions[0].released);
    CHECK(unit.counters().busy_cycles.value() == 14);
}

TEST_CASE("A unit that begins an instruction while it is busy is an error", "[queued_unit]") {
    tests::UnitBench bench{machine::MachineConfig()};
    Slow unit("slow", bench.context, 7, false);
    issue_two(bench, unit);
    CHECK_THROWS_WITH(bench.run(), "a unit begins an instruction before it is free");
}
