// Rules 1 and 2 of docs/timing.md over a grid of arrays, latencies, precisions and stream lengths: what is
// expected is computed here, from the page's formulas.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/support/chip.h"

using namespace systole;
using tests::TimedChip;

namespace {

struct Array {
    std::uint32_t rows;
    std::uint32_t columns;
};

constexpr Array arrays[] = {{1, 1}, {1, 5}, {5, 1}, {3, 7}, {7, 3}, {6, 6}};

struct Precision {
    const char* flags;
    std::uint64_t passes;
    unsigned weight_bytes;
    unsigned activation_bytes;
};

constexpr Precision precisions[] = {
    {"", 1, 1, 1}, {"wide_a", 2, 1, 2}, {"wide_w", 2, 2, 1}, {"wide_a wide_w", 4, 2, 2}};

constexpr machine::Engine engines[] = {machine::Engine::Wavefront, machine::Engine::Pe};

machine::MachineConfig machine_with(const Array& array, machine::Engine engine) {
    machine::MachineConfig machine;
    machine.matrix_unit.engine = engine;
    machine.matrix_unit.rows = array.rows;
    machine.matrix_unit.columns = array.columns;
    machine.unified_buffer.rows = 128;
    machine.accumulators.rows = 64;
    machine.host_interface.read_gb_per_s = 700;  // instructions are there
    return machine;
}

std::string head(const Array& array, const Precision& precision) {
    return fmt::format(".array {0} {1}\n.tile {0} {1} bytes={2} random 1\nset multiply.row_stride {3}\n",
                       array.rows, array.columns, precision.weight_bytes, precision.activation_bytes);
}

/// Stream lengths below, at and above the array's rows, and below, at and above a shift and a switch.
std::set<std::uint64_t> lengths(const Array& array, const Precision& precision) {
    const std::uint64_t rows = array.rows;
    const std::uint64_t hiding = (rows + 1) / precision.passes;
    std::set<std::uint64_t> all{1, 2, rows, rows + 1, 2 * rows + 3, hiding, hiding + 1};
    if (rows > 1) all.insert(rows - 1);
    all.erase(0);
    return all;
}

}  // namespace

TEST_CASE("Rule 1: the last sums are complete in the formula's cycle and not before, on every array",
          "[timing]") {
    const auto array = GENERATE(from_range(std::begin(arrays), std::end(arrays)));
    const auto precision = GENERATE(from_range(std::begin(precisions), std::end(precisions)));
    const auto engine = GENERATE(from_range(std::begin(engines), std::end(engines)));
    for (const std::uint32_t mac : {1U, 3U}) {
        for (const std::uint32_t setup : {0U, 2U}) {
            for (const std::uint32_t write : {0U, 5U}) {
                for (const std::uint64_t rows : lengths(array, precision)) {
                    CAPTURE(engine, array.rows, array.columns, precision.flags, mac, setup, write, rows);
                    machine::MachineConfig machine = machine_with(array, engine);
                    machine.matrix_unit.mac_latency_cycles = mac;
                    machine.matrix_unit.setup_cycles = setup;
                    machine.accumulators.write_cycles = write;
                    machine.weight_memory.latency_cycles = 100;  // everything is issued before it begins
                    TimedChip chip(machine,
                                   head(array, precision) +
                                       fmt::format("set activation.columns 1\nset activation.pixel_bytes 1\n"
                                                   "set activation.outputs_per_image 9\nread_weights tile=0\n"
                                                   "matmul ub=0 acc=0 rows={0} {1}\n"
                                                   "sync.signal matrix sem=7\n"
                                                   "matmul ub=0 acc=40 rows=1 keep {1}\n"
                                                   "sync.wait activation sem=7\n"
                                                   "activate acc={2} ub=100 rows=1 first=0 identity\nhalt\n",
                                                   rows, precision.flags, rows - 1));
                    chip.run();
                    const auto streams = chip.times(isa::QueueId::Matrix);
                    const auto reader = chip.times(isa::QueueId::Activation).at(0);
                    REQUIRE(streams.size() == 2);
                    REQUIRE(reader.issued < streams[0].begun);
                    const Cycle last_pass = streams[0].begun + rows * precision.passes - 1;
                    const Cycle complete = last_pass + setup + array.rows * mac + (array.columns - 1) + write;
                    CHECK(streams[0].complete == complete);
                    CHECK(reader.begun == complete);
                    // The next stream follows without a bubble.
                    CHECK(streams[1].begun == last_pass + 1);
                    CHECK(chip->counter("matrix_unit.active_cycles").value() ==
                          (rows + 1) * precision.passes);
                }
            }
        }
    }
}

TEST_CASE("Rule 1: with cells_per_stage, a register stands behind so many rows and columns", "[timing]") {
    const auto engine = GENERATE(from_range(std::begin(engines), std::end(engines)));
    const auto cells = GENERATE(1U, 2U, 3U, 6U);
    const auto mac = GENERATE(1U, 4U);
    CAPTURE(engine, cells, mac);
    constexpr Array array{12, 6};
    machine::MachineConfig machine = machine_with(array, engine);
    machine.matrix_unit.cells_per_stage = cells;
    machine.matrix_unit.mac_latency_cycles = mac;
    machine.matrix_unit.setup_cycles = 2;
    machine.accumulators.write_cycles = 3;
    TimedChip chip(machine,
                   head(array, precisions[0]) + "read_weights tile=0\nmatmul ub=0 acc=0 rows=5\nhalt\n");
    chip.run();
    const auto stream = chip.times(isa::QueueId::Matrix).at(0);
    CHECK(stream.complete == stream.begun + 4 + 2 + 12 / cells * mac + (6 / cells - 1) + 3);
}

TEST_CASE("Rule 2: streams of R + weight_switch cycles hide a shift, a cycle less shows a cycle of it",
          "[timing]") {
    const auto array = GENERATE(from_range(std::begin(arrays), std::end(arrays)));
    const auto precision = GENERATE(from_range(std::begin(precisions), std::end(precisions)));
    const auto engine = GENERATE(from_range(std::begin(engines), std::end(engines)));
    const auto weight_switch = GENERATE(0U, 1U);
    for (const std::uint64_t rows : lengths(array, precision)) {
        CAPTURE(engine, array.rows, array.columns, precision.flags, weight_switch, rows);
        machine::MachineConfig machine = machine_with(array, engine);
        machine.matrix_unit.weight_switch = weight_switch;
        machine.weight_memory.bandwidth_gb_per_s = 7000;  // tiles are always there
        machine.weight_fifo.depth_tiles = 10;
        machine.sequencer.issue_cycles = 0;
        constexpr int products = 6;
        std::string text = head(array, precision) + fmt::format("read_weights tile=0\n");
        for (int i = 1; i < products; ++i) text += "read_weights tile=0\n";
        // Each has a tag of its own, by which its cycles are counted.
        for (int i = 1; i <= products; ++i)
            text += fmt::format("tag {}\nmatmul ub=0 acc=0 rows={} {}\n", i, rows, precision.flags);
        TimedChip chip(machine, text + "halt\n");
        chip.run();
        const auto streams = chip.times(isa::QueueId::Matrix);
        REQUIRE(streams.size() == products);
        const Cycle input = rows * precision.passes;
        const Cycle period = std::max<Cycle>(input, array.rows + weight_switch);
        for (hw::Tag tag = 2; tag <= products; ++tag) {
            CHECK(streams[tag - 1U].begun == streams[tag - 2U].begun + period);
            CHECK(chip->counter("matrix_unit.weight_shift_cycles").value(tag) == period - input);
            CHECK(chip->counter("matrix_unit.weight_stall_cycles").value(tag) == 0);
        }
        // Into an idle array, a shift is all of R cycles.
        CHECK(streams[0].begun == chip.tiles()[0].whole + array.rows);
        CHECK(chip.tiles()[0].shifted == streams[0].begun);
        // The shadow plane is free so many cycles after the switch.
        CHECK(chip.tiles()[1].shifted == streams[0].begun + weight_switch + array.rows);
        CHECK(chip->counter("matrix_unit.tiles").value() == products);
    }
}

TEST_CASE("Rule 2: repetitions take a tile each, and keep takes none", "[timing]") {
    const Array array{4, 3};
    const auto engine = GENERATE(from_range(std::begin(engines), std::end(engines)));
    machine::MachineConfig machine = machine_with(array, engine);
    machine.weight_memory.bandwidth_gb_per_s = 7000;
    machine.sequencer.issue_cycles = 0;
    const std::uint64_t rows = GENERATE(1U, 4U, 5U, 6U);
    CAPTURE(engine, rows);
    TimedChip chip(machine, head(array, precisions[0]) +
                                fmt::format("read_weights tile=0\nread_weights tile=0\nread_weights tile=0\n"
                                            "matmul ub=0 acc=0 rows={0} repeat=2\n"
                                            "matmul ub=0 acc=0 rows={0} keep\n"
                                            "matmul ub=0 acc=0 rows={0} keep\nhalt\n",
                                            rows));
    chip.run();
    const auto streams = chip.times(isa::QueueId::Matrix);
    REQUIRE(streams.size() == 5);
    const Cycle period = std::max<Cycle>(rows, 4 + 1);
    CHECK(streams[1].begun == streams[0].begun + period);
    CHECK(streams[2].begun == streams[1].begun + period);
    CHECK(streams[3].begun == streams[2].begun + rows);
    CHECK(streams[4].begun == streams[3].begun + rows);
    CHECK(chip->counter("matrix_unit.tiles").value() == 3);
}

TEST_CASE("Rule 1: a zero point of the weights costs no cycle, and its row sums are counted", "[timing]") {
    const Array& array = GENERATE(from_range(std::begin(arrays), std::end(arrays)));
    const auto engine = GENERATE(from_range(std::begin(engines), std::end(engines)));
    const Precision& precision = GENERATE_REF(from_range(std::begin(precisions), std::begin(precisions) + 2));
    CAPTURE(array.rows, array.columns, engine, precision.flags);
    const auto text = [&](const char* zero_point) {
        return head(array, precision) +
               fmt::format(
                   "read_weights tile=0\nread_weights tile=0\n"
                   "matmul ub=0 acc=0 rows=3 {0}\nset multiply.weight_zero_point {1}\ntag 1\n"
                   "matmul ub=9 acc=3 rows=5 {0}\n"
                   "matmul ub=20 acc=8 rows=2 keep {0}\n"
                   "set multiply.weight_zero_point 0\ntag 2\n"
                   "matmul ub=20 acc=10 rows=4 keep {0}\nhalt\n",
                   precision.flags, zero_point);
    };
    const Cycle without = [&] {
        TimedChip chip(machine_with(array, engine), text("0"));
        chip.run();
        return chip->cycles();
    }();
    TimedChip chip(machine_with(array, engine), text("-9"));
    chip.run();
    CHECK(chip->cycles() == without);
    // A row counts once for all passes.
    CHECK(chip->counter("matrix_unit.row_sums").value() == 5 + 2);
    CHECK(chip->counter("matrix_unit.row_sums").value(1) == 5 + 2);
}
