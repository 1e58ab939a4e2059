// Rule 5 of docs/timing.md, as far as it is about instructions, on the sequencer alone: the path to the host
// and the units' queues are written in the test. The numbers are computed by hand from the rule.
#include "hw/sequencer/sequencer.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/common/trace.h"
#include "hw/common/wait_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/memory.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/isa/registers.h"
#include "hw/isa/row_range.h"
#include "hw/machine/machine_config.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

/// A path on which each instruction arrives when the test says.
class Path final : public hw::InstructionPath {
public:
    explicit Path(const hw::Clock& clock) : clock_(clock) {}
    void send_instruction(std::uint64_t bytes, hw::Tag tag) override {
        sent.push_back(clock_.now());
        sizes.push_back(bytes);
        tags.push_back(tag);
        if (arrivals.empty()) {
            under_way_.push_back(clock_.now());
        } else {
            under_way_.push_back(arrivals.front());
            arrivals.pop_front();
        }
    }
    Cycle next_arrival() override {
        const Cycle arrival = under_way_.front();
        under_way_.pop_front();
        return arrival;
    }

    std::deque<Cycle> arrivals;  ///< of the next instructions; those behind them arrive at once
    std::vector<Cycle> sent;
    std::vector<std::uint64_t> sizes;
    std::vector<hw::Tag> tags;

private:
    const hw::Clock& clock_;
    std::deque<Cycle> under_way_;
};

/// A queue from which the test takes the commands.
class Queue final : public hw::CommandSink {
public:
    explicit Queue(const hw::Clock& clock) : clock_(clock) {}
    void push(hw::Command&& command) override {
        while (waiting_ == depth) clock_.wait(taken_);
        ++waiting_;
        issued.push_back(clock_.now());
        commands.push_back(std::move(command));
    }
    Cycle drain() override {
        while (waiting_ > 0) clock_.wait(taken_);
        return complete;
    }
    /// The unit takes the first command.
    void take() {
        --waiting_;
        taken_.notify(sc_core::SC_ZERO_TIME);
    }

    std::size_t depth = 100;
    Cycle complete = 0;  ///< all that the unit has taken
    std::vector<hw::Command> commands;
    std::vector<Cycle> issued;

private:
    const hw::Clock& clock_;
    std::size_t waiting_ = 0;
    sc_core::sc_event taken_;
};

machine::MachineConfig machine_of_issues(std::uint32_t issue_cycles, std::uint32_t buffer_bytes = 1000) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 3;
    machine.unified_buffer.rows = 64;
    machine.accumulators.rows = 32;
    machine.sequencer.issue_cycles = issue_cycles;
    machine.sequencer.instruction_buffer_bytes = buffer_bytes;
    return machine;
}

struct SequencerBench : tests::UnitBench {
    explicit SequencerBench(const machine::MachineConfig& its) : UnitBench(its) {}

    /// The program ends with a halt.
    void run_program(std::vector<isa::Instruction> instructions_before_halt) {
        program.geometry = geometry();
        program.instructions = std::move(instructions_before_halt);
        program.instructions.emplace_back(isa::Halt{});
        sequencer.load(program, places());
        run();
        CHECK(sequencer.halted());
        sequencer.finish(sequencer.end(), sequencer.last_tag());
        CHECK(cycles_of(sequencer, "sequencer") == sequencer.end());
    }
    isa::ByMemory<std::uint64_t> places() const {
        isa::ByMemory<std::uint64_t> places;
        std::fill(places.begin(), places.end(), std::numeric_limits<std::uint64_t>::max());
        places[isa::MemoryId::UnifiedBuffer] = machine.unified_buffer.rows;
        places[isa::MemoryId::Accumulators] = machine.accumulators.rows;
        return places;
    }
    /// Takes the queue's first command in this cycle.
    void take_at(Queue& queue, Cycle cycle) {
        process([this, &queue, cycle] {
            at(cycle);
            queue.take();
        });
    }

    std::uint64_t count(const std::string& name) const {
        return counter(sequencer, "sequencer." + name).value();
    }
    std::uint64_t count(const std::string& name, hw::Tag tag) const {
        return counter(sequencer, "sequencer." + name).value(tag);
    }

    using Reasons = std::vector<std::pair<hw::NonMatrixReason, Cycle>>;
    /// Why a product that is issued in cycle `end` was not issued in the cycles [begin, end).
    Reasons reasons(Cycle begin, Cycle end) const {
        Reasons found;
        waits.explain({.begin = begin, .end = end, .issued = end, .tag = 0, .needs = {}},
                      [&](hw::NonMatrixReason reason, Cycle cycles, hw::Tag /*tag*/) {
                          found.emplace_back(reason, cycles);
                      });
        return found;
    }

    void issued(const hw::IssueTimes& times) override { issues.push_back(times); }

    Path path{clock};
    Queue host_read{clock};
    Queue host_write{clock};
    Queue weights{clock};
    Queue matrix{clock};
    Queue activation{clock};
    Queue host{clock};
    isa::Program program;
    std::vector<hw::IssueTimes> issues;
    hw::Sequencer sequencer{
        "sequencer", context, path, {&host_read, &host_write, &weights, &matrix, &activation, &host}};
};

using Reasons = SequencerBench::Reasons;

isa::MatrixMultiply multiply(std::uint32_t row, std::uint16_t accumulator_row, std::uint32_t length) {
    return {.unified_buffer_row = row, .accumulator_row = accumulator_row, .length = length};
}

}  // namespace

TEST_CASE("Instructions are issued when they have arrived, at least issue_cycles apart", "[hw][sequencer]") {
    SequencerBench bench(machine_of_issues(3));
    bench.path.arrivals = {4, 5, 20, 21};
    bench.run_program({isa::Nop{}, isa::DebugTag{.tag = 2}, isa::Nop{}});
    CHECK(bench.issues == std::vector<hw::IssueTimes>{
                              {0, 0, 0, 4, 4}, {1, 2, 7, 7, 7}, {2, 2, 10, 20, 20}, {3, 2, 23, 23, 23}});
    CHECK(bench.sequencer.end() == 23);
    CHECK(bench.count("instructions") == 4);
    CHECK(bench.count("empty_cycles", 0) == 4);
    CHECK(bench.count("empty_cycles", 2) == 20 - 10);
    CHECK(bench.count("busy_cycles", 0) == 3);
    CHECK(bench.count("busy_cycles", 2) == 3 + 3);
    CHECK(bench.reasons(5, 23) == Reasons{{hw::NonMatrixReason::Issue, 5},
                                          {hw::NonMatrixReason::NotArrived, 10},
                                          {hw::NonMatrixReason::Issue, 3}});
    CHECK(bench.path.tags == std::vector<hw::Tag>{0, 2, 2, 2});
}

TEST_CASE("The host sends as many instructions as fit in the buffer, and the next when one is issued",
          "[hw][sequencer]") {
    // A product has 12 bytes, a sync 3 and a halt 1. The buffer takes two products and a sync.
    SequencerBench bench(machine_of_issues(5, 28));
    bench.path.arrivals = {7, 7, 7};
    bench.matrix.complete = 50;
    for (int i = 0; i < 4; ++i) bench.take_at(bench.matrix, 50);
    bench.run_program({multiply(0, 0, 1), multiply(1, 1, 1),
                       isa::SyncSignal{.unit = isa::QueueId::Matrix, .semaphore = 1}, multiply(2, 2, 1)});
    CHECK(bench.path.sizes == std::vector<std::uint64_t>{12, 12, 3, 12, 1});
    // When the first product is issued, in cycle 7, the third and the halt go: 12 + 3 + 12 + 1 bytes.
    CHECK(bench.path.sent == std::vector<Cycle>{0, 0, 0, 7, 7});
    CHECK(bench.matrix.issued == std::vector<Cycle>{7, 12, 17, 22});
    CHECK(bench.sequencer.end() == 50);
}

TEST_CASE("An instruction that does not fit beside those in the buffer waits on the host",
          "[hw][sequencer]") {
    SequencerBench bench(machine_of_issues(5, 12));
    bench.path.arrivals = {7};
    bench.matrix.complete = 100;
    for (int i = 0; i < 2; ++i) bench.take_at(bench.matrix, 100);
    bench.run_program({multiply(0, 0, 1), multiply(1, 1, 1)});
    CHECK(bench.path.sent == std::vector<Cycle>{0, 7, 12});
    CHECK(bench.matrix.issued == std::vector<Cycle>{7, 12});
}

TEST_CASE("A full queue holds back all later instructions, also those of other queues", "[hw][sequencer]") {
    SequencerBench bench(machine_of_issues(1));
    bench.matrix.depth = 1;
    bench.activation.complete = 44;
    bench.take_at(bench.matrix, 30);
    bench.take_at(bench.matrix, 35);
    bench.take_at(bench.activation, 36);
    bench.run_program({isa::DebugTag{.tag = 3}, multiply(0, 0, 1), multiply(1, 1, 1),
                       isa::SyncWait{.unit = isa::QueueId::Activation, .semaphore = 7}});
    CHECK(bench.matrix.issued == std::vector<Cycle>{1, 30});
    CHECK(bench.activation.issued == std::vector<Cycle>{31});
    CHECK(bench.count("queue_full_cycles", 3) == 30 - 2);
    CHECK(bench.count("busy_cycles") == 2 + 1 + 1);
    CHECK(bench.sequencer.end() == 44);
    CHECK(bench.count("idle_cycles", 3) == 44 - 32);
    REQUIRE(bench.activation.commands.size() == 1);
    CHECK(bench.activation.commands[0].kind == hw::Command::Kind::Wait);
    CHECK(bench.activation.commands[0].semaphore == 7);
    // Why the second product was not issued in these cycles.
    CHECK(bench.reasons(1, 31) == Reasons{{hw::NonMatrixReason::Issue, 1},
                                          {hw::NonMatrixReason::QueueFull, 28},
                                          {hw::NonMatrixReason::Issue, 1}});
}

TEST_CASE("halt ends the program when the last of the queues is complete", "[hw][sequencer]") {
    const auto slowest = GENERATE(0U, 1U, 2U, 3U, 4U, 5U);
    CAPTURE(slowest);
    SequencerBench bench(machine_of_issues(2));
    const std::array<Queue*, 6> queues{&bench.host_read, &bench.host_write, &bench.weights,
                                       &bench.matrix,    &bench.activation, &bench.host};
    for (std::size_t i = 0; i < queues.size(); ++i) queues[i]->complete = i == slowest ? 57 : 10 + i;
    bench.run_program({isa::DebugTag{.tag = 9}, isa::Nop{}});
    CHECK(bench.sequencer.end() == 57);
    CHECK(bench.sequencer.last_tag() == 9);
    CHECK(bench.count("idle_cycles", 9) == 57 - 4);
}

TEST_CASE("An instruction keeps the registers of its issue", "[hw][sequencer]") {
    SequencerBench bench(machine_of_issues(1));
    const auto stride = [](std::uint32_t value) {
        return isa::SetConfig{.reg = isa::Register::MultiplyRowStride, .value = value};
    };
    for (int i = 0; i < 3; ++i) bench.take_at(bench.matrix, 20);
    bench.run_program({stride(2), multiply(0, 0, 3), multiply(1, 3, 3), stride(5), multiply(2, 6, 3)});
    REQUIRE(bench.matrix.commands.size() == 3);
    std::vector<std::uint32_t> strides;
    std::vector<isa::RowRange> rows;
    for (const hw::Command& command : bench.matrix.commands) {
        strides.push_back((*command.bound.registers)[isa::Register::MultiplyRowStride]);
        rows.push_back(command.bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer));
    }
    CHECK(strides == std::vector<std::uint32_t>{2, 2, 5});
    CHECK(rows == std::vector<isa::RowRange>{{0, 5}, {1, 6}, {2, 13}});
}

TEST_CASE("A product names the instructions whose rows and accumulators it needs", "[hw][sequencer]") {
    SequencerBench bench(machine_of_issues(1));
    const auto set = [](isa::Register reg, std::uint32_t value) {
        return isa::SetConfig{.reg = reg, .value = value};
    };
    bench.take_at(bench.host_read, 40);
    bench.take_at(bench.matrix, 40);
    bench.take_at(bench.matrix, 40);
    bench.take_at(bench.activation, 40);
    bench.run_program({set(isa::Register::ActivationColumns, 3),                                    // 0
                       set(isa::Register::ActivationPixelBytes, 4),                                 // 1
                       set(isa::Register::ActivationOutputsPerImage, 100),                          // 2
                       isa::ReadHostMemory{.unified_buffer_row = 0, .block_bytes = 16},             // 3
                       multiply(0, 0, 4),                                                           // 4
                       isa::Activate{.accumulator_row = 0, .unified_buffer_row = 20, .length = 4},  // 5
                       multiply(23, 3, 1)});                                                        // 6
    REQUIRE(bench.matrix.commands.size() == 2);
    const hw::MatrixNeeds& first = bench.matrix.commands[0].needs;
    CHECK(first.inputs == 3 + 1);
    CHECK(first.activations == 0);
    CHECK(first.accumulators == 0);
    const hw::MatrixNeeds& second = bench.matrix.commands[1].needs;
    CHECK(second.inputs == 0);
    CHECK(second.activations == 5 + 1);
    CHECK(second.accumulators == 5 + 1);
    // The order checker was told the same: the activation unit may not begin before a sync.
    CHECK_THROWS_AS(bench.order.begin(static_cast<std::size_t>(isa::QueueId::Activation), 5),
                    hw::OrderViolation);
}

TEST_CASE("The sequencer refuses rows and tiles that are not there, and a program without halt",
          "[hw][sequencer]") {
    struct Case {
        std::vector<isa::Instruction> instructions;
        std::string message;
    };
    const auto c =
        GENERATE(Case{{isa::Nop{}, multiply(61, 0, 4)},
                      "instruction 1 (matmul): matmul touches unified-buffer row 64; the machine has 64"},
                 Case{{multiply(0, 30, 3)},
                      "instruction 0 (matmul): matmul touches accumulator row 32; the machine has 32"},
                 Case{{isa::ReadWeights{.first_tile = 1, .tiles = 2}},
                      "instruction 0 (read_weights): tile 2 is wanted; the program has 2"},
                 Case{{isa::Nop{}}, "the program ends without halt"});
    SequencerBench bench(machine_of_issues(1));
    bench.program.geometry = bench.geometry();
    bench.program.instructions = c.instructions;
    bench.program.tiles.assign(2, {.rows = 4, .columns = 3});
    bench.sequencer.load(bench.program, bench.places());
    CHECK_THROWS_WITH(bench.run(), c.message);
}

TEST_CASE("A program that is stuck says since when its next instruction waits", "[hw][sequencer]") {
    SequencerBench bench(machine_of_issues(1));
    bench.path.arrivals = {0, 6};
    bench.matrix.depth = 1;
    bench.program.geometry = bench.geometry();
    bench.program.instructions = {multiply(0, 0, 1), multiply(1, 1, 1)};
    bench.sequencer.load(bench.program, bench.places());
    bench.run();
    CHECK_FALSE(bench.sequencer.halted());
    CHECK(bench.sequencer.issued() == 1);
    CHECK(bench.sequencer.waiting(9) == hw::IssueTimes{1, 0, 1, 6, 9});
}
