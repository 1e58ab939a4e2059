#include "compiler/target/tensor_core/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/emit.h"
#include "compiler/target/tensor_core/memory.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/predict.h"

namespace systole::tensor_core {
namespace {

isa::Program program_of(Network& network, const machine::MachineConfig& machine,
                        const mapping::Batches& batches, bool with_constants) {
    const auto made = [&](bool keeps) {
        MemoryPlan plan = place_tensors(network, machine, {.keeps = keeps, .constants = with_constants});
        return emit_program(network, std::move(plan), machine, batches);
    };
    try {
        return made(true);
    } catch (const ModelError&) {
        return made(false);  // with all of vector memory for tiles, there may be room
    }
}

/// The images of a core's part of a batch that go through the network together. With fewer of them, more
/// tensors stay in vector memory, and weights come in more often.
std::uint64_t choose_images(Network& network, const machine::MachineConfig& machine, std::uint64_t of_core,
                            std::vector<mapping::Choice>* choices) {
    struct Candidate {
        std::uint64_t images = 0;
        Cycle cycles = 0;
    };
    std::vector<Candidate> candidates;
    std::optional<ModelError> failed;
    for (std::uint64_t parts = 1; parts <= of_core; parts *= 2) {
        const std::uint64_t images = divide_up(of_core, parts);
        network.images = images;
        try {
            // Two groups of images, of which one comes in while the other is worked on.
            const std::uint64_t groups = divide_up(of_core, images);
            const std::uint64_t predicted = std::min<std::uint64_t>(2, groups);
            const isa::Program program =
                program_of(network, machine,
                           {.batch = static_cast<std::uint32_t>(images * machine.cores()),
                            .inferences = predicted * images * machine.cores()},
                           false);
            candidates.push_back({images, predicted_cycles(program, machine) * groups / predicted});
        } catch (const ModelError& error) {
            if (!failed) failed = error;
        }
    }
    if (candidates.empty()) throw ModelError(*failed);
    const Candidate best = *std::ranges::min_element(candidates, {}, &Candidate::cycles);
    if (choices != nullptr) {
        mapping::Choice choice{.of = "images at a time"};
        for (const Candidate& each : candidates) {
            choice.alternatives.push_back({.name = std::to_string(each.images),
                                           .cycles = each.cycles,
                                           .chosen = each.images == best.images});
        }
        choices->push_back(std::move(choice));
    }
    return best.images;
}

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
    const std::uint64_t of_core = divide_up(batch, cores);
    Network network = make_network(prepared, machine, of_core);
    mapping::Compiled compiled;
    network.images = choose_images(network, machine, of_core, options.explain ? &compiled.choices : nullptr);
    compiled.program =
        program_of(network, machine, {.batch = batch, .inferences = options.batches.inferences}, true);
    const std::uint64_t at_a_time = std::min<std::uint64_t>(network.images * cores, batch);
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
