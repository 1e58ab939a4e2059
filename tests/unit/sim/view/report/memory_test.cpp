// The memories of a report, on machines whose arrays are not square, and weights that come over the host
// link.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "sim/run/execute/run.h"
#include "sim/view/report/report.h"
#include "tests/support/fresh_simulation.h"

using namespace systole;

namespace {

machine::MachineConfig machine_of(std::uint32_t rows, std::uint32_t columns) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = rows;
    machine.matrix_unit.columns = columns;
    machine.unified_buffer.rows = 64;
    machine.accumulators.rows = 32;
    return machine;
}

run::RunRecord record_of(const machine::MachineConfig& machine, const std::string& text) {
    const tests::FreshSimulation simulation;
    run::RunSpec spec;
    spec.machine = machine;
    spec.program.emplace();
    spec.observed.occupancy = true;
    run::Prepared prepared;
    prepared.program = isa::assemble(
        fmt::format(".array {} {}\n", machine.matrix_unit.rows, machine.matrix_unit.columns) + text, "test");
    return run::simulate(spec, prepared);
}

std::uint64_t most(const report::Json& windows) {
    return *std::max_element(windows.begin(), windows.end());
}

}  // namespace

TEST_CASE("A row of the unified buffer has as many bytes as the array has rows, one of sums a sum a column",
          "[report][memory]") {
    const auto [rows, columns] = GENERATE(std::pair(8U, 6U), std::pair(3U, 20U), std::pair(16U, 16U));
    CAPTURE(rows, columns);
    const machine::MachineConfig machine = machine_of(rows, columns);
    // Five rows, which the product reads.
    const run::RunRecord record =
        record_of(machine, fmt::format(".buffer in constant 0x0 {0}\n .int8 {0}*1\n.tile {1} {2} fill 1\n"
                                       "read_weights tile=0\nread_host in ub=10 block={0}\n"
                                       "sync.signal host_read sem=0\nsync.wait matrix sem=0\n"
                                       "matmul ub=10 acc=4 rows=5\nhalt\n",
                                       5 * rows, rows, columns));
    const report::Json memory = report::make_report(record).at("memory");
    const report::Json& time = memory.at("over_time");
    std::vector<std::string> figures;
    for (const report::Json& each : time.at("memories")) figures.push_back(each.at("figure"));
    CHECK(figures ==
          std::vector<std::string>{"unified_buffer_bytes", "accumulator_rows", "weight_fifo_tiles"});
    CHECK(most(time.at("unified_buffer_bytes")) == 5 * std::uint64_t{rows});
    CHECK(most(time.at("accumulator_rows")) == 5);
    CHECK(most(time.at("weight_fifo_tiles")) == 1);
    CHECK(memory.at("unified_buffer_peak_bytes") == 5 * std::uint64_t{rows});
    CHECK(memory.at("unified_buffer_bytes") == 64 * std::uint64_t{rows});
    const report::Json& values = memory.at("unified_buffer_map").at("values");
    REQUIRE(values.size() == 1);
    CHECK(values[0].at("steps")[0].at("first_row") == 10);
    CHECK(values[0].at("steps")[0].at("rows") == 5);
}

TEST_CASE("The weight bytes of the layers are those of the run, wherever the weights come from",
          "[report][memory]") {
    const auto [rows, columns] = GENERATE(std::pair(8U, 6U), std::pair(3U, 20U));
    const std::uint64_t resident = GENERATE(0U, 1U, 2U, 3U);
    CAPTURE(rows, columns, resident);
    machine::MachineConfig machine = machine_of(rows, columns);
    const std::uint64_t tile_bytes = std::uint64_t{rows} * columns;
    machine.weight_memory.spill = true;
    machine.weight_memory.bytes = resident * tile_bytes;
    const run::RunRecord record =
        record_of(machine, fmt::format(".tile {0} {1} fill 1; .tile {0} {1} fill 2; .tile {0} {1} fill 3\n"
                                       "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=4\n"
                                       "tag 2\nread_weights tile=1 count=2\nmatmul ub=0 acc=4 rows=4\n"
                                       "matmul ub=0 acc=8 rows=4\n"
                                       "tag 3\nread_weights tile=2\nmatmul ub=0 acc=12 rows=4\nhalt\n",
                                       rows, columns));
    const report::Json report = report::make_report(record);
    CHECK(report.at("memory").at("spilled_weight_bytes") == (3 - resident) * tile_bytes);
    CHECK(report.at("memory").at("weight_memory_used_bytes") == resident * tile_bytes);
    REQUIRE(report.at("layers").size() == 3);
    const std::array<std::uint64_t, 3> tiles{1, 2, 1};
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        CAPTURE(i);
        const report::Json& layer = report.at("layers")[i];
        CHECK(layer.at("weight_bytes") == tiles.at(i) * tile_bytes);
        // Each tile meets four rows.
        CHECK(layer.at("roofline").at("macs_per_weight_byte") == 4.0);
    }
    CHECK(report.at("roofline").at("macs_per_weight_byte") == 4.0);
    // Tile 2 is fetched twice.
    const std::uint64_t from_memory = std::min<std::uint64_t>(resident, 2) + (resident == 3 ? 2 : 0);
    const report::Json& fifo = report.at("units").at("weight_fifo");
    CHECK(fifo.at("bytes") == from_memory * tile_bytes);
    CHECK(fifo.at("spilled_bytes") == (4 - from_memory) * tile_bytes);
}
