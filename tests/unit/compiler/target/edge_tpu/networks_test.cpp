// Random networks on random machines with tiles: the compiled program gives the answers of the reference, on
// the units and without time. Both engines of the units give the same cycles and counters.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/passes/set_rounding.h"
#include "compiler/reference/executor.h"
#include "compiler/target/edge_tpu/family.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program_rules.h"
#include "hw/system/system.h"
#include "sim/functional/tiles/tile_executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"
#include "tests/support/reference_host.h"

using namespace systole;

namespace {

std::uint32_t drawn(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
}

machine::MachineConfig random_tiles_machine(std::mt19937& random) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = drawn(random, 1, 4);
    machine.tile_array.columns = drawn(random, 1, 4);
    machine.tile_array.lanes = 16 * drawn(random, 1, 2);
    machine.tile_array.pixels = drawn(random, 1, 12);
    machine.tile_array.weight_buffers = drawn(random, 1, 2);
    machine.tile_array.weight_buffer_rows = drawn(random, 4, 20);
    machine.wide_memory.bytes =
        64 * (drawn(random, 0, 1) == 0 ? drawn(random, 2, 60) : drawn(random, 60, 600));
    machine.staging_buffer.bytes = std::uint64_t{machine.tile_array.weight_buffer_rows} * 32 * 4;
    machine.narrow_memory.bytes = drawn(random, 0, 9) == 0 ? 600 : 100000;
    return machine;
}

std::vector<std::uint8_t> bytes_of(std::span<const std::uint8_t> span) {
    return {span.begin(), span.end()};
}

const isa::HostBuffer& buffer_of(const isa::Program& program, isa::BufferKind kind) {
    return *std::ranges::find(program.buffers, kind, &isa::HostBuffer::kind);
}

/// What can be seen of a run on the units.
struct UnitRun {
    std::vector<std::uint8_t> output;
    Cycle cycles = 0;
    std::map<std::string, std::uint64_t> counters = {};  ///< by path, and layer

    bool operator==(const UnitRun&) const = default;
};

UnitRun run_on_units(const isa::Program& program, machine::MachineConfig machine, machine::TileEngine engine,
                     const std::vector<std::uint8_t>& input) {
    machine.tile_array.engine = engine;
    tests::ReferenceHost host(program);
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.host = &host, .test_delta_delay = {}});
    std::ranges::copy(input, system.host_bytes(buffer_of(program, isa::BufferKind::Input)).begin());
    system.run();
    UnitRun run{.output = bytes_of(system.host_bytes(buffer_of(program, isa::BufferKind::Output))),
                .cycles = system.cycles()};
    for (const auto& [path, group] : system.counters()) {
        for (const hw::Counter& counter : *group) {
            for (std::size_t tag = 0; tag <= program.layers.size(); ++tag) {
                run.counters[fmt::format("{}.{} of layer {}", path, counter.name(), tag)] =
                    counter.value(static_cast<hw::Tag>(tag));
            }
        }
    }
    return run;
}

bool has_strips(const isa::Program& program) {
    return std::ranges::any_of(program.instructions, [](const isa::Instruction& instruction) {
        const auto* const multiply = std::get_if<isa::TileMultiply>(&instruction);
        const auto* const vector = std::get_if<isa::TileVector>(&instruction);
        return (multiply != nullptr && multiply->with_margins) || (vector != nullptr && vector->with_margins);
    });
}

bool works_in_place(const isa::Program& program) {
    return std::ranges::any_of(program.instructions, [](const isa::Instruction& instruction) {
        const auto* const vector = std::get_if<isa::TileVector>(&instruction);
        return vector != nullptr && vector->has_other() &&
               (vector->result == vector->source || vector->result == vector->other);
    });
}

/// Takes narrow memory away until images must be cut into strips, or to the least with which the network
/// runs.
void shrink_narrow_memory(const ir::Graph& graph, const mapping::Options& options,
                          machine::MachineConfig& machine, mapping::Compiled& compiled) {
    machine::MachineConfig smaller = machine;
    while (!has_strips(compiled.program)) {
        smaller.narrow_memory.bytes = smaller.narrow_memory.bytes * 9 / 10;
        try {
            compiled = edge_tpu::family.compile(graph, smaller, options);
        } catch (const ModelError&) {
            return;
        }
        machine = smaller;
    }
}

}  // namespace

TEST_CASE("Compiled networks of one or two layers give the reference's answers on tiles", "[equality]") {
    const std::uint32_t seed = 90000;
    const std::uint32_t runs = tests::random_runs(400);
    std::uint32_t compared = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        std::mt19937 random(seed + run);
        tests::RandomNetwork networks(random);
        networks.draw_for_tiles();
        const ir::Graph graph =
            passes::set_rounding(networks.draw(2), static_cast<Rounding>(drawn(random, 0, 2)));
        const machine::MachineConfig machine = random_tiles_machine(random);
        mapping::Options options;
        INFO("seed " << seed + run << "\n" << ir::to_text(graph) << machine::to_json(machine).dump());
        mapping::Compiled compiled;
        try {
            compiled = edge_tpu::family.compile(graph, machine, options);
        } catch (const ModelError&) {
            continue;
        }
        const isa::Program& program = compiled.program;
        const std::vector<std::uint8_t> input = networks.images(graph, 1);
        tests::ReferenceHost host(program);
        functional::TileExecutor executor(
            program, {.narrow_bytes = machine.narrow_memory.bytes, .positions = machine.tile_array.pixels},
            &host);
        std::ranges::copy(input, executor.host_bytes(buffer_of(program, isa::BufferKind::Input)).begin());
        executor.run();
        REQUIRE(bytes_of(executor.host_bytes(buffer_of(program, isa::BufferKind::Output))) ==
                reference::execute(graph, input, 1));
        ++compared;
    }
    CHECK(compared > runs * 2 / 3);
}

TEST_CASE("Compiled random networks give the reference's answers on tiles", "[equality]") {
    const std::uint32_t seed = 7000;
    std::uint32_t refused = 0, streamed = 0, on_host = 0, cut = 0, in_place = 0;
    std::set<std::string> kinds;
    const std::uint32_t runs = tests::random_runs(300);
    for (std::uint32_t run = 0; run < runs; ++run) {
        std::mt19937 random(seed + run);
        tests::RandomNetwork networks(random);
        networks.draw_for_tiles();
        const bool is_cut = drawn(random, 0, 2) == 0;
        if (is_cut) networks.draw_for_strips();
        if (drawn(random, 0, 5) == 0) networks.add_host_work();
        const ir::Graph drawn_graph = networks.draw();
        const ir::Graph graph = passes::set_rounding(drawn_graph, static_cast<Rounding>(drawn(random, 0, 2)));
        machine::MachineConfig machine = random_tiles_machine(random);
        if (is_cut) machine.tile_array.lines = 1;  // patches of many lines
        mapping::Options options;
        options.batches.inferences = drawn(random, 1, 3);
        INFO("seed " << seed + run << "\n" << ir::to_text(graph) << machine::to_json(machine).dump());
        mapping::Compiled compiled;
        try {
            compiled = edge_tpu::family.compile(graph, machine, options);
        } catch (const ModelError&) {
            ++refused;  // the host's first layer, or too little narrow memory
            continue;
        }
        if (is_cut) shrink_narrow_memory(graph, options, machine, compiled);
        const isa::Program& program = compiled.program;
        REQUIRE_NOTHROW(isa::validate(program));
        const auto inferences = static_cast<std::uint32_t>(options.batches.inferences);
        const std::vector<std::uint8_t> input = networks.images(graph, inferences);
        const std::vector<std::uint8_t> expected = reference::execute(graph, input, inferences);

        tests::ReferenceHost host(program);
        functional::TileExecutor executor(
            program, {.narrow_bytes = machine.narrow_memory.bytes, .positions = machine.tile_array.pixels},
            &host);
        std::ranges::copy(input, executor.host_bytes(buffer_of(program, isa::BufferKind::Input)).begin());
        executor.run();
        REQUIRE(bytes_of(executor.host_bytes(buffer_of(program, isa::BufferKind::Output))) == expected);

        UnitRun in_closed_form;
        REQUIRE_NOTHROW(in_closed_form =
                            run_on_units(program, machine, machine::TileEngine::ClosedForm, input));
        REQUIRE(in_closed_form.output == expected);
        const UnitRun by_lanes = run_on_units(program, machine, machine::TileEngine::Lane, input);
        REQUIRE(by_lanes.output == expected);
        REQUIRE(by_lanes.cycles == in_closed_form.cycles);
        REQUIRE(by_lanes.counters == in_closed_form.counters);

        on_host += static_cast<std::uint32_t>(program.host_segments.size());
        for (const isa::Instruction& instruction : program.instructions) {
            streamed += std::holds_alternative<isa::StreamParameters>(instruction);
        }
        cut += has_strips(program);
        in_place += works_in_place(program);
        for (const isa::LayerInfo& layer : program.layers) kinds.insert(layer.kind);
    }
    INFO("refused " << refused << ", streamed " << streamed << ", on the host " << on_host << ", in strips "
                    << cut << ", in place " << in_place);
    CHECK(refused < runs / 3);
    CHECK(streamed >= tests::random_share(30));
    CHECK(on_host >= tests::random_share(10));
    CHECK(cut >= tests::random_share(10));
    CHECK(in_place >= tests::random_share(15));
    if (tests::random_share(1) > 0) {
        CHECK(kinds == std::set<std::string>{"add",
                                             "average_pool",
                                             "concat",
                                             "convolution",
                                             "dense",
                                             "depth_to_space",
                                             "depthwise_convolution",
                                             "integer_softmax",
                                             "lookup",
                                             "max_pool",
                                             "maximum",
                                             "minimum",
                                             "multiply",
                                             "normalize",
                                             "pad",
                                             "reduce_max",
                                             "reduce_mean",
                                             "reduce_sum",
                                             "resize",
                                             "space_to_depth",
                                             "strided_slice",
                                             "subtract",
                                             "transpose",
                                             "transposed_convolution",
                                             "zero_padding"});
    }
}
