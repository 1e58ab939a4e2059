// docs/timing.md, "Ring", on the ring alone: tiles, memories and staging buffer are written in the test. The
// numbers are computed by hand.
#include "hw/ring/ring.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/common/tile_interfaces.h"
#include "hw/isa/instruction.h"
#include "hw/machine/machine_config.h"
#include "tests/support/tile_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

constexpr Cycle latency = 3;
/// A row of 16 lanes is a unit of 64 bytes, 2 cycles; a part has up to 4 of them.
constexpr Cycle cycles_of_part = 8;

machine::MachineConfig machine_of_ring(std::uint32_t buffers) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = 1;
    machine.tile_array.columns = 2;
    machine.tile_array.lanes = 16;
    machine.tile_array.weight_buffers = buffers;
    machine.tile_array.weight_buffer_rows = 4;
    machine.ring.bytes_per_cycle = 32;
    machine.ring.latency_cycles = latency;
    machine.narrow_memory.bytes = 1024;
    machine.wide_memory.bytes = 65536;
    return machine;
}

struct RingBench : tests::UnitBench {
    explicit RingBench(const machine::MachineConfig& its, hw::Values values = hw::Values::TimingOnly)
        : UnitBench(its, values) {}

    /// Of one group and once, unless it says otherwise; for use in a process.
    void multicast(isa::Multicast sent, hw::Tag tag = 0) {
        sent.groups = std::max<std::uint16_t>(1, sent.groups);
        sent.repeats = std::max<std::uint32_t>(1, sent.repeats);
        issue(isa::QueueId::Ring, unit.queue(), sent, tag);
    }
    /// The tiles take `count` parts, each `cycles` after it has arrived and the one before is released.
    void take(std::size_t count, Cycle cycles) {
        process([this, count, cycles] {
            for (std::size_t i = 0; i < count; ++i) {
                const hw::WeightPart& part = unit.next();
                arrived.push_back(clock.now());
                parts.push_back({part.block, part.first_row, part.rows});
                CHECK(part.whole_at <= clock.now());
                clock.wait_until(clock.now() + cycles);
                unit.release();
            }
        });
    }
    std::uint64_t count(const std::string& name) const { return counter(unit, "ring." + name).value(); }
    /// Every cycle of the run is in one of the ring's counters.
    void check_cycles() {
        unit.finish(clock.now(), 0);
        CHECK(cycles_of(unit, "ring") == clock.now());
    }

    tests::BenchNarrow narrow{machine};
    tests::BenchWide wide{machine};
    tests::BenchParts staged{clock};
    hw::RingBus unit{"ring", context, narrow, wide, staged};
    std::vector<Cycle> arrived;
    std::vector<std::array<std::uint64_t, 3>> parts;  ///< block, first row, rows
};

}  // namespace

TEST_CASE("A part waits for a weight buffer, and begins in the cycle in which the tiles release one",
          "[hw][ring]") {
    RingBench bench(machine_of_ring(2));
    bench.process([&] {
        bench.at(10);
        bench.multicast({.parameters = 0, .rows = 4, .units = 1, .groups = 4});
    });
    // The first two go at once, in cycles 10 to 18 and 18 to 26. The tiles have each for 30 cycles.
    bench.take(4, 30);
    bench.run();
    CHECK(bench.arrived == std::vector<Cycle>{18 + latency, 51, 81, 111});
    REQUIRE(bench.instructions.size() == 1);
    const hw::InstructionTimes& sent = bench.instructions[0];
    // The third goes when the first is released, in cycle 51, and the fourth in cycle 81.
    CHECK(sent.begun == 10);
    CHECK(sent.released == 81 + cycles_of_part);
    CHECK(sent.complete == sent.released + latency);
    CHECK(bench.count("busy_cycles") == 4 * cycles_of_part);
    CHECK(bench.count("buffer_stall_cycles") == (51 - 26) + (81 - 59));
    CHECK(bench.count("staging_stall_cycles") == 0);
    CHECK(bench.count("idle_cycles") == 10);
    CHECK(bench.count("parameter_bytes") == 4 * 256);
    CHECK(bench.wide.reads == 4 * 256);
    bench.check_cycles();
}

TEST_CASE("With one weight buffer sending and computing add up, with two they overlap", "[hw][ring]") {
    const auto buffers = GENERATE(1U, 2U, 3U);
    CAPTURE(buffers);
    RingBench bench(machine_of_ring(buffers));
    bench.process([&] { bench.multicast({.parameters = 0, .rows = 4, .units = 1, .groups = 10}); });
    bench.take(10, 20);
    bench.run();
    const Cycle first = cycles_of_part + latency;
    CHECK(bench.clock.now() == (buffers == 1 ? 10 * (first + 20) : first + 10 * 20));
}

TEST_CASE("A streamed part begins when it is whole in the staging buffer, and leaves it behind its last byte",
          "[hw][ring]") {
    RingBench bench(machine_of_ring(1));
    const auto part = [](std::uint64_t block, Cycle whole_at) {
        return hw::WeightPart{.block = block,
                              .streamed = true,
                              .first_row = 0,
                              .rows = 4,
                              .row_units = 1,
                              .whole_at = whole_at};
    };
    bench.staged.add(part(512, 20));
    bench.staged.add(part(768, 30));
    bench.staged.add(part(512, 90));
    bench.process([&] {
        bench.multicast({.parameters = 512, .rows = 4, .units = 1, .groups = 2, .streamed = true});
        bench.multicast({.parameters = 512, .rows = 4, .units = 1, .streamed = true});
    });
    bench.take(3, 9);
    bench.run();
    // From 20 to 28, then computed from 31 to 40; from 40 on, when the buffer is free; from 90 on.
    CHECK(bench.staged.released == std::vector<Cycle>{28, 48, 98});
    CHECK(bench.arrived == std::vector<Cycle>{31, 51, 101});
    CHECK(bench.count("staging_stall_cycles") == 20 + (90 - 60));
    CHECK(bench.count("buffer_stall_cycles") == (40 - 28) + (60 - 48));
    CHECK(bench.count("busy_cycles") == 3 * cycles_of_part);
    CHECK(bench.wide.reads == 0);
    bench.check_cycles();
}

TEST_CASE("Another block in the staging buffer is an error that names both", "[hw][ring]") {
    RingBench bench(machine_of_ring(1));
    const auto wrong = GENERATE(0, 1, 2, 3);
    CAPTURE(wrong);
    hw::WeightPart part{
        .block = 512, .streamed = true, .first_row = 0, .rows = 4, .row_units = 1, .whole_at = 5};
    if (wrong == 0) part.block = 576;
    if (wrong == 1) part.rows = 3;
    if (wrong == 2) part.row_units = 2;
    if (wrong == 3) part.first_row = 4;
    bench.staged.add(part);
    bench.process([&] {
        bench.issue(isa::QueueId::Ring, bench.unit.queue(), isa::Collect{.destination = 100, .source = 0});
        bench.multicast({.parameters = 512, .rows = 4, .units = 1, .streamed = true});
    });
    bench.registers.set(isa::Register::SourceLines, 1);
    bench.registers.set(isa::Register::SourceColumns, 1);
    bench.registers.set(isa::Register::SourceChannels, 1);
    try {
        bench.run();
        FAIL("no error");
    } catch (const hw::InstructionError& error) {
        CHECK(error.number == 1);
        const std::string rows = wrong == 1 ? "0 to 2" : wrong == 3 ? "4 to 7" : "0 to 3";
        const std::string place = wrong == 0 ? "576" : "512";
        const std::string units = wrong == 2 ? "2" : "1";
        CHECK(error.what() ==
              "the next weights in the staging buffer are rows " + rows + " of the block at host byte " +
                  place + ", " + units +
                  " units each; it sends rows 0 to 3 of the one at host byte 512, 1 units each");
    }
}

TEST_CASE("Blocks go group by group and part by part, and all of them once for each repetition",
          "[hw][ring]") {
    RingBench bench(machine_of_ring(2));
    bench.process(
        [&] { bench.multicast({.parameters = 100, .rows = 10, .units = 1, .groups = 2, .repeats = 2}); });
    bench.take(12, 0);
    bench.run();
    std::vector<std::array<std::uint64_t, 3>> expected;
    for (int repeat = 0; repeat < 2; ++repeat) {
        for (const std::uint64_t block : {100U, 110U}) {
            expected.push_back({block, 0, 4});
            expected.push_back({block, 4, 4});
            expected.push_back({block, 8, 2});
        }
    }
    CHECK(bench.parts == expected);
    CHECK(bench.count("parameter_bytes") == 2 * 2 * 10 * 64);
}

TEST_CASE("docs/timing.md, \"Ring\": a thousand parts of 8192 bytes take 880,860 cycles at 9.3 bytes a cycle",
          "[hw][ring]") {
    const auto buffers = GENERATE(1U, 2U, 3U);
    CAPTURE(buffers);
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.weight_buffers = buffers;
    RingBench bench(machine);
    bench.process([&] {
        for (int i = 0; i < 2; ++i) {
            bench.multicast({.parameters = 0, .rows = 32, .units = 4, .groups = 5, .repeats = 100});
        }
    });
    bench.take(1000, 0);
    bench.run();
    std::vector<Cycle> expected;
    for (std::uint64_t i = 1; i <= 1000; ++i) expected.push_back(i * 8192 * 10 / 93);
    CHECK(bench.arrived == expected);
    CHECK(bench.arrived[0] == 880);
    CHECK(bench.arrived[999] == 880'860);
    CHECK(bench.count("busy_cycles") == 880'860);
}

TEST_CASE("Behind a pause, the ring begins at the beginning of a cycle", "[hw][ring]") {
    machine::MachineConfig machine = machine_of_ring(1);
    machine.ring.bytes_per_cycle = 24;  // 256 bytes take 10 2/3 cycles
    machine.ring.latency_cycles = 0;
    RingBench bench(machine);
    bench.process([&] { bench.multicast({.parameters = 0, .rows = 4, .units = 1, .groups = 4}); });
    SECTION("without a pause, thirds add up") {
        bench.take(4, 0);
        bench.run();
        CHECK(bench.arrived == std::vector<Cycle>{10, 21, 32, 42});
    }
    SECTION("a pause drops them") {
        bench.take(4, 1);
        bench.run();
        CHECK(bench.arrived == std::vector<Cycle>{10, 21, 32, 43});
    }
}

TEST_CASE("collect sends each element twice and needs no weight buffer", "[hw][ring]") {
    machine::MachineConfig machine = machine_of_ring(1);
    machine.tile_array.columns = 4;
    RingBench bench(machine, hw::Values::Computed);
    for (std::size_t tile = 0; tile < 4; ++tile) {
        for (std::size_t i = 0; i < 64; ++i) {
            bench.narrow.tiles[tile][i] = static_cast<std::uint8_t>(64 * tile + i);
        }
    }
    bench.registers.set(isa::Register::SourceLines, 1);
    bench.registers.set(isa::Register::SourceColumns, 5);
    bench.registers.set(isa::Register::SourceChannels, 16);
    bench.process([&] {
        // Nobody takes this part.
        bench.multicast({.parameters = 0, .rows = 4, .units = 1});
        bench.issue(isa::QueueId::Ring, bench.unit.queue(), isa::Collect{.destination = 512, .source = 0}, 7);
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 2);
    CHECK(bench.instructions[1].begun == cycles_of_part);
    CHECK(bench.instructions[1].released == cycles_of_part + 2 * 80 / 32);
    CHECK(bench.instructions[1].complete == bench.instructions[1].released + latency);
    CHECK(bench.count("vector_bytes") == 160);
    CHECK(bench.count("buffer_stall_cycles") == 0);
    CHECK(bench.narrow.reads == 80);
    CHECK(bench.narrow.writes == 80 * 4);
    bench.workers.finish();
    // Tiles own 2, 2, 1 and 0 pixels.
    for (const std::vector<std::uint8_t>& tile : bench.narrow.tiles) {
        for (std::size_t i = 0; i < 80; ++i) {
            CHECK(int(tile[512 + i]) == int(64 * (i / 32) + i % 32));
        }
    }
    bench.check_cycles();
}
