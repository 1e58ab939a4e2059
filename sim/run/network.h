#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "sim/run/images.h"
#include "sim/run/record/spec.h"

namespace systole::run {

/// A network, and how long reading its file took.
struct ReadNetwork {
    ir::Graph graph;
    double seconds = 0.0;
};

/// The run's network; without its weights in a timing-only run. The process keeps some networks without
/// weights for later runs, because to read a file often takes longer than to compile the network. Throws
/// ModelError.
ReadNetwork read_model(const RunSpec& spec);

/// The position that a text states; absent for another text, or if there is no such position.
std::optional<std::size_t> position_in(std::string_view text, std::size_t size);

/// An output of a network's file.
struct FileOutput {
    std::string name;
    std::optional<std::size_t> place;  ///< among those that the network computes; absent of a constant
};
/// All outputs, in the order of the file.
std::vector<FileOutput> outputs_of_file(const ir::Graph& graph);
/// The position of the output of that name, or else the position that the text states; absent if there is
/// none.
std::optional<std::size_t> find_output(const std::vector<FileOutput>& outputs, const std::string& given);

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

}  // namespace systole::run
