// docs/timing.md, "Several tensor cores": the collective unit of one core. Those of several are in
// tests/unit/hw/system and tests/unit/hw/tensor_core.
#include "hw/collective_unit/collective_unit.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "hw/isa/instruction.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

struct CollectiveBench : tests::UnitBench {
    explicit CollectiveBench(hw::Values values) : UnitBench(tests::small_core(), values) {}

    /// For use in a process.
    void add(const isa::Collective& collective) {
        issue(isa::QueueId::Collective, unit.queue(), isa::Instruction(collective));
    }

    tests::BenchWords memory{64, 4};
    hw::Collectives meeting{1, context.clock};
    hw::CollectiveUnit unit{"collective_unit", context, meeting, memory};
};

}  // namespace

TEST_CASE("A core alone waits for nobody, and a collective takes a cycle", "[hw][collective]") {
    CollectiveBench bench(hw::Values::Computed);
    for (std::uint32_t i = 0; i < 8; ++i) bench.memory.from_row(10)[i] = 100 + i;
    bench.process([&] {
        bench.at(5);
        bench.add(
            {.kind = isa::CollectiveKind::AllGather, .cores = 1, .result = 20, .source = 10, .rows = 2});
        bench.add(
            {.kind = isa::CollectiveKind::Broadcast, .cores = 1, .result = 30, .source = 20, .rows = 1});
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 2);
    CHECK(bench.instructions[0].begun == 5);
    CHECK(bench.instructions[0].complete == 6);
    CHECK(bench.instructions[1].complete == 7);
    CHECK(bench.memory.from_row(20)[7] == 107);
    CHECK(bench.memory.from_row(30)[3] == 103);
    bench.unit.finish(30, 0);
    CHECK(bench.cycles_of(bench.unit, "collective_unit") == 30);
    CHECK(bench.counter(bench.unit, "collective_unit.peer_cycles").value() == 0);
    CHECK(bench.counter(bench.unit, "collective_unit.sent_bytes").value() == 0);
}
