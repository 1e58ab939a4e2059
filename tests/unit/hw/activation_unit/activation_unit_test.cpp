// Rule 7 of docs/timing.md, and the ports of rule 6, on the activation unit alone. The numbers are computed
// by hand from the rules.
#include "hw/activation_unit/activation_unit.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/order_checker.h"
#include "hw/common/ports.h"
#include "hw/common/wait_history.h"
#include "hw/isa/access_history.h"
#include "hw/isa/instruction.h"
#include "hw/isa/queue.h"
#include "hw/isa/registers.h"
#include "hw/isa/row_range.h"
#include "hw/machine/machine_config.h"
#include "tests/support/unit_bench.h"
#include "tests/support/unit_neighbours.h"

using namespace systole;
using Activity = hw::UnitHistory::Activity;

namespace {

constexpr Cycle latency = 3;

/// Rows of the buffer have 4 bytes, those of the accumulators 3 sums; two banks of 16 rows.
machine::MachineConfig machine_of_activations() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 3;
    machine.unified_buffer.rows = 128;
    machine.accumulators.rows = 32;
    machine.accumulators.banks = 2;
    machine.activation_unit.latency_cycles = latency;
    return machine;
}

struct ActivationBench : tests::UnitBench {
    explicit ActivationBench(const machine::MachineConfig& its = machine_of_activations(),
                             hw::Values values = hw::Values::TimingOnly)
        : UnitBench(its, values) {
        registers.set(isa::Register::ActivationColumns, 3);
        registers.set(isa::Register::ActivationPixelBytes, 4);
        registers.set(isa::Register::ActivationOutputsPerImage, 100);
        registers.set(isa::Register::ActivationParametersRow, 50);
        registers.set(isa::Register::OutputMaximum, 255);
    }

    /// For use in a process.
    void issue_to_unit(const isa::Instruction& instruction, hw::Tag tag = 0) {
        issue(isa::QueueId::Activation, unit.queue(), instruction, tag);
    }
    /// Issues the instructions in cycle 0 and runs them.
    void run_all(const std::vector<isa::Instruction>& all) {
        process([this, all] {
            for (const isa::Instruction& instruction : all) issue_to_unit(instruction);
        });
        run();
    }
    std::vector<Cycle> begun() const {
        std::vector<Cycle> cycles;
        for (const hw::InstructionTimes& times : instructions) cycles.push_back(times.begun);
        return cycles;
    }

    tests::BenchBuffer buffer{machine};
    tests::BenchAccumulators accumulators{machine};
    hw::ActivationUnit unit{"unit", context, accumulators, buffer};
};

isa::Activate activate(std::uint16_t accumulator_row, std::uint32_t row, std::uint16_t length) {
    return {.accumulator_row = accumulator_row, .unified_buffer_row = row, .length = length};
}

}  // namespace

TEST_CASE("Rows take a cycle for each buffer access and are written the latency after their cycle",
          "[hw][activation_unit]") {
    ActivationBench bench;
    bench.registers.set(isa::Register::ActivationPixelBytes, 6);
    isa::Activate wide = activate(16, 8, 2);
    wide.output = DataType::Int16;
    isa::Activate load = activate(0, 16, 5);
    load.load_parameters = true;
    bench.run_all({activate(8, 0, 3), wide, load,
                   isa::Vector{.destination_row = 32, .source_row = 16, .other_row = 0, .length = 3}});
    REQUIRE(bench.instructions.size() == 4);
    struct Expected {
        Cycle begun, loaded, released, complete;
    };
    // 3 rows of 3 bytes; 2 rows of 6 bytes; 27 bytes of parameters and 5 rows; 2 operands of 3 rows, which
    // wait until the results of the instruction before are written.
    const std::vector<Expected> expected{{0, 0, 3, 6}, {3, 3, 7, 10}, {7, 14, 19, 22}, {22, 22, 28, 31}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        CHECK(bench.instructions[i].begun == expected[i].begun);
        CHECK(bench.instructions[i].loaded == expected[i].loaded);
        CHECK(bench.instructions[i].released == expected[i].released);
        CHECK(bench.instructions[i].complete == expected[i].complete);
    }
    const hw::ActivationUnitCounters& counters = bench.unit.counters();
    CHECK(counters.busy_cycles.value() == 3 + 4 + 12 + 6);
    CHECK(counters.drain_cycles.value() == 22 - 19);
    CHECK(counters.port_stall_cycles.value() == 0);
    CHECK(counters.rows.value() == 3 + 2 + 5);
    CHECK(counters.vector_rows.value() == 3);
    CHECK(counters.elements.value() == 3 * 3 + 2 * 3 + 5 * 3);
    CHECK(counters.operand_elements.value() == 2 * 3 * 4);
    CHECK(counters.buffer_reads.value() == 7 + 6);
    CHECK(counters.buffer_writes.value() == 3 + 4 + 5 + 3);
    CHECK(bench.buffer.reads == 7 + 6);
    CHECK(bench.buffer.writes == 3 + 4 + 5 + 3);
    CHECK(bench.accumulators.reads == 3 + 2 + 5);
    // Pixels are 6 bytes apart: they reach over 15, 12 and 27 bytes.
    CHECK(bench.buffer.written_rows == std::vector<isa::RowRange>{{0, 4}, {8, 11}, {16, 23}, {32, 35}});
}

TEST_CASE("An instruction waits only for earlier writes of rows that it reads", "[hw][activation_unit]") {
    const bool reads = GENERATE(true, false);
    ActivationBench bench;
    // Rows 0 to 2 are complete in cycle 3 + latency.
    bench.run_all(
        {activate(0, 0, 3),
         isa::Vector{.destination_row = 32, .source_row = reads ? 2U : 3U, .other_row = 40, .length = 1}});
    CHECK(bench.begun() == std::vector<Cycle>{0, reads ? 3 + latency : 3});
    CHECK(bench.unit.counters().drain_cycles.value() == (reads ? latency : 0));
}

TEST_CASE("Activation waits for the port of the bank that it reads, and for no other bank",
          "[hw][activation_unit]") {
    machine::MachineConfig machine = machine_of_activations();
    machine.accumulators.ports = 1;
    struct Case {
        std::uint16_t row;
        Cycle loads;
        Cycle begun;
    };
    // 27 bytes of parameters are loaded in 7 cycles, before the rows are read.
    const auto c = GENERATE(Case{0, 0, 10}, Case{15, 0, 10}, Case{16, 0, 1}, Case{0, 7, 10 - 7});
    CAPTURE(c.row, c.loads);
    ActivationBench bench(machine);
    // The matrix unit writes bank 0 in the cycles before 10.
    bench.process(
        [&] { bench.ports.acquire(hw::matrix_user, {{.port = hw::first_bank_port, .cycles = 10}}); });
    bench.process([&] {
        bench.at(1);
        isa::Activate instruction = activate(c.row, 0, 2);
        instruction.load_parameters = c.loads > 0;
        bench.issue_to_unit(instruction, 5);
    });
    bench.run();
    CHECK(bench.begun() == std::vector<Cycle>{c.begun});
    CHECK(bench.unit.counters().idle_cycles.value() == 1);
    CHECK(bench.unit.counters().port_stall_cycles.value(5) == c.begun - 1);
    CHECK(bench.unit.counters().busy_cycles.value(5) == c.loads + 2);
}

TEST_CASE("Activation takes the buffer's ports in the cycles of its rows", "[hw][activation_unit]") {
    machine::MachineConfig machine = machine_of_activations();
    machine.unified_buffer.read_ports = 1;
    machine.unified_buffer.write_ports = 1;
    ActivationBench bench(machine);
    // The host's data pass the write port in the cycles before 8.
    bench.process(
        [&] { bench.ports.acquire(hw::host_read_user, {{.port = hw::buffer_write_port, .cycles = 8}}); });
    isa::Activate load = activate(0, 0, 4);
    load.load_parameters = true;
    Cycle host_begins = 0;
    Cycle matrix_begins = 0;
    bench.process([&] {
        bench.at(1);
        bench.issue_to_unit(activate(0, 8, 2));
        bench.issue_to_unit(load);
    });
    // Two rows are written from cycle 8 on: the first begins in cycle 8 - latency = 5. The second follows in
    // cycle 7, reads 27 bytes of parameters in 7 cycles, and writes its 4 rows in the cycles from 17 to 20.
    bench.process([&] {
        bench.at(8);
        bench.ports.acquire(hw::host_read_user, {{.port = hw::buffer_write_port, .cycles = 8}});
        host_begins = bench.clock.now();
    });
    bench.process([&] {
        bench.at(8);
        bench.ports.acquire(hw::matrix_user, {{.port = hw::buffer_read_port, .cycles = 1}});
        matrix_begins = bench.clock.now();
    });
    bench.run();
    CHECK(bench.begun() == std::vector<Cycle>{5, 7});
    CHECK(bench.unit.counters().port_stall_cycles.value() == 5 - 1);
    CHECK(matrix_begins == 7 + 7);
    CHECK(host_begins == 21);  // from cycle 10 to 17 the port is free for 7 cycles
}

TEST_CASE("A sync holds activation, and what it signals takes effect when its rows are written",
          "[hw][activation_unit]") {
    constexpr auto matrix = static_cast<std::size_t>(isa::QueueId::Matrix);
    constexpr auto host_write = static_cast<std::size_t>(isa::QueueId::HostWrite);
    ActivationBench bench;
    bench.process([&] {
        bench.issue(bench.unit.queue(), hw::Command::Kind::Wait, 1, 3);
        bench.issue_to_unit(activate(0, 0, 4), 3);
        bench.issue(bench.unit.queue(), hw::Command::Kind::Signal, 2, 3);
    });
    bench.process([&] {
        bench.at(4);
        bench.semaphores.signal(1, matrix, 9);
    });
    Cycle signalled = 0;
    bench.process([&] {
        CHECK(bench.semaphores.wait(2, host_write) == static_cast<std::size_t>(isa::QueueId::Activation));
        signalled = bench.clock.now();
    });
    bench.run();
    CHECK(bench.begun() == std::vector<Cycle>{9});
    CHECK(signalled == 9 + 4 + latency);
    CHECK(bench.unit.counters().sync_cycles.value(3) == 9);
    CHECK(bench.unit.counters().busy_cycles.value(3) == 4);
    bench.unit.finish(20, 6);
    CHECK(bench.unit.counters().idle_cycles.value(6) == 20 - 13);
}

TEST_CASE("The activation unit takes the next instruction when the one before has begun",
          "[hw][activation_unit]") {
    machine::MachineConfig machine = machine_of_activations();
    machine.sequencer.queue_depth = 1;
    ActivationBench bench(machine);
    bench.run_all({activate(0, 0, 8), activate(0, 8, 5), activate(0, 16, 3), activate(0, 24, 1)});
    // The third has a place when the second is taken, and the fourth when the second has begun.
    std::vector<Cycle> issued;
    for (const hw::InstructionTimes& times : bench.instructions) issued.push_back(times.issued);
    CHECK(bench.begun() == std::vector<Cycle>{0, 8, 13, 16});
    CHECK(issued == std::vector<Cycle>{0, 0, 0, 8});
}

TEST_CASE("The history of the activation unit has its waits and its work", "[hw][activation_unit]") {
    machine::MachineConfig machine = machine_of_activations();
    machine.accumulators.ports = 1;
    ActivationBench bench(machine);
    bench.process(
        [&] { bench.ports.acquire(hw::matrix_user, {{.port = hw::first_bank_port, .cycles = 10}}); });
    bench.process([&] {
        bench.at(2);
        bench.issue_to_unit(activate(0, 0, 2), 4);
        bench.issue_to_unit(isa::Vector{.destination_row = 8, .source_row = 0, .other_row = 4, .length = 3},
                            5);
    });
    bench.run();
    using Span = std::tuple<Activity, Cycle, Cycle, hw::Tag>;
    std::vector<Span> spans;
    const auto& history = bench.waits.activation().spans();
    for (std::size_t i = 0; i < history.size(); ++i) {
        spans.emplace_back(history[i].activity, history[i].from, history[i].until, history[i].tag);
    }
    CHECK(spans == std::vector<Span>{{Activity::NoInstruction, 0, 2, hw::Tag{0}},
                                     {Activity::Port, 2, 10, hw::Tag{0}},
                                     {Activity::Work, 10, 12, hw::Tag{4}},
                                     {Activity::OwnWrites, 12, 15, hw::Tag{0}},
                                     {Activity::VectorWork, 15, 21, hw::Tag{5}}});
    CHECK(history[2].complete == 12 + latency);
    CHECK(history[4].complete == 21 + latency);
}

TEST_CASE("Activation that no sync orders behind a product that it needs is refused when it begins",
          "[hw][activation_unit]") {
    const bool ordered = GENERATE(true, false);
    constexpr auto matrix = static_cast<std::size_t>(isa::QueueId::Matrix);
    ActivationBench bench;
    isa::QueuePositions product{};
    product[matrix] = 7 + 1;
    bench.process([&] {
        bench.order.issue(matrix, 7, {});
        bench.order.begin(matrix, 7);
        bench.semaphores.signal(1, matrix, 3);
    });
    bench.process([&] {
        if (ordered) bench.issue(bench.unit.queue(), hw::Command::Kind::Wait, 1);
        bench.issue(isa::QueueId::Activation, bench.unit.queue(), activate(0, 0, 1), 0, product);
    });
    if (ordered) {
        bench.run();
        CHECK(bench.begun() == std::vector<Cycle>{3});
    } else {
        CHECK_THROWS_AS(bench.run(), hw::OrderViolation);
    }
}

TEST_CASE("Sums become bytes by the parameters that were loaded last", "[hw][activation_unit]") {
    ActivationBench bench(machine_of_activations(), hw::Values::Computed);
    // Column c: bias 10 c, multiplier 1/2 in Q31 (2^30), shift c: (sum + 10 c) / 2 * 2^c.
    std::uint8_t* parameters = bench.buffer.bytes.data() + 50 * 4;
    for (std::int32_t c = 0; c < 3; ++c) {
        const std::int32_t bias = 10 * c;
        const std::int32_t half = 1 << 30;
        std::memcpy(parameters + 4 * c, &bias, 4);
        std::memcpy(parameters + 12 + 4 * c, &half, 4);
        parameters[24 + c] = static_cast<std::uint8_t>(c);
    }
    const std::array<std::int32_t, 6> sums{20, 30, 40, -8, 4, 300};
    std::copy(sums.begin(), sums.end(), bench.accumulators.sums.begin() + 5 * 3);
    isa::Activate load = activate(5, 7, 2);
    load.load_parameters = true;
    bench.run_all({load});
    // (20 + 0)/2, (30 + 10), (40 + 20)·2; (-8)/2 is below the minimum, (4 + 10), (300 + 20)·2 above the
    // maximum.
    const std::vector<std::uint8_t> expected{10, 40, 120, 0, 0, 14, 255, 0};
    CHECK(std::vector<std::uint8_t>(bench.buffer.bytes.begin() + 7 * 4, bench.buffer.bytes.begin() + 9 * 4) ==
          expected);
}
