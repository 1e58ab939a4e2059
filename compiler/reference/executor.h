#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

/// Executors of networks on this computer, without a machine; compiled networks are checked against them.
/// Each node is computed by the reference of its operator, without tiles, instructions or, on integers, any
/// arithmetic shared with the chip.
namespace systole::reference {

/// The bytes of a value for all images of a batch, image by image, or once if all share them; multi-byte
/// elements are little endian.
using TensorBytes = std::vector<std::uint8_t>;

/// Called with the bytes of each activation, inputs of the network included.
using TensorObserver = std::function<void(ir::ValueId value, std::span<const std::uint8_t> bytes)>;

/// Runs the graph on `batch` inferences and returns the outputs of the network. `inputs` has the bytes of
/// each input of the network, in its type. Throws std::logic_error if one has another size.
std::vector<TensorBytes> run(const ir::Graph& graph, std::span<const std::span<const std::uint8_t>> inputs,
                             std::uint32_t batch, const TensorObserver& observer = {});

/// Runs a graph with state once for each element of `steps`: the bytes of the inputs without state, in the
/// order of the graph. `state` has those of the inputs with state, in the order of ir::Graph::state; an
/// output replaces its input in the next step. Returns the outputs of the network of each step.
std::vector<std::vector<TensorBytes>> run_steps(const ir::Graph& graph, std::vector<TensorBytes> state,
                                                std::span<const std::vector<TensorBytes>> steps,
                                                std::uint32_t batch);

/// Called with the values of each float activation, inputs included: packed elements of several images at a
/// time.
using ValueObserver = std::function<void(ir::ValueId value, std::span<const float> values)>;

/// Runs a float graph of one input and one output on `batch` inputs, packed one after the other, and returns
/// the packed outputs. Throws ModelError unless `inputs` has batch * graph.input().shape.elements() values.
std::vector<float> execute(const ir::Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const ValueObserver& observer = {});

/// The same for a float graph of any number of inputs and outputs, by their order in the graph. Inputs and
/// outputs of integers hold these integers as floats.
std::vector<std::vector<float>> execute(const ir::Graph& graph,
                                        std::span<const std::span<const float>> inputs, std::uint32_t batch,
                                        const ValueObserver& observer = {});

/// The index of the largest output of each inference, which is the predicted class; the first one of equals.
std::vector<std::uint32_t> argmax(std::span<const float> outputs, std::uint32_t batch);

/// Executes a quantized graph of one input and one output. `input` holds `batch` images. The result is the
/// last value that the chip computes, for all images. Throws std::logic_error if the input has another size.
TensorBytes execute(const ir::Graph& graph, std::span<const std::uint8_t> input, std::uint32_t batch);

/// The same for every value, indexed by its id; constants are empty.
std::vector<TensorBytes> execute_all(const ir::Graph& graph, std::span<const std::uint8_t> input,
                                     std::uint32_t batch);

}  // namespace systole::reference
