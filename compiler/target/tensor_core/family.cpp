#include "compiler/target/tensor_core/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/combine_all_reduces.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/prepare.h"

namespace systole::tensor_core {
namespace {

/// A graph with its fastest mapping.
struct MappedGraph {
    Network network;
    ChosenMapping chosen;
};

MappedGraph map_graph(const ir::Graph& graph, const machine::MachineConfig& machine,
                      const mapping::Batches& batches, const machine::Mapping& options) {
    const std::uint64_t of_core = divide_up(batches.batch, machine.cores());
    const auto map_network = [&](const NetworkForm& form) {
        MappedGraph mapped{.network = make_network(graph, machine, of_core, form), .chosen = {}};
        mapped.chosen = choose_mapping(mapped.network, machine, batches);
        return mapped;
    };
    // Where there is no room, steps go in another order; then each form that may need room is left out alone,
    // and at last all of them.
    const NetworkForm wanted{.joins_steps = options.join_results,
                             .keeps_results = options.keep_results,
                             .frees_early = true,
                             .overlaps = options.overlap_transfers};
    std::vector<NetworkForm> forms(6, wanted);
    forms[0].frees_early = false;
    forms[2].joins_steps = false;
    forms[3].transposes_on_the_way = false;
    forms[4].by_lines = false;
    forms[5].packs_rows = false;
    for (const NetworkForm& form : forms) {
        try {
            return map_network(form);
        } catch (const ModelError&) {
            // The last one says what is wrong.
        }
    }
    return map_network({.by_lines = false,
                        .joins_steps = false,
                        .packs_rows = false,
                        .transposes_on_the_way = false,
                        .keeps_results = options.keep_results,
                        .frees_early = true,
                        .overlaps = options.overlap_transfers});
}

struct Combined {
    std::unique_ptr<const ir::Graph> graph = {};  ///< with combined sums; none if no sums can be combined
    MappedGraph mapped;
    std::vector<mapping::Alternative> alternatives = {};
};

/// Sums over all cores go over the links one by one, or combined: what is predicted to take fewer cycles, of
/// what there is room for.
Combined combine_where_faster(const ir::Graph& apart, const machine::MachineConfig& machine,
                              const mapping::Batches& batches, const machine::Mapping& options) {
    Combined combined;
    if (options.combine_sums && ir::mixes_images(apart))
        combined.graph = std::make_unique<ir::Graph>(passes::combine_all_reduces(apart));
    if (!combined.graph || combined.graph->nodes.size() == apart.nodes.size()) {
        combined.mapped = map_graph(apart, machine, batches, options);
        return combined;
    }
    std::optional<MappedGraph> best;
    std::optional<ModelError> failed;
    const auto consider = [&](const char* name, const ir::Graph& graph) {
        try {
            MappedGraph mapped = map_graph(graph, machine, batches, options);
            combined.alternatives.push_back({.name = name, .cycles = mapped.chosen.cycles});
            if (best && best->chosen.cycles <= mapped.chosen.cycles) return;
            for (mapping::Alternative& each : combined.alternatives) each.chosen = false;
            combined.alternatives.back().chosen = true;
            best = std::move(mapped);
        } catch (const ModelError& error) {
            if (!failed) failed = error;
        }
    };
    consider("one by one", apart);
    consider("combined", *combined.graph);
    if (!best) throw ModelError(*failed);
    combined.mapped = std::move(*best);
    return combined;
}

/// All images of a batch are there at once where caches are, and go through the steps in smaller numbers.
std::uint64_t images_at_once(const Mapping& mapping) {
    return mapping.segments.size() == 1 ? mapping.segments.front().images : mapping.images;
}

mapping::Choice images_at_a_time(const MappedGraph& mapped) {
    mapping::Choice choice{.of = "images at a time"};
    for (const auto& [mapping, cycles] : mapped.chosen.alternatives) {
        choice.alternatives.push_back({.name = std::to_string(images_at_once(mapping)),
                                       .cycles = cycles,
                                       .detail = to_text(mapping, mapped.network),
                                       .chosen = mapping == mapped.chosen.mapping});
    }
    return choice;
}

/// With state, and of several replicas, a batch is a step: an inference for each replica, of which each core
/// has one. A sum over the replicas would else be one over several steps.
void check_steps(const ir::Graph& graph, const machine::MachineConfig& machine,
                 const mapping::Batches& batches) {
    if (!graph.caches.empty() && batches.inferences != batches.batch) {
        throw ModelError(fmt::format(
            "{}: batch is {} for {} inferences; it has caches, which are those of one batch: both "
            "must be the same",
            graph.name, batches.batch, batches.inferences));
    }
    for (const ir::Graph::Cache& cache : graph.caches) {
        if (!cache.input) continue;
        const ir::Value& before = graph.values[graph.inputs[*cache.input]];
        const ir::Value& after = graph.values[graph.outputs[cache.output]];
        if (before.type == after.type) continue;
        throw ModelError(fmt::format("{}: a cache has one number format; input {} is {}, and output {} {}",
                                     graph.name, before.name, name_of(before.type), after.name,
                                     name_of(after.type)));
    }
    if (graph.state.empty() && graph.replicas == 1) return;
    if (graph.replicas != machine.cores()) {
        throw ModelError(fmt::format(
            "{}: it is a program for {}; machine {} has {}, and there must be as many", graph.name,
            counted(graph.replicas, "device"), machine.name, counted(machine.cores(), "core")));
    }
    if (batches.batch != graph.replicas) {
        throw ModelError(
            fmt::format("{}: batch is {}; it has {}, and a step has an inference for each replica: {}",
                        graph.name, batches.batch,
                        graph.state.empty() ? counted(graph.replicas, "replica") : "state", graph.replicas));
    }
    if (batches.inferences % batches.batch != 0) {
        throw ModelError(
            fmt::format("{}: {} inferences are no whole steps; a step has {}, one for each replica",
                        graph.name, batches.inferences, batches.batch));
    }
}

mapping::Compiled compile(const ir::Graph& original, const machine::MachineConfig& machine,
                          const mapping::Options& options) {
    check_steps(original, machine, options.batches);
    const auto batch = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(options.batches.batch, options.batches.inferences));
    const std::uint32_t cores = machine.cores();
    if (options.batches.batch % cores != 0) {
        throw ModelError(
            fmt::format("{}: batch is {}; machine {} has {}, which have equal parts of it: it must "
                        "be a multiple of {}",
                        original.name, options.batches.batch, machine.name, counted(cores, "core"), cores));
    }
    if (ir::mixes_images(original) && options.batches.inferences % options.batches.batch != 0) {
        throw ModelError(
            fmt::format("{}: {} inferences are no multiple of the batch of {}; the network sums over the "
                        "images of a batch, and no batch may have fewer",
                        original.name, options.batches.inferences, options.batches.batch));
    }
    const mapping::Batches batches{.batch = batch, .inferences = options.batches.inferences};
    const ir::Graph graph = prepared(original, machine);
    Combined combined = combine_where_faster(graph, machine, batches, options.mapping);
    mapping::Compiled compiled;
    if (options.explain) {
        if (combined.alternatives.size() > 1)
            compiled.choices.push_back({.of = "sums over all cores", .alternatives = combined.alternatives});
        compiled.choices.push_back(images_at_a_time(combined.mapped));
    }
    const std::uint64_t at_a_time =
        std::min<std::uint64_t>(images_at_once(combined.mapped.chosen.mapping) * cores, batch);
    compiled.program = std::move(combined.mapped.chosen.program);
    compiled.batch = {.images = batch, .at_a_time = at_a_time, .that_fit = at_a_time};
    return compiled;
}

}  // namespace

const target::Family family{
    .words =
        [](const machine::MachineConfig& machine) {
            const auto precision = static_cast<std::size_t>(machine.matrix_unit.precision);
            return ir::WordsOptions{.sum_tile = machine.matrix_unit.rows,
                                    .precision = std::string(machine::matrix_precision_names.at(precision)),
                                    .reduction_block = machine.vector_unit.lanes};
        },
    .compile = compile,
    .machine_key = [](const machine::MachineConfig& machine,
                      const machine::Mapping& /*mapping*/) { return to_json(machine).dump(); },
    .place_of = [](const ir::Operator& op) -> std::string_view {
        return static_cast<const operators::Operator&>(op).has_words() ? "core" : "refused";
    }};

}  // namespace systole::tensor_core
