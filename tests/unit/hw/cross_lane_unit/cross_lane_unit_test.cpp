// docs/timing.md, "Machines with a tensor core": the unit between lanes alone. The numbers are computed by
// hand.
#include "hw/cross_lane_unit/cross_lane_unit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/instruction.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

constexpr Cycle latency = 20;

machine::MachineConfig machine_between_lanes() {
    machine::MachineConfig machine = tests::small_core();  // vectors of 2 x 4 words
    machine.cross_lane_unit.latency_cycles = latency;
    return machine;
}

struct CrossLaneBench : tests::UnitBench {
    explicit CrossLaneBench(hw::Values values = hw::Values::TimingOnly)
        : UnitBench(machine_between_lanes(), values) {}

    /// For use in a process.
    void add(const isa::Instruction& instruction) {
        issue(isa::QueueId::CrossLane, unit.queue(), instruction);
    }
    std::uint64_t count(const std::string& name) const {
        return counter(unit, "cross_lane_unit." + name).value();
    }

    tests::BenchWords memory{64, 4};
    hw::CrossLaneUnit unit{"cross_lane_unit", context, memory};
};

}  // namespace

TEST_CASE("Vectors pass between lanes one a cycle, and results come a latency later", "[hw][cross_lane]") {
    CrossLaneBench bench;
    bench.process([&] {
        bench.at(10);
        bench.add(isa::ReduceLanes{.result = 50, .source = 0, .rows = 5, .columns = 9});  // 3 x 3 vectors
        bench.add(isa::Transpose{.result = 40, .source = 20, .rows = 1, .columns = 4});   // 1 in, 2 out
        bench.add(isa::Transpose{.result = 30, .source = 40, .rows = 4, .columns = 1});   // of its result
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 3);
    CHECK(bench.instructions[0].begun == 10);
    CHECK(bench.instructions[0].released == 19);
    CHECK(bench.instructions[0].complete == 19 + latency);
    CHECK(bench.instructions[1].begun == 19);
    CHECK(bench.instructions[1].released == 21);
    CHECK(bench.instructions[2].begun == 21 + latency);
    CHECK(bench.count("drain_cycles") == latency);
    CHECK(bench.count("vectors") == 9 + 2 + 2);
    bench.unit.finish(90, 0);
    CHECK(bench.cycles_of(bench.unit, "cross_lane_unit") == 90);
}

TEST_CASE("Columns that move take a vector for each panel that they leave or reach", "[hw][cross_lane]") {
    CrossLaneBench bench(hw::Values::Computed);
    bench.memory.count_up();
    bench.process([&] {
        bench.at(10);
        // 3 rows are 2 vectors a panel. Columns 1 to 6 are in 2 panels, and 3 to 8 in 3.
        bench.add(isa::MoveLanes{.result = 40, .source = 20, .rows = 3, .columns = 6, .first = 1, .to = 3});
        bench.add(isa::MoveLanes{.result = 55, .source = 20, .rows = 2, .columns = 4, .first = 7, .to = 0});
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 2);
    CHECK(bench.instructions[0].begun == 10);
    CHECK(bench.instructions[0].released == 16);
    CHECK(bench.instructions[0].complete == 16 + latency);
    CHECK(bench.instructions[1].released == 18);
    CHECK(bench.count("vectors") == 6 + 2);
    // Element (row, column) of the source is 81 + 4 * row + 12 * (column / 4) + column % 4.
    CHECK(bench.memory.number(40, 2) == 163);  // before the first column
    CHECK(bench.memory.number(40, 3) == 82);
    CHECK(bench.memory.number(43, 0) == 83);
    CHECK(bench.memory.number(44, 2) == 97);
    CHECK(bench.memory.number(48, 0) == 103);
    CHECK(bench.memory.number(48, 1) == 194);  // behind the last one
    // Panels of 2 rows: columns 7 and 8 to 10.
    CHECK(bench.memory.number(55, 0) == 92);
    CHECK(bench.memory.number(55, 1) == 97);
    CHECK(bench.memory.number(56, 3) == 103);
}

TEST_CASE("Lanes are reduced to one number for all of them, and rows become columns", "[hw][cross_lane]") {
    CrossLaneBench bench(hw::Values::Computed);
    bench.memory.count_up();
    bench.process([&] {
        bench.add(isa::ReduceLanes{.result = 50, .source = 0, .rows = 2, .columns = 6});
        bench.add(isa::Transpose{.result = 40, .source = 20, .rows = 2, .columns = 3});
    });
    bench.run();
    // Columns 4 and 5 are in the second panel, which begins two rows below.
    for (std::size_t lane = 0; lane < 4; ++lane) {
        CHECK(bench.memory.number(50, lane) == (1 + 2 + 3 + 4) + (9 + 10));
        CHECK(bench.memory.number(51, lane) == (5 + 6 + 7 + 8) + (13 + 14));
    }
    CHECK(bench.memory.number(40, 0) == 81);
    CHECK(bench.memory.number(40, 1) == 85);
    CHECK(bench.memory.number(42, 1) == 87);
    CHECK(bench.memory.number(40, 2) == 163);  // behind the last row
}

TEST_CASE("Whole numbers keep their bits between lanes, whatever floats they would be", "[hw][cross_lane]") {
    // NaN with a message, signalling, and subnormal as floats.
    const std::vector<std::uint32_t> words{0x7FC00001, 0xFF812345, 0x00000001, 0x807FFFFF};
    CrossLaneBench bench(hw::Values::Computed);
    std::ranges::copy(words, bench.memory.words.begin());
    std::ranges::fill_n(bench.memory.words.begin() + 4 * 4, 4, 0xFFFFFFFF);
    bench.process([&] {
        bench.add(isa::MoveLanes{.result = 10, .source = 0, .rows = 1, .columns = 4, .to = 1});
        bench.add(isa::ReduceLanes{
            .reduction = Reduction::Maximum, .result = 20, .source = 0, .rows = 1, .columns = 1});
        std::uint32_t row = 30;
        for (std::size_t number = 4; number < reduction_count; ++number, ++row) {
            bench.add(isa::ReduceLanes{.reduction = static_cast<Reduction>(number),
                                       .result = row,
                                       .source = 0,
                                       .rows = 1,
                                       .columns = 4});
        }
        // A second panel, 4 rows below the first.
        bench.registers.set(isa::Register::SourcePanelRows, 4);
        bench.add(isa::ReduceLanes{
            .reduction = Reduction::Xor, .result = 50, .source = 0, .rows = 1, .columns = 5});
    });
    bench.run();
    const auto word = [&](std::size_t row, std::size_t lane) { return bench.memory.words[row * 4 + lane]; };
    for (std::size_t lane = 0; lane < 3; ++lane) CHECK(word(10, lane + 1) == words[lane]);
    CHECK(word(11, 0) == words[3]);  // the second panel
    CHECK(word(20, 3) == words[0]);  // one number, which nothing is done with
    std::uint32_t product = 1;
    for (const std::uint32_t each : words) product *= each;
    const std::vector<std::uint32_t> expected{
        words[0] + words[1] + words[2] + words[3],
        product,
        0x7FC00001,
        0x807FFFFF,
        0xFF812345,
        0x00000001,
        words[0] & words[1] & words[2] & words[3],
        words[0] | words[1] | words[2] | words[3],
        words[0] ^ words[1] ^ words[2] ^ words[3],
    };
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(reduction_names.at(4 + i));
        for (std::size_t lane = 0; lane < 4; ++lane) CHECK(word(30 + i, lane) == expected[i]);
    }
    CHECK(word(50, 0) == ~expected.back());
}

TEST_CASE("All reductions of lanes take the same time", "[hw][cross_lane]") {
    CrossLaneBench bench;
    bench.process([&] {
        for (std::size_t number = 0; number < reduction_count; ++number) {
            bench.add(isa::ReduceLanes{.reduction = static_cast<Reduction>(number),
                                       .result = 50,
                                       .source = 0,
                                       .rows = 5,
                                       .columns = 9});
        }
    });
    bench.run();
    REQUIRE(bench.instructions.size() == reduction_count);
    for (const auto& each : bench.instructions) CHECK(each.released - each.begun == 9);  // 3 x 3 vectors
}
