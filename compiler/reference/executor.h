#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

/// Executors of networks on this computer, without a machine: what a compiled network is judged by.
namespace systole::reference {

/// Told each activation, inputs too: the elements of some images, packed. Called for every one and image,
/// several images at a time.
using ValueObserver = std::function<void(ir::ValueId value, std::span<const float> values)>;

/// Runs the graph on `batch` inputs, packed one after the other, and returns the packed outputs.
/// Throws ModelError where `inputs` is not batch * graph.input().shape.elements() values.
std::vector<float> execute(const ir::Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const ValueObserver& observer = {});

/// The largest of each inference's outputs: the predicted class. The first of equals.
std::vector<std::uint32_t> argmax(std::span<const float> outputs, std::uint32_t batch);

/// The bytes of a value for all images of a batch: image by image, height, width, channel order; elements of
/// several bytes little endian.
using TensorBytes = std::vector<std::uint8_t>;

/// Executes a quantized graph as it stands, node by node, by the integer reference of each operator: no
/// tiles, no instructions, no arithmetic shared with the chip. `input` holds `batch` images; the result is
/// the last value that the chip computes, for as many: what the host does behind it is left out. Throws
/// std::logic_error where the input has another size.
TensorBytes execute(const ir::Graph& graph, std::span<const std::uint8_t> input, std::uint32_t batch);

/// The same, giving every value by its id; constants, and what the host computes, are empty.
std::vector<TensorBytes> execute_all(const ir::Graph& graph, std::span<const std::uint8_t> input,
                                     std::uint32_t batch);

}  // namespace systole::reference
