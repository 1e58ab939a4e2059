// docs/timing.md, "Tiles", on the tiles alone, with both engines: ring and memories are written in the test.
// The numbers are computed by hand.
#include "hw/tile_array/tile_array.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hw/common/order_checker.h"
#include "hw/isa/instruction.h"
#include "hw/machine/machine_config.h"
#include "tests/support/tile_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;
using isa::Register;

namespace {

constexpr Cycle result_cycles = 3;

/// 2 x 2 tiles of 16 lanes with sums for 4 pixels.
machine::MachineConfig machine_of_tiles(machine::TileEngine engine) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = 2;
    machine.tile_array.columns = 2;
    machine.tile_array.lanes = 16;
    machine.tile_array.engine = engine;
    machine.tile_array.pixels = 4;
    machine.tile_array.weight_buffer_rows = 4;
    machine.tile_array.depthwise_macs_per_cycle = 10;
    machine.tile_array.vector_bytes_per_cycle = 8;
    machine.tile_array.pooling_bytes_per_cycle = 16;
    machine.tile_array.result_cycles = result_cycles;
    machine.narrow_memory.bytes = 4096;
    machine.wide_memory.bytes = 65536;
    return machine;
}

machine::TileEngine any_tile_engine() {
    return GENERATE(machine::TileEngine::ClosedForm, machine::TileEngine::Lane);
}

struct TilesBench : tests::UnitBench {
    explicit TilesBench(machine::TileEngine engine) : UnitBench(machine_of_tiles(engine)) {
        // 3 x 5 pixels: the fullest tile has 2 x 3, the others 4, 3 and 2.
        set({{Register::SourceLines, 3},
             {Register::SourceColumns, 5},
             {Register::SourceChannels, 8},
             {Register::ResultLines, 3},
             {Register::ResultColumns, 5},
             {Register::ResultChannels, 16}});
    }

    void set(const std::vector<std::pair<Register, std::uint32_t>>& values) {
        for (const auto& [reg, value] : values) registers.set(reg, value);
    }
    /// The ring has a part of a block whose rows have one unit.
    void part(std::uint64_t block, std::uint64_t first_row, std::uint64_t rows, Cycle whole_at) {
        weights.add({.block = block,
                     .streamed = false,
                     .first_row = first_row,
                     .rows = rows,
                     .row_units = 1,
                     .whole_at = whole_at});
    }
    // For use in a process.
    void multiply(const isa::TileMultiply& multiply, hw::Tag tag = 0) {
        issue(isa::QueueId::Tiles, unit.queue(), multiply, tag);
    }
    void vector(const isa::TileVector& vector) { issue(isa::QueueId::Tiles, unit.queue(), vector); }

    std::uint64_t count(const std::string& path) const { return counter(unit, path).value(); }
    using Times = std::tuple<Cycle, Cycle, Cycle>;
    std::vector<Times> times() const {
        std::vector<Times> all;
        for (const hw::InstructionTimes& each : instructions) {
            all.emplace_back(each.begun, each.released, each.complete);
        }
        return all;
    }
    /// Every cycle of the run is in one of the counters, and every lane of every cycle of multiplying.
    void check_cycles() {
        unit.finish(clock.now(), 0);
        CHECK(cycles_of(unit, "tile_array") == clock.now());
        CHECK(count("tile_array.busy_cycles") ==
              count("tile_array.work.multiply_cycles") + count("tile_array.work.vector_cycles"));
        CHECK(count("tile_array.work.useful_macs") + count("tile_array.work.unused_macs") ==
              count("tile_array.work.multiply_cycles") * 4 * 16 * 4);
    }

    tests::BenchNarrow narrow{machine};
    tests::BenchWide wide{machine};
    tests::BenchHost host{1024};
    tests::BenchParts weights{clock};
    hw::TileArray unit{"tile_array", context, weights, {narrow, wide}, host};
};

using Times = TilesBench::Times;

}  // namespace

TEST_CASE("A part begins when it is whole, and leaves its buffer when all pixels with sums have met its rows",
          "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    // A row of biases and 5 of weights: parts of 4 and 2 rows, for 4 pixels, then for 2.
    bench.set({{Register::SourceChannels, 20}});
    bench.part(0, 0, 4, 20);
    bench.part(0, 4, 2, 25);
    bench.part(0, 0, 4, 60);
    bench.part(0, 4, 2, 66);
    bench.process([&] {
        bench.at(10);
        bench.multiply({.result = 1024, .source = 0}, 7);
    });
    bench.run();
    // 4 * 3 and 4 * 2 cycles, then 2 * 3 and 2 * 2.
    CHECK(bench.weights.released == std::vector<Cycle>{32, 40, 66, 70});
    CHECK(bench.times() == std::vector<Times>{{10, 70, 70 + result_cycles}});
    CHECK(bench.count("tile_array.busy_cycles") == 12 + 8 + 6 + 4);
    CHECK(bench.count("tile_array.ring_stall_cycles") == (20 - 10) + (60 - 40));
    CHECK(bench.count("tile_array.idle_cycles") == 10);
    CHECK(bench.counter(bench.unit, "tile_array.ring_stall_cycles").value(7) == 30);
    CHECK(bench.count("tile_array.work.useful_macs") == 15 * 16 * 20);
    CHECK(bench.count("tile_array.work.results") == 15 * 16);
    CHECK(bench.count("tile_array.macs.tile_0_0") == 6 * 16 * 20);
    CHECK(bench.count("tile_array.macs.tile_0_1") == 4 * 16 * 20);
    CHECK(bench.count("tile_array.macs.tile_1_0") == 3 * 16 * 20);
    CHECK(bench.count("tile_array.macs.tile_1_1") == 2 * 16 * 20);
    CHECK(bench.narrow.reads == 15 * 20);
    CHECK(bench.narrow.writes == 15 * 16);
    bench.check_cycles();
}

TEST_CASE("All groups come for each pixels that have sums, the last with the outputs that are left",
          "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    // 2 rows of weights; groups of 16 and 4 outputs.
    bench.set({{Register::ResultChannels, 20}});
    for (int repeat = 0; repeat < 2; ++repeat) {
        bench.part(100, 0, 3, 0);
        bench.part(103, 0, 3, 0);
    }
    bench.process([&] { bench.multiply({.result = 1024, .source = 0, .parameters = 100}); });
    bench.run();
    CHECK(bench.weights.released == std::vector<Cycle>{8, 16, 20, 24});
    CHECK(bench.count("tile_array.work.useful_macs") == 15 * 20 * 8);
    bench.check_cycles();
}

TEST_CASE("Parts of a depthwise product share a cycle", "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    // 3 weights of 16 outputs: 4 * 48 = 192 multiply-accumulates, then 2 * 48 = 96, at 10 a cycle.
    bench.set({{Register::ResultChannels, 16},
               {Register::SourceChannels, 8},
               {Register::SourceRight, 2},
               {Register::WindowKernelWidth, 3}});
    bench.part(0, 0, 2, 5);
    bench.part(0, 0, 2, 50);
    bench.process(
        [&] { bench.multiply({.product = isa::TileProduct::Depthwise, .result = 1024, .source = 0}); });
    bench.run();
    CHECK(bench.weights.released == std::vector<Cycle>{5 + 20, 50 + 9});
    CHECK(bench.count("tile_array.work.multiply_cycles") == 29);
    CHECK(bench.count("tile_array.work.useful_macs") == 15 * 16 * 3);
    CHECK(bench.narrow.reads == 15 * 16 * 3);
    bench.check_cycles();
}

TEST_CASE("A depthwise block of several parts takes each part's weights", "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    // 17 weights: 5 rows behind the biases. Parts with 12 and 5 of them; one pixel.
    bench.set({{Register::SourceLines, 1},
               {Register::SourceColumns, 1},
               {Register::SourceChannels, 2},
               {Register::SourceRight, 16},
               {Register::WindowKernelWidth, 17},
               {Register::ResultLines, 1},
               {Register::ResultColumns, 1},
               {Register::ResultChannels, 2}});
    bench.part(0, 0, 4, 0);
    bench.part(0, 4, 2, 10);
    bench.process(
        [&] { bench.multiply({.product = isa::TileProduct::Depthwise, .result = 1024, .source = 0}); });
    bench.run();
    // 24 and 10 multiply-accumulates at 10 a cycle: 2.4 and 3.4 cycles.
    CHECK(bench.weights.released == std::vector<Cycle>{3, 10 + 1});
    CHECK(bench.count("tile_array.busy_cycles") == 4);
    bench.check_cycles();
}

TEST_CASE("A dense product takes a cycle for each row of each pass, and nothing of the ring",
          "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    // 5 groups on 4 tiles; 3 rows of weights.
    bench.set({{Register::SourceChannels, 9}, {Register::ResultChannels, 80}});
    bench.process([&] {
        bench.multiply({.product = isa::TileProduct::Dense, .result = 1024, .source = 0, .parameters = 3});
    });
    bench.run();
    CHECK(bench.times() == std::vector<Times>{{0, 6, 6 + result_cycles}});
    CHECK(bench.weights.released.empty());
    CHECK(bench.count("tile_array.work.useful_macs") == 80 * 9);
    CHECK(bench.count("tile_array.macs.tile_0_0") == 2 * 16 * 9);
    CHECK(bench.count("tile_array.macs.tile_1_1") == 16 * 9);
    CHECK(bench.wide.reads == 5 * 4 * 64);
    CHECK(bench.narrow.reads == 5 * 3 * 4);
    bench.check_cycles();
}

TEST_CASE("Work without weights takes the fullest tile's elements; the next instruction begins behind it",
          "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    bench.set({{Register::SourceChannels, 3}, {Register::ResultChannels, 3}});
    bench.process([&] {
        // 6 * 3 elements at 8 a cycle.
        bench.vector({.operation = isa::TileOperation::Maximum, .result = 512, .source = 0, .other = 256});
        // 6 * 3 * 2 * 2 at 16 a cycle, also of windows that reach beyond the image.
        bench.set({{Register::WindowKernelHeight, 2},
                   {Register::WindowKernelWidth, 2},
                   {Register::SourceBottom, 1},
                   {Register::SourceRight, 1}});
        bench.vector({.operation = isa::TileOperation::MaxPool, .result = 512, .source = 0});
    });
    bench.run();
    CHECK(bench.times() == std::vector<Times>{{0, 3, 3 + result_cycles}, {3, 8, 8 + result_cycles}});
    CHECK(bench.count("tile_array.work.vector_cycles") == 3 + 5);
    CHECK(bench.count("tile_array.work.results") == 2 * 15 * 3);
    CHECK(bench.narrow.reads == 15 * 3 * 2 + 15 * 3 * 4);
    CHECK(bench.narrow.writes == 2 * 15 * 3);
    bench.check_cycles();
}

TEST_CASE("Lookups, softmax and interpolation take their reads of each element", "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    bench.set({{Register::SourceChannels, 3}, {Register::ResultChannels, 3}});
    bench.process([&] {
        // 6 * 3 elements at 8 a cycle; three times; four times at 16.
        bench.vector({.operation = isa::TileOperation::Lookup, .result = 512, .source = 0, .other = 4});
        bench.vector({.operation = isa::TileOperation::Softmax, .result = 512, .source = 0, .other = 4});
        bench.set({{Register::SourceTop, 2},
                   {Register::SourceBottom, 2},
                   {Register::SourceLeft, 3},
                   {Register::SourceRight, 3}});
        bench.vector({.operation = isa::TileOperation::Interpolate, .result = 2048, .source = 0});
    });
    bench.run();
    CHECK(bench.times() == std::vector<Times>{{0, 3, 3 + result_cycles},
                                              {3, 10, 10 + result_cycles},
                                              {10, 15, 15 + result_cycles}});
    CHECK(bench.count("tile_array.work.results") == 3 * 15 * 3);
    CHECK(bench.narrow.reads == 15 * 3 * (1 + 3 + 4));
    CHECK(bench.wide.reads == 15 * 3 * (1 + 8));
    bench.check_cycles();
}

TEST_CASE("Another block on the ring is an error that names both", "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    const auto wrong = GENERATE(0, 1, 2, 3, 4);
    CAPTURE(wrong);
    hw::WeightPart part{.block = 100, .first_row = 0, .rows = 3, .row_units = 1};
    std::string found = "rows 0 to 2 of the block at unit 100, 1 units each";
    if (wrong == 0) {
        part.block = 103;
        found = "rows 0 to 2 of the block at unit 103, 1 units each";
    } else if (wrong == 1) {
        part.rows = 2;
        found = "rows 0 to 1 of the block at unit 100, 1 units each";
    } else if (wrong == 2) {
        part.row_units = 2;
        found = "rows 0 to 2 of the block at unit 100, 2 units each";
    } else if (wrong == 3) {
        part.first_row = 4;
        found = "rows 4 to 6 of the block at unit 100, 1 units each";
    } else {
        part.streamed = true;
        found = "rows 0 to 2 of the block at host byte 100, 1 units each";
    }
    bench.weights.add(part);
    bench.process([&] {
        bench.multiply({.product = isa::TileProduct::Dense, .result = 2048, .source = 3072});
        bench.multiply({.result = 1024, .source = 0, .parameters = 100});
    });
    try {
        bench.run();
        FAIL("no error");
    } catch (const hw::InstructionError& error) {
        CHECK(error.number == 1);
        CHECK(error.what() == "the next weights on the ring are " + found +
                                  "; it needs rows 0 to 2 of the one at unit 100, 1 units each");
    }
}

TEST_CASE("A streamed product whose blocks lie in no buffer is an error", "[hw][tile_array]") {
    TilesBench bench(any_tile_engine());
    bench.process(
        [&] { bench.multiply({.streamed = true, .result = 1024, .source = 0, .parameters = 833}); });
    try {
        bench.run();
        FAIL("no error");
    } catch (const hw::InstructionError& error) {
        CHECK(std::string(error.what()) == "host bytes 833 to 1024 lie in none of the program's buffers");
    }
}
