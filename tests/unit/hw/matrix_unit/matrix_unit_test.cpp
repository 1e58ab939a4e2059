// Rules 1, 2, 6 and 8 of docs/timing.md on the matrix unit alone, with both engines: weight FIFO, data setup
// and the other users of ports are written in the test. The numbers are computed by hand from the rules.
#include "hw/matrix_unit/matrix_unit.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <string>
#include <systemc>
#include <tuple>
#include <vector>

#include "base/data_type.h"
#include "hw/common/clock.h"
#include "hw/common/matrix_interfaces.h"
#include "hw/common/ports.h"
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/machine/machine_config.h"
#include "tests/unit/hw/matrix_unit/matrix_bench.h"

using namespace systole;
using tests::any_engine;
using tests::MatrixBench;
using Activity = hw::UnitHistory::Activity;

namespace {

constexpr std::uint32_t array_rows = 4;
constexpr std::uint32_t array_columns = 3;
/// From a row's entry to its sums: 1 cycle of setup, a cycle for each array row, 2 to the last column, and 1
/// to write.
constexpr Cycle latency = 1 + array_rows + (array_columns - 1) + 1;

/// Two banks of 16 accumulator rows.
machine::MachineConfig machine_of_products(machine::Engine engine) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = array_rows;
    machine.matrix_unit.columns = array_columns;
    machine.matrix_unit.engine = engine;
    machine.matrix_unit.setup_cycles = 1;
    machine.accumulators.write_cycles = 1;
    machine.accumulators.rows = 32;
    machine.accumulators.banks = 2;
    return machine;
}

/// A whole tile in the FIFO from cycle `whole_at` on, of which 10 of 12 weights are useful.
hw::Tile tile(Cycle whole_at) {
    return {.rows = array_rows, .columns = array_columns, .useful_macs = 10, .whole_at = whole_at};
}

}  // namespace

TEST_CASE(
    "A stream enters when its tile has shifted in; each cycle before it has the first missing condition",
    "[hw][matrix_unit]") {
    MatrixBench bench(machine_of_products(any_engine()));
    bench.fifo.tiles = {tile(10)};
    bench.process([&] {
        bench.at(3);
        bench.enter({.tag = 6, .issued = 3, .lines = 5, .accumulator_row = 2});
    });
    bench.run();
    // Rows from cycle 3 on, the tile whole in cycle 10, four cycles of shift; the last row enters in
    // cycle 18.
    CHECK(bench.entered == std::vector<Cycle>{14});
    CHECK(bench.completed == std::vector<Cycle>{18 + latency});
    CHECK(bench.fifo.released == std::vector<Cycle>{14});
    CHECK(bench.source.elements_asked == std::vector<std::uint32_t>{array_rows});
    CHECK(bench.idle ==
          std::vector<hw::MatrixIdleTimes>{{.number = 0,
                                            .tag = 6,
                                            .begin = 0,
                                            .idle = {.without_rows = 3, .without_tile = 7, .shifting = 4}}});
    CHECK(
        bench.streams ==
        std::vector<hw::StreamTimes>{
            {.number = 0, .tag = 6, .begun = 14, .summed = 14 + latency, .lines = 5, .accumulator_row = 2}});
    REQUIRE(bench.instructions.size() == 1);
    CHECK(bench.instructions[0].begun == 14);
    CHECK(bench.instructions[0].released == 19);
    CHECK(bench.instructions[0].complete == 18 + latency);
    bench.finish(30);
    CHECK(bench.count("weight_stall_cycles") == 7);
    CHECK(bench.count("weight_shift_cycles") == 4);
    CHECK(bench.count("active_cycles") == 5);
    CHECK(bench.reason("program_begin") == 3);
    CHECK(bench.reason("program_end") == 30 - 19);
    CHECK(bench.count("useful_macs") == 5 * 10);
    CHECK(bench.count("unused_macs") == 5 * 2);
    CHECK(bench.count("multiply_accumulates") == 5 * 10);
    CHECK(bench.count("tiles") == 1);
    CHECK(bench.accumulators.writes == 5);
}

TEST_CASE("The shadow plane takes the next tile weight_switch cycles after the switch", "[hw][matrix_unit]") {
    struct Case {
        std::uint32_t weight_switch;
        std::vector<std::uint64_t> lengths;
        std::vector<Cycle> entered;
        std::vector<Cycle> released;
        Cycle shift;
    };
    // With 1, streams of 5 rows hide the shift of 4 cycles; with 0, streams of 4 rows do.
    const auto c = GENERATE(Case{1, {2, 5, 7, 1}, {4, 9, 14, 21}, {4, 9, 14, 19}, 4 + 3},
                            Case{0, {2, 2, 4, 1}, {4, 8, 12, 16}, {4, 8, 12, 16}, 4 + 2 + 2});
    machine::MachineConfig machine = machine_of_products(any_engine());
    machine.matrix_unit.weight_switch = c.weight_switch;
    MatrixBench bench(machine);
    for (int i = 0; i < 4; ++i) bench.fifo.tiles.push_back(tile(0));
    bench.process([&] {
        for (const std::uint64_t length : c.lengths) bench.enter({.lines = length});
    });
    bench.run();
    CHECK(bench.entered == c.entered);
    CHECK(bench.fifo.released == c.released);
    CHECK(bench.count("weight_shift_cycles") == c.shift);
    bench.finish(40);
}

TEST_CASE("A row takes a cycle for each pass, and later passes add", "[hw][matrix_unit]") {
    MatrixBench bench(machine_of_products(any_engine()));
    bench.fifo.tiles = {tile(0)};
    bench.process([&] {
        bench.enter({.lines = 3, .passes = 2, .line_cycles = 2, .activations = DataType::Int16});
        bench.enter({.lines = 4, .accumulator_row = 8, .accumulate = true, .keep_weights = true});
    });
    bench.run();
    CHECK(bench.entered == std::vector<Cycle>{4, 10});
    CHECK(bench.completed == std::vector<Cycle>{9 + latency, 13 + latency});
    bench.finish(40);
    CHECK(bench.count("active_cycles") == 6 + 4);
    CHECK(bench.count("useful_macs") == (6 + 4) * 10);
    CHECK(bench.count("multiply_accumulates") == (3 + 4) * 10);
    CHECK(bench.count("tiles") == 1);
    CHECK(bench.accumulators.writes == 3 + 4);
    CHECK(bench.accumulators.pass_writes == 6 + 4);
    CHECK(bench.accumulators.additions == 3 + 4);
}

TEST_CASE("Gaps of the data setup count as such, and a stream is complete when its last line has passed",
          "[hw][matrix_unit]") {
    struct Case {
        std::uint64_t line_cycles;
        Cycle complete;
    };
    // The last row enters one line and 2 cycles after the first; the last line passes after two lines.
    const auto c = GENERATE(Case{6, 4 + 6 + 2 + latency}, Case{30, 4 + 60});
    MatrixBench bench(machine_of_products(any_engine()));
    bench.fifo.tiles = {tile(0)};
    bench.process([&] {
        bench.enter({.lines = 2, .line_rows = 3, .line_cycles = c.line_cycles});
        bench.enter({.lines = 1, .accumulator_row = 8, .keep_weights = true});
    });
    bench.run();
    CHECK(bench.entered == std::vector<Cycle>{4, 4 + 2 * c.line_cycles});
    CHECK(bench.completed.at(0) == c.complete);
    CHECK(bench.count("active_cycles") == 6 + 1);
    CHECK(bench.count("setup_stall_cycles") == 2 * c.line_cycles - 6);
    CHECK(bench.reason("setup") == 2 * c.line_cycles - 6);
    CHECK(bench.idle.at(0).gaps == 2 * c.line_cycles - 6);
    bench.finish(100);
}

TEST_CASE("A stream waits for the buffer's port and for those of the banks that it writes",
          "[hw][matrix_unit]") {
    struct Case {
        hw::PortArbiter::Port port;
        std::uint64_t accumulator_row;
        Cycle entered;
    };
    // The port is taken in the cycles before 20. Sums pass the port of their bank from the latency on.
    const auto c =
        GENERATE(Case{hw::buffer_read_port, 0, 20}, Case{hw::first_bank_port, 0, 20 - latency},
                 Case{hw::first_bank_port, 14, 20 - latency}, Case{hw::first_bank_port, 16, 4},
                 Case{hw::first_bank_port + 1, 14, 20 - latency}, Case{hw::first_bank_port + 1, 13, 4});
    CAPTURE(c.port, c.accumulator_row);
    machine::MachineConfig machine = machine_of_products(any_engine());
    machine.unified_buffer.read_ports = 1;
    machine.accumulators.ports = 1;
    MatrixBench bench(machine);
    bench.fifo.tiles = {tile(0)};
    bench.process([&] { bench.ports.acquire(hw::activation_user, {{.port = c.port, .cycles = 20}}); });
    bench.process([&] { bench.enter({.lines = 3, .accumulator_row = c.accumulator_row}); });
    bench.run();
    CHECK(bench.entered == std::vector<Cycle>{c.entered});
    CHECK(bench.count("port_stall_cycles") == c.entered - 4);
    CHECK(bench.reason("port") == c.entered - 4);
    CHECK(bench.count("weight_shift_cycles") == 4);
    bench.finish(60);
}

TEST_CASE("A stream holds its ports for the cycles in which its rows and sums pass", "[hw][matrix_unit]") {
    struct Case {
        hw::PortArbiter::Port port;
        Cycle asked;
        Cycle cycles;
        Cycle granted;
    };
    // Two lines of 3 rows, 6 cycles each, enter in the cycles 4 to 15. Their sums pass from cycle 4 + latency
    // = 12 on, until those of the last row, 8 cycles later.
    const auto c = GENERATE(Case{hw::buffer_read_port, 5, 1, 16}, Case{hw::first_bank_port, 5, 7, 5},
                            Case{hw::first_bank_port, 5, 8, 21}, Case{hw::first_bank_port, 13, 1, 21},
                            Case{hw::first_bank_port + 1, 13, 1, 13});
    CAPTURE(c.port, c.asked, c.cycles);
    machine::MachineConfig machine = machine_of_products(any_engine());
    machine.unified_buffer.read_ports = 1;
    machine.accumulators.ports = 1;
    MatrixBench bench(machine);
    bench.fifo.tiles = {tile(0)};
    bench.process([&] { bench.enter({.lines = 2, .line_rows = 3, .line_cycles = 6}); });
    Cycle granted = 0;
    bench.process([&] {
        bench.at(c.asked);
        bench.ports.acquire(hw::activation_user, {{.port = c.port, .cycles = c.cycles}});
        granted = bench.clock.now();
    });
    bench.run();
    CHECK(bench.entered == std::vector<Cycle>{4});
    CHECK(granted == c.granted);
}

TEST_CASE("Cycles without rows have the reason of the unit that they wait for", "[hw][matrix_unit]") {
    MatrixBench bench(machine_of_products(any_engine()));
    bench.fifo.tiles = {tile(0)};
    // Instruction 3 writes the second stream's rows until cycle 25, and instruction 4 the third's until 33.
    bench.waits.activation().worked(Activity::Work, 3, 0, 20, 25);
    bench.waits.inputs().worked(Activity::Work, 4, 0, 28, 33);
    bench.process([&] {
        bench.enter({.lines = 2});
        bench.at(25);
        bench.enter({.issued = 2, .lines = 2, .keep_weights = true, .needs = {.activations = 3 + 1}});
        bench.at(40);
        bench.enter({.issued = 3, .lines = 2, .keep_weights = true, .needs = {.inputs = 4 + 1}});
    });
    bench.run();
    CHECK(bench.entered == std::vector<Cycle>{4, 25, 40});
    CHECK(bench.count("raw_stall_cycles") == 25 - 6);
    CHECK(bench.reason("raw") == 25 - 6);
    CHECK(bench.count("input_stall_cycles") == 33 - 27);
    CHECK(bench.reason("input") == 33 - 27);
    CHECK(bench.reason("sync") == 40 - 33);
    CHECK(bench.count("weight_shift_cycles") == 4);
    bench.finish(60);
    CHECK(bench.reason("program_end") == 60 - 42);
}

TEST_CASE("Sums are the products of rows and weights, alone or added to those before", "[hw][matrix_unit]") {
    const bool accumulate = GENERATE(false, true);
    MatrixBench bench(machine_of_products(any_engine()), hw::Values::Computed);
    const std::array<std::int8_t, array_rows * array_columns> weights{1, 2, 3, -1, 0, 1, 2, 2, 2, 0, 5, -3};
    std::vector<std::uint8_t> bytes(weights.begin(), weights.end());
    hw::Tile whole = tile(0);
    whole.values = bytes.data();
    whole.row_bytes = array_columns;
    bench.fifo.tiles = {whole};
    bench.source.values = {1, 2, 3, 4, 255, 0, 1, 0};
    std::fill(bench.accumulators.sums.begin(), bench.accumulators.sums.end(), 1000);
    bench.process([&] { bench.enter({.lines = 2, .accumulator_row = 7, .accumulate = accumulate}); });
    bench.run();
    const std::int32_t before = accumulate ? 1000 : 0;
    // 1 - 2 + 6, 2 + 6 + 20, 3 + 2 + 6 - 12; 255 + 2, 510 + 2, 765 + 2; the rows beside them keep their sums.
    std::vector<std::int32_t> expected{1000, 1000, 1000};
    for (const std::int32_t sum : {5, 28, -1, 257, 512, 767}) expected.push_back(before + sum);
    expected.insert(expected.end(), 3, 1000);
    CHECK(std::vector<std::int32_t>(bench.accumulators.sums.begin() + 6 * array_columns,
                                    bench.accumulators.sums.begin() + 10 * array_columns) == expected);
}

TEST_CASE("Streamed rows count as row sums where the weights have a zero point", "[hw][matrix_unit]") {
    MatrixBench bench(machine_of_products(any_engine()), hw::Values::TimingOnly, {.row_sums = true});
    bench.fifo.tiles = {tile(0)};
    bench.process([&] {
        bench.enter({.lines = 3, .weight_zero_point = 5});
        bench.enter({.lines = 2, .accumulator_row = 8, .keep_weights = true});
    });
    bench.run();
    CHECK(bench.count("row_sums") == 3);
}

TEST_CASE("Engine pe reports the array's registers in each cycle in which a value moves",
          "[hw][matrix_unit]") {
    struct Sink final : hw::RegisterSink {
        void cycle(Cycle cycle, const hw::ArrayRegisters& /*registers*/) override { cycles.push_back(cycle); }
        std::vector<Cycle> cycles;
    };
    const auto engine = any_engine();
    Sink sink;
    MatrixBench bench(machine_of_products(engine), hw::Values::TimingOnly, {.registers = &sink});
    bench.fifo.tiles = {tile(10)};
    bench.process([&] { bench.enter({.lines = 1}); });
    bench.run();
    if (engine == machine::Engine::Wavefront) {
        CHECK(sink.cycles.empty());
    } else {
        // The tile shifts in from cycle 10 on, and the row, which enters in cycle 14, is summed in cycle 22.
        std::vector<Cycle> expected(14 + latency - 10);
        std::iota(expected.begin(), expected.end(), Cycle{10});
        REQUIRE(sink.cycles.size() >= expected.size());
        sink.cycles.resize(expected.size());
        CHECK(sink.cycles == expected);
    }
}

TEST_CASE("A stream that does not fit the weights in the array is an error", "[hw][matrix_unit]") {
    struct Case {
        bool keep_weights;
        DataType weights;
        std::string message;
    };
    const auto c =
        GENERATE(Case{true, DataType::Int8, "it keeps the weights in the array, where there are none yet"},
                 Case{false, DataType::Int16, "its weights are 16-bit, the tile it meets is 8-bit"});
    MatrixBench bench(machine_of_products(any_engine()));
    bench.fifo.tiles = {tile(0)};
    bench.process([&] { bench.enter({.lines = 1, .keep_weights = c.keep_weights, .weights = c.weights}); });
    CHECK_THROWS_WITH(bench.run(), c.message);
}
