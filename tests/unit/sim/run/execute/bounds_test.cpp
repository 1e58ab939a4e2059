#include "sim/run/execute/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>

#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "hw/machine/machine_config.h"
#include "sim/run/execute/run.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

constexpr std::array engines{machine::Engine::Wavefront, machine::Engine::Pe};

run::RunRecord timed(const machine::MachineConfig& machine, const isa::Program& program) {
    const tests::FreshSimulation simulation;
    run::RunSpec spec;
    spec.machine = machine;
    spec.program.emplace();
    spec.timing_only = true;
    std::ifstream host(std::string(tests::source_dir()) + "/configs/baselines/haswell_e5_2699_v3.json");
    spec.host = run::Json::parse(host);
    run::Prepared prepared;
    prepared.program = program;
    return run::simulate(spec, prepared);
}

constexpr std::array<std::string_view, 6> names{"macs",          "array",     "data_setup",
                                                "weight_memory", "host_link", "activation"};

/// The bounds of the run, or of a tag.
std::array<Cycle, 6> values_of(const run::RunRecord& record, std::optional<run::Tag> tag = {}) {
    REQUIRE(record.bounds.size() == names.size());
    std::array<Cycle, 6> values{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const machine::Bound& bound = record.bounds[i];
        CHECK(bound.name == names.at(i));
        values.at(i) = tag ? bound.value(*tag) : bound.value();
    }
    return values;
}

Cycle value_of(const run::RunRecord& record, std::string_view name, std::optional<run::Tag> tag = {}) {
    const auto place = std::ranges::find(names, name) - names.begin();
    return values_of(record, tag).at(static_cast<std::size_t>(place));
}

/// Bytes of the instructions that are issued under a tag.
std::uint64_t instruction_bytes(const isa::Program& program, run::Tag tag) {
    std::uint64_t bytes = 0;
    run::Tag now = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) now = debug->tag;
        if (now == tag) bytes += isa::encoded_size(instruction);
    }
    return bytes;
}

/// A machine that a random network fits, with paths of any speed.
machine::MachineConfig random_machine(std::mt19937& random) {
    const auto draw = [&](std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random() % (high - low + 1));
    };
    const auto hundredths = [&] { return 0.007 * draw(20, 3000); };  // of a byte a cycle
    machine::MachineConfig machine;
    machine.matrix_unit.rows = draw(1, 20);
    machine.matrix_unit.columns = draw(1, 20);
    machine.matrix_unit.row_sums = draw(0, 1) == 1;
    machine.systolic_data_setup.fetches_per_cycle = draw(1, 3);
    machine.weight_fifo.depth_tiles = draw(1, 4);
    machine.weight_memory.whole_tiles = draw(0, 1) == 1;
    if (draw(0, 3) == 0) {
        machine.weight_memory.model = machine::WeightMemoryModel::Dram;
        machine.weight_memory.dram.trefi_clocks = draw(400, 2000);
    } else {
        machine.weight_memory.bandwidth_gb_per_s = hundredths();
    }
    machine.activation_unit.latency_cycles = draw(0, 20);
    machine.host_interface.read_gb_per_s = hundredths();
    machine.host_interface.write_gb_per_s = hundredths();
    machine.host_interface.latency_cycles = draw(0, 40);
    return machine;
}

}  // namespace

TEST_CASE("The bounds of a small program are those computed by hand", "[run]") {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 3;
    machine.weight_memory.bandwidth_gb_per_s = 3.5;   // 5 bytes a cycle
    machine.host_interface.read_gb_per_s = 3.5;       // 5
    machine.host_interface.write_gb_per_s = 0.7 * 4;  // 4
    machine.matrix_unit.engine = GENERATE(from_range(engines));
    const isa::Program program = isa::assemble(
        ".array 4 3\n.buffer in input 0 400\n.buffer out output 0x1000 100\n"
        ".layer none dense\n.layer a dense\n.layer b dense\n.layer behind dense\n"
        ".tile 4 3 random 1\n.tile 2 2 random 1\n"
        "set activation.columns 3\nset activation.pixel_bytes 3\nset activation.outputs_per_image 100\n"
        "read_host in ub=0 block=400\nsync.signal host_read sem=0\nsync.wait matrix sem=0\n"
        "tag 2\nread_weights tile=0\nmatmul ub=0 acc=0 rows=8\n"
        "sync.signal matrix sem=1\nsync.wait activation sem=1\n"
        "activate acc=0 ub=100 rows=8 first=0 identity\n"
        "tag 3\nread_weights tile=1\nmatmul ub=0 acc=8 rows=5 wide_a\n"
        "tag 0\nsync.signal activation sem=2\nsync.wait host_write sem=2\n"
        "write_host out ub=100 block=96\nhalt\n",
        "test");
    const run::RunRecord record = timed(machine, program);
    const auto bytes = [&](run::Tag tag) { return instruction_bytes(program, tag); };
    REQUIRE(bytes(0) + bytes(2) + bytes(3) == record.counters.at("host_interface.instruction_bytes").value());

    // 8 rows meet 12 weights; a whole tile of 12 bytes takes 2.4 cycles; the input is this layer's.
    CHECK(values_of(record, 2) == std::array<Cycle, 6>{8, 8, 8, 2, (400 + bytes(2)) / 5, 8});
    // 5 rows of two passes meet 4 weights: 40 of 120 cell cycles, 3.3 cycles; the output is this layer's.
    CHECK(values_of(record, 3) == std::array<Cycle, 6>{4, 10, 10, 2, 24, 0});
    CHECK(values_of(record, 0) == std::array<Cycle, 6>{0, 0, 0, 0, bytes(0) / 5, 0});
    CHECK(values_of(record, 1) == std::array<Cycle, 6>{});
    CHECK(values_of(record, 4) == std::array<Cycle, 6>{});
    // (96 + 40) / 12 = 11.3 cycles; 24 bytes of tiles take 4.8.
    CHECK(values_of(record) ==
          std::array<Cycle, 6>{12, 18, 18, 4, (400 + bytes(0) + bytes(2) + bytes(3)) / 5, 8});
}

TEST_CASE("The data setup's bound counts the fetches of each line, beside the array", "[run]") {
    // The second example of docs/timing.md, lines of windows: six fetches a line, of three active cycles.
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 3;
    machine.matrix_unit.columns = 2;
    machine.matrix_unit.engine = GENERATE(from_range(engines));
    const std::uint32_t fetches = GENERATE(1U, 2U, 4U, 6U);
    machine.systolic_data_setup.fetches_per_cycle = fetches;
    const isa::Program program = isa::assemble(
        ".array 3 2\n.tile 3 2 random 1\nset window.channels 1\nset window.kernel_height 3\n"
        "set window.stride_x 2\nset window.input_height 4\nset window.input_width 5\n"
        "set window.output_height 2\nset window.output_width 3\nset window.image_rows 7\n"
        "read_weights tile=0\nconvolve ub=0 acc=0 lines=2\nmatmul ub=8 acc=8 rows=2 keep\nhalt\n",
        "test");
    const run::RunRecord record = timed(machine, program);
    const Cycle a_line = fetches == 4 ? 2 : 6 / fetches;
    CHECK(value_of(record, "data_setup") == 2 * a_line + 2);
    CHECK(value_of(record, "array") == 2 * 3 + 2);
}

TEST_CASE("A layer that the chip does in part, or twice, needs what the network needs", "[run]") {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 4;
    isa::Program program = isa::assemble(
        ".array 4 4\n.layer twice dense macs=64\n.layer host dense macs=1000\n.layer part dense macs=1000\n"
        ".tile 4 4 random 1\nread_weights tile=0\n"
        "tag 1\nmatmul ub=0 acc=0 rows=8\ntag 3\nmatmul ub=0 acc=0 rows=7 keep\nhalt\n",
        "test");
    program.inferences = program.batch = 1;
    const run::RunRecord record = timed(machine, program);
    CHECK(value_of(record, "macs", 1) == 4);
    CHECK(value_of(record, "array", 1) == 8);
    CHECK(value_of(record, "macs", 2) == 0);
    CHECK(value_of(record, "macs", 3) == 7);
    CHECK(value_of(record, "macs") == 11);
}

TEST_CASE("No bound of a compiled random network exceeds its cycles, on any engine", "[run]") {
    const std::uint32_t seed = 161616;
    INFO("first seed " << seed);
    std::array<std::uint32_t, 6> largest{};
    for (std::uint32_t run = 0; run < tests::random_runs(60); ++run) {
        std::mt19937 random(seed + run);
        const tpu_v1::Network network = tpu_v1::lower(tests::RandomNetwork(random).draw());
        machine::MachineConfig machine = random_machine(random);
        const mapping::Batches options{.batch = 1 + static_cast<std::uint32_t>(random() % 4),
                                       .inferences = 1 + random() % 6};
        INFO(fmt::format("seed {}: batch {}, {} inferences, {}", seed + run, options.batch,
                         options.inferences, machine::to_json(machine).dump()));
        const isa::Program program = tpu_v1::compile(network, tpu_v1::target_of(machine, {}), options);
        const run::RunRecord record = timed(machine, program);
        const std::array<Cycle, 6> of_run = values_of(record);
        const Cycle most = *std::max_element(of_run.begin() + 1, of_run.end());
        const std::size_t tags = record.bounds.back().by_tag.size();
        std::array<Cycle, 6> sums{};
        for (std::size_t tag = 0; tag < tags; ++tag) {
            const std::array<Cycle, 6> of_tag = values_of(record, static_cast<run::Tag>(tag));
            CHECK(of_tag[0] <= of_tag[1]);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                CAPTURE(tag, i);
                CHECK(of_tag[i] <= of_run[i]);
                sums[i] += of_tag[i];
            }
        }
        CHECK(of_run[0] <= of_run[1]);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            CAPTURE(i);
            CHECK(of_run[i] <= record.cycles);
            if (of_run[i] == most) ++largest.at(i);
        }
        CHECK(sums[1] == of_run[1]);
        CHECK(sums[2] == of_run[2]);
        CHECK(sums[5] == of_run[5]);
        // Every byte, every multiply-accumulate and every memory clock counts under one tag: only rounding
        // to whole cycles differs.
        CHECK(sums[0] >= of_run[0]);
        CHECK(sums[3] + tags >= of_run[3]);
        CHECK(sums[4] + tags >= of_run[4]);

        machine.matrix_unit.engine = machine::Engine::Pe;
        CHECK(timed(machine, program).bounds == record.bounds);
    }
    // Each part of the machine is the limit of some run.
    for (const std::size_t i : {1U, 3U, 4U, 5U}) {
        CAPTURE(i);
        CHECK(largest.at(i) >= tests::random_share(1));
    }
}
