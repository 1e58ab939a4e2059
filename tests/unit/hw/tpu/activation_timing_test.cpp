// Rule 7 of docs/timing.md: rows, loads, lookups, vector work and pooling, at odd values.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/chip.h"
#include "tests/unit/hw/tpu/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::Chip;
using tests::odd_machine;

namespace {

using Cycle = std::uint64_t;

Cycle accesses(std::uint64_t bytes) {
    return (bytes + 6) / 7;  // rows of 7 bytes
}

const std::string head = ".array 7 5\n" + activation_setup(5) + "set activation.parameters_row 200\n" +
                         "set activation.table_row 210\n";

std::vector<hw::InstructionTimes> run(const machine::MachineConfig& machine, const std::string& text) {
    Chip chip(machine, text + "halt\n");
    chip.run();
    return chip.times(isa::Unit::Activation);
}

}  // namespace

TEST_CASE("Rule 7: parameters and a table are loaded first, an access a cycle", "[timing]") {
    const unsigned columns = GENERATE(1U, 3U, 5U);
    const unsigned rows = GENERATE(1U, 6U, 13U);
    const bool lookup = GENERATE(true, false);
    const bool load = GENERATE(true, false);
    const std::uint32_t latency = GENERATE(0U, 1U, 9U);
    CAPTURE(columns, rows, lookup, load, latency);
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = latency;
    const std::string what = fmt::format("{} {}", lookup ? "lookup" : "identity", load ? "load" : "");
    // What is loaded before a lookup without a load; it ends early.
    const auto times =
        run(machine, head + fmt::format("set activation.columns {1}\nactivate acc=0 ub=0 rows=1 first=0 "
                                        "lookup load\nactivate acc=0 ub=20 rows={0} first=0 {2}\n",
                                        rows, columns, what));
    REQUIRE(times.size() == 2);
    const Cycle loads = load ? accesses(9 * columns) + (lookup ? accesses(256) : 0) : 0;
    CHECK(times[1].released == times[1].begun + loads + rows);
    CHECK(times[1].complete == times[1].released + latency);
    // What loads reads the buffer: only then does it wait for the results before it.
    CHECK(times[1].begun == times[0].released + (load ? latency : 0));
}

TEST_CASE("Rule 7: a reader of the buffer begins when the results are there, and not before", "[timing]") {
    const std::uint32_t latency = GENERATE(0U, 1U, 23U);
    const unsigned rows = GENERATE(1U, 9U);
    CAPTURE(latency, rows);
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = latency;
    // A product reads what an activation wrote.
    Chip chip(machine, head + ".tile 7 5 random 1\nread_weights tile=0\n" +
                           fmt::format("activate acc=0 ub=0 rows={} first=0 identity\n", rows) +
                           "sync.signal activation sem=3\nsync.wait matrix sem=3\n"
                           "matmul ub=0 acc=40 rows=1\nhalt\n");
    machine.weight_memory.bandwidth_gb_per_s = 7000;
    machine.weight_memory.latency_cycles = 0;
    chip.run();
    const auto activate = chip.times(isa::Unit::Activation).at(0);
    const auto product = chip.times(isa::Unit::Matrix).at(0);
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
        run(odd_machine(), head + fmt::format("vector add dst=40 src=0 other=20 rows={0}\n"
                                              "vector multiply dst=60 src=0 other=20 rows={0}\n"
                                              "vector lookup dst=80 src=0 rows={0}\n"
                                              "activate acc=0 ub=100 rows={0} first=0 identity\n",
                                              rows));
    REQUIRE(times.size() == 4);
    CHECK(times[0].released == times[0].begun + 2 * rows);
    CHECK(times[1].released == times[1].begun + 2 * rows);
    CHECK(times[2].released == times[2].begun + accesses(256) + rows);
    // The vector work reads the buffer and waits for what was written, `activate` does not.
    CHECK(times[1].begun == times[0].complete);
    CHECK(times[2].begun == times[1].complete);
    CHECK(times[3].begun == times[2].released);
    for (const auto& each : times) CHECK(each.complete == each.released + 6);
}

TEST_CASE("Rule 7: pooling takes its fetches or its writes, whichever are more", "[timing]") {
    const unsigned channels = GENERATE(1U, 2U, 5U, 9U);
    const unsigned kernel = GENERATE(1U, 2U, 3U);
    const unsigned stride = GENERATE(1U, 2U, 5U);
    const unsigned lines = GENERATE(1U, 3U);
    CAPTURE(channels, kernel, stride, lines);
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
                        "vector max_pool dst=300 src=0 line=0 lines={6}\n",
                        kernel + 2, input_width, channels, kernel, stride, width, lines));
    REQUIRE(times.size() == 1);
    const Cycle together = accesses(((width - 1) * stride + kernel) * channels);
    const Cycle apart = width * accesses(std::uint64_t{kernel} * channels);
    const Cycle reads = lines * kernel * std::min(together, apart);
    const Cycle writes = lines * accesses(std::uint64_t{width} * channels);
    CHECK(times[0].released == times[0].begun + std::max(reads, writes));
    CHECK(times[0].complete == times[0].released + 6);
}
