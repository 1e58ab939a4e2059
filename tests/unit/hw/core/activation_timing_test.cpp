// Rule 7 of docs/timing.md: rows, loads, lookups, vector work and pooling, at odd values.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::odd_machine;
using tests::TimedChip;

namespace {

Cycle accesses(std::uint64_t bytes) {
    return (bytes + 6) / 7;  // rows of 7 bytes
}

const std::string activation_head = ".array 7 5\n" + activation_setup(5) +
                                    "set activation.parameters_row 200\n" + "set activation.table_row 210\n";

std::vector<hw::InstructionTimes> run(const machine::MachineConfig& machine, const std::string& text) {
    TimedChip chip(machine, text + "halt\n");
    chip.run();
    return chip.times(isa::QueueId::Activation);
}

}  // namespace

TEST_CASE("Rule 7: parameters and a table are loaded first, an access a cycle", "[timing]") {
    const unsigned columns = GENERATE(1U, 3U, 5U);
    const unsigned rows = GENERATE(1U, 6U, 13U);
    const bool lookup = GENERATE(true, false);
    const bool load = GENERATE(true, false);
    const bool wide = GENERATE(true, false);
    const std::uint32_t latency = GENERATE(0U, 1U, 9U);
    CAPTURE(columns, rows, lookup, load, wide, latency);
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = latency;
    machine.unified_buffer.rows = 512;
    const std::string what =
        fmt::format("{} {} {}", lookup ? "lookup" : "identity", load ? "load" : "", wide ? "wide" : "");
    // What is loaded before a lookup without a load; it ends early.
    const auto times = run(
        machine,
        activation_head +
            fmt::format(
                "set activation.columns {1}\nset activation.pixel_bytes 10\n"
                "activate acc=0 ub=0 rows=1 first=0 lookup load\nactivate acc=0 ub=20 rows={0} first=0 {2}\n",
                rows, columns, what));
    REQUIRE(times.size() == 2);
    const Cycle loads = load ? accesses(9 * columns) + (lookup ? accesses(wide ? 1026 : 256) : 0) : 0;
    CHECK(times[1].released == times[1].begun + loads + rows * accesses(wide ? 2 * columns : columns));
    CHECK(times[1].complete == times[1].released + latency);
    // It loads other rows than those written before it.
    CHECK(times[1].begun == times[0].released);
}

TEST_CASE("Rule 7: each instruction takes a cycle for each row, also of rows that another has activated",
          "[timing]") {
    const unsigned rows = GENERATE(6U, 13U);  // the second instruction is issued meanwhile
    const unsigned first_column = GENERATE(0U, 1U, 3U);
    CAPTURE(rows, first_column);
    const auto times =
        run(odd_machine(), activation_head + fmt::format("set activation.columns 2\n"
                                                         "activate acc=0 ub=0 rows={0} identity\n"
                                                         "set activation.first_column {1}\n"
                                                         "activate acc=0 ub=20 rows={0} identity\n",
                                                         rows, first_column));
    REQUIRE(times.size() == 2);
    CHECK(times[0].released == times[0].begun + rows);
    CHECK(times[1].begun == times[0].released);
    CHECK(times[1].released == times[1].begun + rows);
}

TEST_CASE("Rule 7: an instruction that reads other rows than the unit still writes does not wait",
          "[timing]") {
    const std::uint32_t latency = GENERATE(1U, 40U);
    // The first instruction writes rows 20 to 23.
    const unsigned source = GENERATE(16U, 17U, 23U, 24U);
    CAPTURE(latency, source);
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = latency;
    const auto times =
        run(machine, activation_head + fmt::format("vector lookup dst=20 src=40 rows=4\n"
                                                   "vector add dst=60 src={} other=80 rows=4\n",
                                                   source));
    REQUIRE(times.size() == 2);
    const bool reads_results = source + 4 > 20 && source < 24;
    CHECK(times[1].begun == times[0].released + (reads_results ? latency : 0));
}

TEST_CASE("Rule 7: parameters and tables are loaded after earlier writes of them are complete", "[timing]") {
    const std::uint32_t latency = GENERATE(1U, 40U);
    // Parameters of 5 columns are rows 200 to 206, the table begins at row 210.
    const unsigned written = GENERATE(196U, 200U, 206U, 207U, 246U, 247U);
    CAPTURE(latency, written);
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = latency;
    const auto times =
        run(machine, activation_head + fmt::format("vector add dst={} src=0 other=20 rows=1\n"
                                                   "activate acc=0 ub=60 rows=1 first=0 lookup load\n",
                                                   written));
    REQUIRE(times.size() == 2);
    const bool is_loaded = (written >= 200 && written < 207) || (written >= 210 && written < 210 + 37);
    CHECK(times[1].begun == times[0].released + (is_loaded ? latency : 0));
}

TEST_CASE("Rule 7: nanoseconds of latency count like the cycles they take, and shrink with no clock",
          "[timing]") {
    const double clock_mhz = GENERATE(700.0, 175.0, 1400.0);
    CAPTURE(clock_mhz);
    machine::MachineConfig machine = odd_machine();
    machine.clock_mhz = clock_mhz;
    machine.activation_unit.latency_cycles = 2;
    machine.activation_unit.latency_ns = 20;
    const auto times = run(
        machine, activation_head + "set activation.columns 3\nactivate acc=0 ub=0 rows=4 first=0 identity\n");
    REQUIRE(times.size() == 1);
    const auto nanoseconds = static_cast<Cycle>(std::llround(20 * clock_mhz / 1000));
    CHECK(times[0].complete == times[0].released + 2 + nanoseconds);
}

TEST_CASE("Rule 7: a reader of the buffer begins when the results are there, and not before", "[timing]") {
    const std::uint32_t latency = GENERATE(0U, 1U, 23U);
    const unsigned rows = GENERATE(1U, 9U);
    CAPTURE(latency, rows);
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = latency;
    // A product reads what an activation wrote.
    TimedChip chip(machine, activation_head + ".tile 7 5 random 1\nread_weights tile=0\n" +
                                fmt::format("activate acc=0 ub=0 rows={} first=0 identity\n", rows) +
                                "sync.signal activation sem=3\nsync.wait matrix sem=3\n"
                                "matmul ub=0 acc=40 rows=1\nhalt\n");
    machine.weight_memory.bandwidth_gb_per_s = 7000;
    machine.weight_memory.latency_cycles = 0;
    chip.run();
    const auto activate = chip.times(isa::QueueId::Activation).at(0);
    const auto product = chip.times(isa::QueueId::Matrix).at(0);
    const Cycle tile = chip.tiles().at(0).shifted;
    const Cycle there = activate.begun + (rows - 1) + 1 + latency;
    CHECK(activate.complete == there);
    CHECK(product.begun == std::max(there, tile));
}

TEST_CASE("Rule 7: element-wise work reads a row of each operand a cycle, a lookup its table first",
          "[timing]") {
    const unsigned rows = GENERATE(1U, 2U, 11U);
    CAPTURE(rows);
    const auto times =
        run(odd_machine(), activation_head + fmt::format("vector add dst=40 src=0 other=20 rows={0}\n"
                                                         "vector multiply dst=60 src=0 other=40 rows={0}\n"
                                                         "vector lookup dst=80 src=60 rows={0}\n"
                                                         "activate acc=0 ub=100 rows={0} first=0 identity\n",
                                                         rows));
    REQUIRE(times.size() == 4);
    CHECK(times[0].released == times[0].begun + 2 * rows);
    CHECK(times[1].released == times[1].begun + 2 * rows);
    CHECK(times[2].released == times[2].begun + accesses(256) + rows);
    // The vector work reads what was just written and waits for it, `activate` does not.
    CHECK(times[1].begun == times[0].complete);
    CHECK(times[2].begun == times[1].complete);
    CHECK(times[3].begun == times[2].released);
    for (const auto& each : times) CHECK(each.complete == each.released + 6);
}

TEST_CASE("Rule 7: 16-bit element-wise work costs its rows, a lookup 1026 bytes before", "[timing]") {
    const unsigned rows = GENERATE(1U, 6U, 11U);
    // Some rows of each image are as many accesses.
    const unsigned rows_per_image = GENERATE(0U, 2U);
    CAPTURE(rows, rows_per_image);
    machine::MachineConfig machine = odd_machine();
    machine.unified_buffer.rows = 512;
    const auto times =
        run(machine, activation_head +
                         fmt::format("set vector.rows_per_image {1}\nset vector.destination_image_rows 3\n"
                                     "set vector.source_image_rows 2\nset vector.other_image_rows 4\n"
                                     "vector multiply dst=60 src=0 other=20 rows={0} wide\n"
                                     "vector lookup dst=80 src=0 rows={0} wide\n",
                                     rows, rows_per_image));
    REQUIRE(times.size() == 2);
    CHECK(times[0].released == times[0].begun + 2 * rows);
    CHECK(times[1].released == times[1].begun + accesses(1026) + rows);
    for (const auto& each : times) CHECK(each.complete == each.released + 6);
}

TEST_CASE("Rule 7: pooling takes its fetches or its writes, whichever are more", "[timing]") {
    const unsigned channels = GENERATE(1U, 2U, 5U, 9U);
    const unsigned kernel = GENERATE(1U, 2U, 3U);
    const unsigned stride = GENERATE(1U, 2U, 5U);
    const unsigned lines = GENERATE(1U, 3U);
    // Into pixels of other tensors' channels, too: the accesses are those of the bytes written.
    const unsigned gap = GENERATE(0U, 13U);
    CAPTURE(channels, kernel, stride, lines, gap);
    constexpr unsigned width = 3;
    machine::MachineConfig machine = odd_machine();
    machine.unified_buffer.rows = 512;
    const unsigned input_width = (width - 1) * stride + kernel;
    const auto times =
        run(machine,
            fmt::format(".array 7 5\nset window.input_height {0}\nset window.input_width {1}\n"
                        "set window.channels {2}\nset window.kernel_height {3}\nset window.kernel_width {3}\n"
                        "set window.stride_x {4}\nset window.output_height 3\nset window.output_width {5}\n"
                        "set window.image_rows 120\nset activation.image_rows 60\n"
                        "set activation.pixel_bytes {7}\nset activation.channel_offset {8}\n"
                        "vector max_pool dst=300 src=0 line=0 lines={6}\n",
                        kernel + 2, input_width, channels, kernel, stride, width, lines,
                        gap == 0 ? 0 : channels + gap, gap));
    REQUIRE(times.size() == 1);
    const Cycle together = accesses(((width - 1) * stride + kernel) * channels);
    const Cycle apart = width * accesses(std::uint64_t{kernel} * channels);
    const Cycle reads = lines * kernel * std::min(together, apart);
    const Cycle writes = lines * accesses(std::uint64_t{width} * channels);
    CHECK(times[0].released == times[0].begun + std::max(reads, writes));
    CHECK(times[0].complete == times[0].released + 6);
}
