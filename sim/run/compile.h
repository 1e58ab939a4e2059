#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/target.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/images.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"

/// The calls from runs into the compiler.
namespace systole::run {

/// The properties of the machine that the compiler reads, and its choices.
schedule::Target target_of(const machine::MachineConfig& machine, const Mapping& mapping);
/// The whole target as JSON: targets with the same JSON have the same programs.
nlohmann::json to_json(const schedule::Target& target);

/// The run's network; without its weights in a timing-only run. Throws ModelError.
ir::Graph read_model(const RunSpec& spec);

/// The input of a network. (Its file has the graph's order of axes.)
InputTensor input_tensor(const ir::Graph& graph);

/// How the run's pixels become numbers; `graph` is null for a program, and else the network as it was read.
Normalization normalization_of(const RunSpec& spec, const ir::Graph* graph);

/// The run's images, up to its limit, for this input of the network or program `name`; none if the run names
/// none. Throws InputError.
std::optional<NamedImages> read_input(const RunSpec& spec, const InputTensor& tensor,
                                      const std::string& name);

/// The same for a network, or the made-up input that the run requests instead: as many images as the limit,
/// else one batch.
std::optional<NamedImages> read_input(const RunSpec& spec, const ir::Graph& graph);

/// A warning for images of another scale than they are expected in: by a float network, or as the program's
/// input `tensor` stores them. Null: there is no network, or no program yet. Absent if the run reads no
/// image files or computes no values.
std::optional<std::string> scale_warning(const RunSpec& spec, const ir::Graph* graph,
                                         const isa::BorderTensor* tensor, const NamedImages& images);

/// The network on integers: quantized with the run's calibration images, else with the first of its input.
/// Where pixels are the input, a stored byte is a pixel. A network without weights needs no images, as no
/// cycle depends on a value, nor does one that is on integers already. `observer` is told the graph after
/// each pass. Throws ModelError, InputError.
ir::Graph quantize(const ir::Graph& graph, const RunSpec& spec, const std::optional<NamedImages>& input,
                   const passes::PassObserver& observer = {});

/// The error, with the network's file in place of the network's name.
[[noreturn]] void throw_with_file(const ModelError& error, const RunSpec& spec, const ir::Graph& graph);

/// Does a part of the compilation, whose errors then name the network's file.
template <class Work>
auto naming_file(const RunSpec& spec, const ir::Graph& graph, const Work& work) {
    try {
        return work();
    } catch (const ModelError& error) {
        throw_with_file(error, spec, graph);
    }
}

/// How the batch goes through the chip. For a batch that was cut, the network is scheduled again with batches
/// that fit, of which the one that fetches weights for most images is named.
BatchFacts batch_facts(const mapping::Network& network, const schedule::Schedule& schedule);

/// Batch and number of inferences: as many as there are images; without images the limit, or one batch.
schedule::Options options_of(const RunSpec& spec, const std::optional<NamedImages>& input);

}  // namespace systole::run
