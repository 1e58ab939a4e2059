#include "compiler/target/tensor_core/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/network.h"

namespace systole::tensor_core {
namespace {

mapping::Compiled compile(const ir::Graph& prepared, const machine::MachineConfig& machine,
                          const mapping::Options& options) {
    const auto batch = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(options.batches.batch, options.batches.inferences));
    const std::uint32_t cores = machine.cores();
    if (options.batches.batch % cores != 0) {
        throw ModelError(
            fmt::format("{}: batch is {}; machine {} has {}, which have equal parts of it: it must "
                        "be a multiple of {}",
                        prepared.name, options.batches.batch, machine.name, counted(cores, "core"), cores));
    }
    if (ir::mixes_images(prepared) && options.batches.inferences % options.batches.batch != 0) {
        throw ModelError(
            fmt::format("{}: {} inferences are no multiple of the batch of {}; the network sums over the "
                        "images of a batch, and no batch may have fewer",
                        prepared.name, options.batches.inferences, options.batches.batch));
    }
    const mapping::Batches batches{.batch = batch, .inferences = options.batches.inferences};
    const std::uint64_t of_core = divide_up(batch, cores);
    Network network = make_network(prepared, machine, of_core);
    const auto choose = [&] {
        try {
            return choose_mapping(network, machine, batches);
        } catch (const ModelError&) {
            network = make_network(prepared, machine, of_core, false);  // windows of lines may need more room
            return choose_mapping(network, machine, batches);
        }
    };
    ChosenMapping chosen = choose();
    mapping::Compiled compiled;
    if (options.explain) {
        mapping::Choice choice{.of = "images at a time"};
        for (const auto& [mapping, cycles] : chosen.alternatives) {
            choice.alternatives.push_back({.name = std::to_string(mapping.images),
                                           .cycles = cycles,
                                           .detail = to_text(mapping, network),
                                           .chosen = mapping == chosen.mapping});
        }
        compiled.choices.push_back(std::move(choice));
    }
    compiled.program = std::move(chosen.program);
    const std::uint64_t at_a_time = std::min<std::uint64_t>(chosen.mapping.images * cores, batch);
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
                      const machine::Mapping& /*mapping*/) { return to_json(machine).dump(); }};

}  // namespace systole::tensor_core
