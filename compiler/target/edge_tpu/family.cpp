#include "compiler/target/edge_tpu/family.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/target/edge_tpu/emit.h"
#include "compiler/target/edge_tpu/network.h"
#include "compiler/target/edge_tpu/parameters.h"
#include "compiler/target/edge_tpu/strips.h"
#include "hw/machine/chosen_mapping.h"

namespace systole::edge_tpu {
namespace {

/// Why each node is on the chip or on the host, and where its parameters are, as the log of the chip's own
/// compiler.
std::vector<mapping::Choice> choices_of(const Network& network, const ParameterPlan& plan) {
    std::vector<mapping::Choice> choices;
    const ir::Graph& graph = *network.graph;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        const Placement& placement = network.placements[id];
        choices.push_back({.of = fmt::format("{} {}: {}", node.op->name(), node.name,
                                             placement.on_chip ? "mapped to the tiles"
                                                               : "runs on the host: " + placement.reason)});
    }
    choices.push_back(
        {.of = fmt::format("parameters: {} bytes stay in wide memory, {} bytes come with every call",
                           plan.cached_bytes, plan.streamed_bytes)});
    return choices;
}

mapping::Compiled compile(const ir::Graph& prepared, const machine::MachineConfig& machine,
                          const mapping::Options& options) {
    Network network = make_network(prepared, machine);
    // What is streamed decides forms, forms decide sizes, and sizes decide addresses.
    plan_parameters(network, machine);
    fit_into_narrow_memory(network, machine);
    const ParameterPlan plan = plan_parameters(network, machine);
    mapping::Compiled compiled;
    compiled.program = emit_program(network, plan, machine, options.batches.inferences);
    compiled.batch = {.images = 1, .at_a_time = 1, .that_fit = 1};
    if (options.explain) compiled.choices = choices_of(network, plan);
    return compiled;
}

}  // namespace

const target::Family family{
    .computes_on_integers = true,
    .compile = compile,
    .machine_key = [](const machine::MachineConfig& machine,
                      const machine::Mapping& /*mapping*/) { return to_json(machine).dump(); },
    .rounding = [](const machine::MachineConfig& machine) { return machine.tile_array.rounding; }};

}  // namespace systole::edge_tpu
