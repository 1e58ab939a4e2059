// docs/timing.md, "Machines with a tensor core": the vector unit alone. The numbers are computed by hand.
#include "hw/vector_unit/vector_unit.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/chain.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;
using isa::Register;

namespace {

constexpr Cycle latency = 5;

/// Vectors of 2 x 4 words; two operations, one load and one store a cycle.
machine::MachineConfig machine_of_vectors() {
    machine::MachineConfig machine = tests::small_core();
    machine.vector_unit.function_operations = 6;
    machine.vector_unit.latency_cycles = latency;
    return machine;
}

/// Chain 0 adds two sources, chain 1 is 1 - exp(a), with a result in bfloat16, and chain 2 adds to the
/// result.
isa::Program program_of_chains() {
    isa::Program program;
    program.geometry = {.rows = 4, .columns = 4, .tensor = {.lanes = 4}};
    program.chains.push_back({.name = "add",
                              .sources = {{}, {.spread = isa::Spread::Row}},
                              .steps = {{.operation = WordOperation::Add, .operands = {0, 1}}},
                              .results = {{.value = 2}}});
    program.chains.push_back({.name = "function",
                              .sources = {{}},
                              .steps = {{.operation = WordOperation::Exp, .operands = {0}},
                                        {.operation = WordOperation::Constant, .constant = 0x3F800000},
                                        {.operation = WordOperation::Subtract, .operands = {2, 1}}},
                              .results = {{.value = 3, .packed = true}}});
    program.chains.push_back({.name = "tap",
                              .sources = {{}, {.spread = isa::Spread::Result}},
                              .steps = {{.operation = WordOperation::Add, .operands = {0, 1}}},
                              .results = {{.value = 2}}});
    return program;
}

struct VectorBench : tests::UnitBench {
    explicit VectorBench(hw::Values values = hw::Values::TimingOnly)
        : UnitBench(machine_of_vectors(), values) {
        program = &chains;
    }

    /// For use in a process.
    void add(const isa::Instruction& instruction) { issue(isa::QueueId::Vector, unit.queue(), instruction); }
    std::uint64_t count(const std::string& name) const {
        return counter(unit, "vector_unit." + name).value();
    }

    const isa::Program chains = program_of_chains();
    tests::BenchWords memory{64, 4};
    hw::VectorUnit unit{"vector_unit", context, chains, memory};
};

}  // namespace

TEST_CASE("A chain takes the cycles of its operations, its loads or its stores, whichever are most",
          "[hw][vector_unit]") {
    VectorBench bench;
    bench.process([&] {
        bench.at(10);
        // 5 x 6 elements are 3 vectors of rows for each of 2 panels; the row of the other source is a vector
        // for each panel.
        bench.add(isa::RunChain{.chain = 0, .rows = 5, .columns = 6, .results = {40}, .sources = {0, 20}});
        // 6 + 1 + 1 operations for each of 2 vectors: 16, at 2 a cycle.
        bench.add(isa::RunChain{.chain = 1, .rows = 4, .columns = 4, .results = {50}, .sources = {0}});
        // Two sources of 2 vectors each.
        bench.add(isa::RunChain{.chain = 2, .rows = 4, .columns = 4, .results = {60}, .sources = {0}});
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 3);
    const Cycle first = 10 + (6 + 2);  // loads
    CHECK(bench.instructions[0].begun == 10);
    CHECK(bench.instructions[0].released == first);
    CHECK(bench.instructions[0].complete == first + latency);
    CHECK(bench.instructions[1].begun == first);  // it needs nothing of the first
    CHECK(bench.instructions[1].released == first + 8);
    CHECK(bench.instructions[2].released == first + 8 + 4);
    CHECK(bench.count("operations") == 6 + 16 + 2);
    CHECK(bench.count("loads") == 8 + 2 + 4);
    CHECK(bench.count("stores") == 6 + 2 + 2);
    CHECK(bench.count("work.chain_cycles") == 20);
    bench.unit.finish(60, 0);
    CHECK(bench.cycles_of(bench.unit, "vector_unit") == 60);
    constexpr std::uint64_t vector_bytes = 2 * 4 * 4;
    CHECK(bench.memory.reads == 14 * vector_bytes);
    CHECK(bench.memory.writes == 10 * vector_bytes);
    CHECK(bench.memory.used == 64);
}

TEST_CASE("A reduction of rows takes an operation for each vector, and those between sublanes for each block",
          "[hw][vector_unit]") {
    VectorBench bench;
    bench.process([&] {
        // 9 rows are blocks of 4, 4 and 1, and 5 vectors; a block takes one operation between 2 sublanes.
        bench.add(isa::ReduceRows{.result = 40, .source = 0, .rows = 9, .columns = 4});
    });
    bench.run();
    CHECK(bench.count("operations") == 5 + 3);
    CHECK(bench.count("loads") == 5);
    CHECK(bench.instructions.at(0).released == 5);
    CHECK(bench.count("work.reduction_cycles") == 5);
}

TEST_CASE("An instruction waits until the rows that it reads have been written", "[hw][vector_unit]") {
    VectorBench bench;
    bench.process([&] {
        bench.add(isa::RunChain{.chain = 0, .rows = 4, .columns = 4, .results = {8}, .sources = {0, 20}});
        bench.add(isa::RunChain{.chain = 0, .rows = 4, .columns = 4, .results = {30}, .sources = {8, 20}});
    });
    bench.run();
    CHECK(bench.instructions.at(0).released == 3);
    CHECK(bench.instructions.at(1).begun == 3 + latency);
    CHECK(bench.count("drain_cycles") == latency);
}

TEST_CASE("Chains and reductions compute the words that the instruction set says", "[hw][vector_unit]") {
    VectorBench bench(hw::Values::Computed);
    bench.memory.count_up();
    for (std::size_t lane = 0; lane < 4; ++lane) bench.memory.set(60, lane, 0.0F);
    bench.process([&] {
        bench.add(isa::RunChain{.chain = 0, .rows = 3, .columns = 3, .results = {40}, .sources = {0, 20}});
        bench.add(isa::RunChain{.chain = 1, .rows = 1, .columns = 2, .results = {50}, .sources = {60}});
        bench.add(isa::ReduceRows{.result = 55, .source = 0, .rows = 9, .columns = 2});
        bench.add(isa::ReduceRows{.reduction = Reduction::Maximum,
                                  .accumulate = true,
                                  .result = 55,
                                  .source = 20,
                                  .rows = 2,
                                  .columns = 1});
    });
    bench.run();
    CHECK(bench.memory.number(40, 0) == 1 + 81);
    CHECK(bench.memory.number(42, 2) == 11 + 83);
    CHECK(bench.memory.number(42, 3) == 172);  // behind the last column
    // 1 - e^0 = 0 in the lower half; the upper half stays.
    CHECK(bench.memory.words[50 * 4] == (std::uint32_t{0x43490000} & 0xFFFF0000));
    CHECK(bench.memory.number(55, 1) == 9 * 2 + 4 * 36);
    CHECK(bench.memory.number(55, 0) == 9 + 4 * 36);
}

TEST_CASE("Whole numbers are reduced by rows, whatever floats they would be, in the time of floats",
          "[hw][vector_unit]") {
    // Blocks of 4 and 2 rows: NaN with a message, signalling, and subnormal as floats.
    const std::vector<std::uint32_t> words{0x7FC00001, 0xFF812345, 0x00000001,
                                           0x807FFFFF, 0x00000003, 0xFFC00005};
    const std::vector<std::uint32_t> expected{
        words[0] + words[1] + words[2] + words[3] + words[4] + words[5],
        words[0] * words[1] * words[2] * words[3] * words[4] * words[5],
        0x7FC00001,
        0x807FFFFF,
        0xFFC00005,
        0x00000001,
        words[0] & words[1] & words[2] & words[3] & words[4] & words[5],
        words[0] | words[1] | words[2] | words[3] | words[4] | words[5],
        words[0] ^ words[1] ^ words[2] ^ words[3] ^ words[4] ^ words[5],
    };
    VectorBench bench(hw::Values::Computed);
    for (std::size_t row = 0; row < words.size(); ++row) bench.memory.words[row * 4 + 2] = words[row];
    bench.memory.words[41 * 4] = 0x7F800001;
    bench.process([&] {
        for (std::size_t number = 0; number < reduction_count; ++number) {
            bench.add(isa::ReduceRows{.reduction = static_cast<Reduction>(number),
                                      .result = static_cast<std::uint32_t>(20 + number),
                                      .source = 0,
                                      .rows = 6,
                                      .columns = 3});
        }
        // One more number for what is there, and one number alone.
        bench.add(isa::ReduceRows{.reduction = Reduction::SumInt,
                                  .accumulate = true,
                                  .result = 24,
                                  .source = 5,
                                  .rows = 1,
                                  .columns = 3});
        bench.add(isa::ReduceRows{
            .reduction = Reduction::Sum, .result = 40, .source = 41, .rows = 1, .columns = 1});
    });
    bench.run();
    for (std::size_t i = 1; i < expected.size(); ++i) {
        INFO(reduction_names.at(4 + i));
        CHECK(bench.memory.words[(24 + i) * 4 + 2] == expected[i]);
    }
    CHECK(bench.memory.words[24 * 4 + 2] == expected[0] + words[5]);
    CHECK(bench.memory.words[40 * 4] == 0x7F800001);
    const auto time = [&](std::size_t number) {
        return bench.instructions.at(number).released - bench.instructions.at(number).begun;
    };
    for (std::size_t number = 1; number < reduction_count; ++number) CHECK(time(number) == time(0));
}
