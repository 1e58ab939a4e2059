// docs/timing.md, "Mesh", on the mesh alone: the narrow memories are written in the test. The numbers are
// computed by hand.
#include "hw/mesh/mesh.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "tests/support/tile_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;
using isa::Register;

namespace {

constexpr Cycle mesh_latency = 5;

machine::MachineConfig machine_of_mesh(std::uint32_t lines, std::uint32_t columns) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = lines;
    machine.tile_array.columns = columns;
    machine.mesh.bytes_per_cycle = 4;
    machine.mesh.latency_cycles = mesh_latency;
    machine.narrow_memory.bytes = 512;
    machine.wide_memory.bytes = 64;
    return machine;
}

struct MeshBench : tests::UnitBench {
    explicit MeshBench(const machine::MachineConfig& its, hw::Values values = hw::Values::TimingOnly)
        : UnitBench(its, values) {}

    void set(const std::vector<std::pair<Register, std::uint32_t>>& values) {
        for (const auto& [reg, value] : values) registers.set(reg, value);
    }
    /// For use in a process.
    void exchange(std::uint32_t address, hw::Tag tag = 0) {
        issue(isa::QueueId::Mesh, unit.queue(), isa::Exchange{.address = address}, tag);
    }
    std::uint64_t count(const std::string& name) const { return counter(unit, "mesh." + name).value(); }

    tests::BenchNarrow narrow{machine};
    hw::Mesh unit{"mesh", context, narrow};
};

}  // namespace

TEST_CASE("An exchange takes the bytes of the busiest links, up and down, then left and right",
          "[hw][mesh]") {
    MeshBench bench(machine_of_mesh(2, 2));
    // Patches of 3 x 3 pixels of 4 bytes.
    bench.set({{Register::SourceLines, 6}, {Register::SourceColumns, 6}, {Register::SourceChannels, 4}});
    bench.process([&] {
        bench.at(10);
        bench.exchange(0);  // no margins
        bench.set({{Register::SourceTop, 1}, {Register::SourceBottom, 2}});
        bench.exchange(0);  // 2 lines of 3 pixels
        bench.set({{Register::SourceLeft, 1}, {Register::SourceRight, 0}});
        bench.exchange(0);  // and 1 column of 3 + 1 + 2 pixels
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 3);
    const std::vector<Cycle> begun{10, 10, 16};
    const std::vector<Cycle> cycles{0, 2 * 3 * 4 / 4, (2 * 3 + 6) * 4 / 4};
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        const hw::InstructionTimes& times = bench.instructions[i];
        CHECK(times.begun == begun[i]);
        CHECK(times.released == begun[i] + cycles[i]);
        CHECK(times.complete == times.released + mesh_latency);
    }
    CHECK(bench.count("busy_cycles") == 6 + 12);
    CHECK(bench.count("idle_cycles") == 10);
    // The upper tiles get 2 lines of 3 pixels, the lower ones 1. With the margin on the left, the right
    // tiles get a column of 5 or 4 pixels more.
    const std::uint64_t up_and_down = 2 * (2 * 3 + 1 * 3) * 4;
    CHECK(bench.count("bytes") == 2 * up_and_down + (5 + 4) * 4);
    CHECK(bench.narrow.reads == bench.count("bytes"));
    CHECK(bench.narrow.writes == bench.count("bytes"));
    bench.unit.finish(50, 0);
    CHECK(bench.cycles_of(bench.unit, "mesh") == 50);
}

TEST_CASE("An exchange ends in the cycle in which its last byte moves, and the next begins anew",
          "[hw][mesh]") {
    MeshBench bench(machine_of_mesh(2, 1));
    // 2 lines of 3 bytes each up and down: 6 bytes, 1.5 cycles.
    bench.set({{Register::SourceLines, 4},
               {Register::SourceColumns, 3},
               {Register::SourceChannels, 1},
               {Register::SourceTop, 2}});
    bench.process([&] {
        for (int i = 0; i < 3; ++i) bench.exchange(0);
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 3);
    CHECK(bench.instructions[0].released == 1);
    CHECK(bench.instructions[1].released == 2);
    CHECK(bench.instructions[2].released == 3);
}

TEST_CASE("An exchange fills margins and what is cut off from patches", "[hw][mesh]") {
    MeshBench bench(machine_of_mesh(2, 2), hw::Values::Computed);
    // docs/isa.md, "Tensors over tiles": 3 x 5 pixels, top 1 and left 1, here of 1 channel in 2 bytes.
    bench.set({{Register::SourceLines, 3},
               {Register::SourceColumns, 5},
               {Register::SourceChannels, 1},
               {Register::SourcePixelBytes, 2},
               {Register::SourceTop, 1},
               {Register::SourceLeft, 1},
               {Register::WindowPadValue, 0x1ff}});
    constexpr std::uint64_t address = 8;
    const auto at = [&](std::size_t tile, std::size_t line, std::size_t column) -> std::uint8_t& {
        return bench.narrow.tiles[tile][address + (line * 4 + column) * 2];
    };
    for (auto& tile : bench.narrow.tiles) std::fill(tile.begin(), tile.end(), std::uint8_t{0xee});
    for (std::uint8_t line = 0; line < 3; ++line) {
        for (std::uint8_t column = 0; column < 5; ++column) {
            at(line / 2U * 2 + column / 3U, 1 + line % 2U, 1 + column % 3U) =
                static_cast<std::uint8_t>(10 * line + column);
        }
    }
    bench.process([&] { bench.exchange(address); });
    bench.run();
    bench.workers.finish();
    const auto stored = [&](std::size_t tile) {
        std::vector<int> pixels;
        for (std::size_t line = 0; line < 3; ++line) {
            for (std::size_t column = 0; column < 4; ++column) pixels.push_back(at(tile, line, column));
        }
        return pixels;
    };
    const int o = 0xff;  // outside
    CHECK(stored(0) == std::vector<int>{o, o, o, o, o, 0, 1, 2, o, 10, 11, 12});
    CHECK(stored(1) == std::vector<int>{o, o, o, o, 2, 3, 4, o, 12, 13, 14, o});
    CHECK(stored(2) == std::vector<int>{o, 10, 11, 12, o, 20, 21, 22, o, o, o, o});
    CHECK(stored(3) == std::vector<int>{12, 13, 14, o, 22, 23, 24, o, o, o, o, o});
    for (const auto& tile : bench.narrow.tiles) {
        CHECK(tile[address - 1] == 0xee);
        CHECK(tile[address + 1] == 0xee);                    // between pixels
        CHECK(tile[address + (3 * 4 - 1) * 2 + 1] == 0xee);  // behind the last
    }
}

TEST_CASE("A move takes the busiest links, and at least what the fullest tile writes", "[hw][mesh]") {
    MeshBench bench(machine_of_mesh(2, 2));
    const auto move = [&](bool keeps) {
        bench.issue(isa::QueueId::Mesh, bench.unit.queue(),
                    isa::Move{.keeps = keeps, .result = 256, .source = 0}, 3);
    };
    bench.set({{Register::SourceLines, 4},
               {Register::SourceColumns, 4},
               {Register::SourceChannels, 4},
               {Register::ResultChannels, 4}});
    bench.process([&] {
        // A border of one pixel: patches of 2 x 2 become some of 3 x 3, and none changes its tile.
        bench.set({{Register::ResultLines, 6},
                   {Register::ResultColumns, 6},
                   {Register::WindowPadTop, 1},
                   {Register::WindowPadLeft, 1}});
        move(false);
        move(true);
        // The last 2 x 2 pixels, of one tile: a line of 2 goes up, then a column of 1 left.
        bench.set({{Register::ResultLines, 2},
                   {Register::ResultColumns, 2},
                   {Register::WindowPadTop, static_cast<std::uint32_t>(-2)},
                   {Register::WindowPadLeft, static_cast<std::uint32_t>(-2)}});
        move(false);
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 3);
    const std::vector<Cycle> cycles{9, 4, 3};
    Cycle begun = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        CHECK(bench.instructions[i].begun == begun);
        CHECK(bench.instructions[i].released == begun + cycles[i]);
        CHECK(bench.instructions[i].complete == begun + cycles[i] + mesh_latency);
        begun += cycles[i];
    }
    CHECK(bench.count("busy_cycles") == 9 + 4 + 3);
    CHECK(bench.count("bytes") == 3 * 4);
    CHECK(bench.narrow.reads == (16 + 16 + 4) * 4);
    CHECK(bench.narrow.writes == (36 + 16 + 4) * 4);
}
