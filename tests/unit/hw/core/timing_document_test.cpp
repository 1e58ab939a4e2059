// docs/timing.md is the specification of time: each of its tables is what a run of its program gives.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/cycle_table.h"
#include "tests/support/source_dir.h"
#include "tests/support/timing_page.h"

using namespace systole;
using tests::CycleTable;
using tests::TimingExample;

namespace {

const std::string tiles_chapter = "Machines with tiles";

std::vector<TimingExample> examples() {
    return tests::read_timing_page(std::string(tests::source_dir()) + "/docs/timing.md");
}

}  // namespace

TEST_CASE("docs/timing.md: each table of cycles is what the program above it gives",
          "[timing][documentation]") {
    for (const TimingExample& example : examples()) {
        for (const machine::MachineConfig& machine : CycleTable::machines_of(example.machine)) {
            const CycleTable run(machine, example.program);
            const bool same = run.like(example.table) == example.table;
            CAPTURE(example.line, machine::to_json(machine).dump());
            CHECK(same);
            // Not as a message: those are wrapped.
            if (!same) fmt::print("docs/timing.md:{} is to be\n{}\n", example.line, run.like(example.table));
        }
    }
}

TEST_CASE("docs/timing.md: each rule has an example", "[timing][documentation]") {
    const std::vector<TimingExample> all = examples();
    for (int rule = 1; rule <= 9; ++rule) {
        CAPTURE(rule);
        CHECK(std::any_of(all.begin(), all.end(), [&](const TimingExample& example) {
            return example.section.starts_with(fmt::format("{} · ", rule));
        }));
    }
}

TEST_CASE("docs/timing.md: the classes drawn are the cycles counted", "[timing][documentation]") {
    for (const TimingExample& example : examples()) {
        CAPTURE(example.line);
        if (example.section == tiles_chapter) continue;  // they have no matrix unit
        const machine::MachineConfig machine = CycleTable::machine_of(example.machine);
        const CycleTable run(machine, example.program);
        const std::string classes = run.classes();
        const auto drawn = [&](char letter) {  // each cycle counts once for every array
            return static_cast<std::uint64_t>(std::count(classes.begin(), classes.end(), letter)) *
                   machine.matrix_unit.arrays;
        };
        CHECK(drawn('A') == run.chip()->counter("matrix_unit.active_cycles").value());
        CHECK(drawn('N') == run.chip()->counter("matrix_unit.non_matrix_cycles").value());
        CHECK(drawn('W') == run.chip()->counter("matrix_unit.weight_stall_cycles").value());
        CHECK(drawn('S') == run.chip()->counter("matrix_unit.weight_shift_cycles").value());
    }
}

TEST_CASE("docs/timing.md: a cycle more or less of what a rule names is another table",
          "[timing][documentation]") {
    const std::vector<TimingExample> all = examples();
    const auto first_of = [&](int rule) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const TimingExample& example) {
            return example.section.starts_with(fmt::format("{} · ", rule));
        });
        REQUIRE(found != all.end());
        return *found;
    };
    struct Change {
        int rule;
        std::uint32_t& (*parameter)(machine::MachineConfig&);
    };
    const Change change = GENERATE(
        Change{1,
               [](machine::MachineConfig& m) -> std::uint32_t& { return m.matrix_unit.mac_latency_cycles; }},
        Change{1, [](machine::MachineConfig& m) -> std::uint32_t& { return m.matrix_unit.setup_cycles; }},
        Change{1, [](machine::MachineConfig& m) -> std::uint32_t& { return m.accumulators.write_cycles; }},
        Change{2, [](machine::MachineConfig& m) -> std::uint32_t& { return m.matrix_unit.weight_switch; }},
        Change{3, [](machine::MachineConfig& m) -> std::uint32_t& { return m.weight_fifo.depth_tiles; }},
        Change{4, [](machine::MachineConfig& m) -> std::uint32_t& { return m.weight_memory.latency_cycles; }},
        Change{5,
               [](machine::MachineConfig& m) -> std::uint32_t& { return m.host_interface.latency_cycles; }},
        Change{9,
               [](machine::MachineConfig& m) -> std::uint32_t& { return m.host_interface.latency_cycles; }},
        Change{6, [](machine::MachineConfig& m) -> std::uint32_t& { return m.accumulators.ports; }},
        Change{7,
               [](machine::MachineConfig& m) -> std::uint32_t& { return m.activation_unit.latency_cycles; }});
    const TimingExample example = first_of(change.rule);
    machine::MachineConfig machine = CycleTable::machine_of(example.machine);
    ++change.parameter(machine);
    CAPTURE(change.rule);
    const CycleTable run(machine, example.program);
    CHECK((run.like(example.table) != example.table));
}

TEST_CASE("docs/timing.md: one more of what a rule of tiles names is another table",
          "[timing][documentation]") {
    using machine::MachineConfig;
    struct Change {
        std::string part;
        void (*grow)(MachineConfig&);
    };
    const Change change =
        GENERATE(Change{"Link", [](MachineConfig& m) { m.host.call_us += 0.002; }},
                 Change{"Link", [](MachineConfig& m) { m.host_interface.read_gb_per_s += 0.5; }},
                 Change{"Link", [](MachineConfig& m) { m.host_interface.write_gb_per_s += 0.5; }},
                 Change{"Link", [](MachineConfig& m) { ++m.host_interface.latency_cycles; }},
                 Change{"Link", [](MachineConfig& m) { m.staging_buffer.bytes *= 2; }},
                 Change{"Ring", [](MachineConfig& m) { ++m.ring.bytes_per_cycle; }},
                 Change{"Ring", [](MachineConfig& m) { ++m.ring.latency_cycles; }},
                 Change{"Ring", [](MachineConfig& m) { ++m.tile_array.weight_buffers; }},
                 Change{"Ring", [](MachineConfig& m) { ++m.tile_array.weight_buffer_rows; }},
                 Change{"Tiles", [](MachineConfig& m) { ++m.tile_array.result_cycles; }},
                 Change{"Tiles", [](MachineConfig& m) { ++m.tile_array.depthwise_macs_per_cycle; }},
                 Change{"Tiles", [](MachineConfig& m) { ++m.tile_array.vector_bytes_per_cycle; }},
                 Change{"Tiles", [](MachineConfig& m) { ++m.tile_array.pooling_bytes_per_cycle; }},
                 Change{"Mesh", [](MachineConfig& m) { ++m.mesh.bytes_per_cycle; }},
                 Change{"Mesh", [](MachineConfig& m) { ++m.mesh.latency_cycles; }});
    CAPTURE(change.part);
    bool is_noticed = false;
    for (const TimingExample& example : examples()) {
        if (example.section != tiles_chapter || example.part != change.part) continue;
        MachineConfig machine = CycleTable::machine_of(example.machine);
        change.grow(machine);
        is_noticed |= CycleTable(machine, example.program).like(example.table) != example.table;
    }
    CHECK(is_noticed);
}
