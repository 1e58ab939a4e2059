#include "compiler/target/edge_tpu/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/target/edge_tpu/emit.h"
#include "compiler/target/edge_tpu/network.h"
#include "compiler/target/edge_tpu/parameters.h"
#include "compiler/target/edge_tpu/strips.h"
#include "hw/machine/chosen_mapping.h"

namespace systole::edge_tpu {
namespace {

/// As the log of the chip's own compiler counts them.
std::vector<mapping::PlacedOperators> placed_operators(const Network& network) {
    std::vector<mapping::PlacedOperators> placed;
    for (ir::NodeId id = 0; id < network.graph->nodes.size(); ++id) {
        const std::string op(network.graph->nodes[id].op->name());
        const Placement& placement = network.placements[id];
        const auto found = std::ranges::find_if(placed, [&](const mapping::PlacedOperators& known) {
            return known.op == op && known.on_chip == placement.on_chip && known.reason == placement.reason;
        });
        if (found == placed.end()) {
            placed.push_back({op, 1, placement.on_chip, placement.reason});
        } else {
            ++found->count;
        }
    }
    return placed;
}

/// Where each node runs and why, and where parameters are.
std::vector<mapping::Choice> choices_of(const Network& network, const ParameterPlan& plan,
                                        const std::vector<mapping::PlacedOperators>& placed,
                                        const machine::MachineConfig& machine) {
    std::vector<mapping::Choice> choices;
    choices.push_back({.of = fmt::format("placement: {}", name_of(machine.program.placement))});
    const ir::Graph& graph = *network.graph;
    for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph.nodes[id];
        const Placement& placement = network.placements[id];
        const mapping::PlacedOperators alone{std::string(node.op->name()), 1, placement.on_chip,
                                             placement.reason};
        choices.push_back({.of = fmt::format("{} {}: {}", alone.op, node.name, alone.where())});
    }
    for (const mapping::PlacedOperators& operators : placed) {
        choices.push_back(
            {.of = fmt::format("{} of {}: {}", operators.count, operators.op, operators.where())});
    }
    choices.push_back(
        {.of = fmt::format("parameters: {} bytes stay in wide memory, {} bytes come with every call",
                           plan.cached_bytes, plan.streamed_bytes)});
    return choices;
}

/// Whether a step up to one is of an operator that the host could compute as well: one that makes tensors
/// which a network may have for its host's sake.
bool has_vector_work_before(const Network& network, std::uint32_t end) {
    return std::ranges::any_of(network.steps.begin(), network.steps.begin() + end, [](const Step& step) {
        return step.kind == StepKind::Move || step.kind == StepKind::Permute || step.piece != Piece::Whole ||
               (step.kind == StepKind::Vector && step.operation >= isa::TileOperation::SumPool);
    });
}

/// A network whose tensors fit the tiles' memories. Nodes for which they do not are the host's.
Network fitting_network(const ir::Graph& prepared, const machine::MachineConfig& machine) {
    Refusals refused;
    for (;;) {
        Network network = make_network(prepared, machine, refused);
        // What is streamed decides forms, forms decide sizes, and sizes decide addresses.
        plan_parameters(network, machine);
        const auto shortage = fit_into_narrow_memory(network, machine);
        if (!shortage) return network;
        const auto last = static_cast<std::uint32_t>(network.steps.size() - 1);
        const std::uint32_t step = std::min(shortage->step, last);
        const ir::NodeId node = network.steps[step].node;
        if (!has_vector_work_before(network, step + 1) || refused.contains(node)) {
            throw ModelError(fmt::format("{}: {}", prepared.name, shortage->message));
        }
        refused.emplace(node, shortage->message);
    }
}

std::vector<Form> forms_of(const Network& network) {
    std::vector<Form> forms;
    for (const Tensor& tensor : network.tensors) forms.push_back(tensor.form);
    return forms;
}

mapping::Compiled compile(const ir::Graph& prepared, const machine::MachineConfig& machine,
                          const mapping::Options& options) {
    Network network = fitting_network(prepared, machine);
    // Tensors were placed with the forms of the first plan; now steps are in their last order.
    const std::vector<Form> placed_forms = forms_of(network);
    const ParameterPlan plan = plan_parameters(network, machine);
    if (forms_of(network) != placed_forms)
        throw std::logic_error("a tensor's form changed after its placement");
    mapping::Compiled compiled;
    compiled.program = emit_program(network, plan, machine, options.batches.inferences);
    compiled.batch = {.images = 1, .at_a_time = 1, .that_fit = 1};
    compiled.placed = placed_operators(network);
    if (options.explain) compiled.choices = choices_of(network, plan, compiled.placed, machine);
    return compiled;
}

}  // namespace

const target::Family family{
    .computes_on_integers = true,
    .places_operators = true,
    .compile = compile,
    .machine_key = [](const machine::MachineConfig& machine,
                      const machine::Mapping& /*mapping*/) { return to_json(machine).dump(); },
    .rounding = [](const machine::MachineConfig& machine) { return machine.tile_array.rounding; },
    .place_of = place_of};

}  // namespace systole::edge_tpu
