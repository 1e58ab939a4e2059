#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/images.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"

/// The calls from runs into the compiler.
namespace systole::run {

/// All that the program of a run depends on besides the fields of the spec without its machine.
std::string mapping_key(const RunSpec& spec);

/// A network, and how long reading its file took.
struct ReadNetwork {
    ir::Graph graph;
    double seconds = 0.0;
};

/// The run's network; without its weights in a timing-only run. The process keeps some networks without
/// weights for later runs, because to read a file often takes longer than to compile the network. Throws
/// ModelError.
ReadNetwork read_model(const RunSpec& spec);

/// The axes of one inference of an input or output of a network, in the order of the graph.
struct InferenceAxes {
    std::vector<std::uint32_t> extents = {};
    std::vector<std::uint32_t> file_axes = {};  ///< to the order of the network's file; empty: the same
    /// Whether the tensor's first axis is the batch, so that its place in arrays is that of the number of
    /// inferences. If not, an inference takes the whole tensor.
    bool has_batch = true;
};
InferenceAxes axes_of_inference(const ir::Value& value);

/// The inputs of a network, in its order.
std::vector<InputTensor> input_tensors(const ir::Graph& graph);

/// How the run's pixels become numbers of each input of the network, as it was read. Where the run does not
/// say it, pixels stay from 0 to 255 if the network scales them itself.
std::vector<Normalization> normalizations_of(const RunSpec& spec, const ir::Graph& graph);

/// The same for all inputs of a program.
Normalization program_normalization(const RunSpec& spec);

/// The run's values of each input of the network or program `name`, up to its limit; none if the run names
/// none. Throws InputError.
std::vector<NamedImages> read_input(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                    const std::string& name);

/// The same for a network, or the made-up input that the run requests instead: as many images as the limit,
/// else one batch.
std::vector<NamedImages> read_input(const RunSpec& spec, const ir::Graph& graph);

/// Made-up values of each input.
std::vector<NamedImages> random_inputs(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                       std::uint64_t count);

/// The inputs whose pixels go in from 0 to 255, because the network scales them and the run does not say
/// otherwise.
std::vector<PixelScaling> own_scaling(const RunSpec& spec, const ir::Graph& graph,
                                      const std::vector<NamedImages>& inputs);

/// Warnings for images of another scale than they are expected in: by a float network, or as the program's
/// inputs `tensors` store them. No graph: there is no network; no tensors: no program yet. None if the run
/// reads no image files or computes no values.
std::vector<std::string> scale_warnings(const RunSpec& spec, const ir::Graph* graph,
                                        std::span<const isa::BorderTensor> tensors,
                                        const std::vector<NamedImages>& inputs);

/// Warnings for numbers that the program's inputs `tensors` store badly: most of those besides 0 become 0, or
/// numbers are far outside of the range. None if the run computes no values.
std::vector<std::string> storage_warnings(const RunSpec& spec, std::span<const isa::BorderTensor> tensors,
                                          const std::vector<NamedImages>& inputs);

/// The network on integers: quantized with the run's calibration images, else with the first of its input.
/// Where pixels are the input, a stored byte is a pixel. A network without weights needs no images, as no
/// cycle depends on a value, nor does one that is on integers already. `observer` is told the graph after
/// each pass. Throws ModelError, InputError.
ir::Graph quantize(const ir::Graph& graph, const RunSpec& spec, const std::vector<NamedImages>& inputs,
                   const compiler::PassObserver& observer = {});

/// The same beside the network in float from which it was quantized.
compiler::QuantizedNetwork quantize_beside_float(const ir::Graph& graph, const RunSpec& spec,
                                                 const std::vector<NamedImages>& inputs);

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

/// Batch and number of inferences: as many as there are images; without images the limit, or one batch.
compiler::Batches batches_of(const RunSpec& spec, const std::vector<NamedImages>& inputs);

}  // namespace systole::run
