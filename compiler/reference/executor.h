#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

/// Executors of networks on this computer, without a machine; compiled networks are checked against them.
namespace systole::reference {

/// Called with the values of each activation, inputs included: packed elements of several images at a time.
using ValueObserver = std::function<void(ir::ValueId value, std::span<const float> values)>;

/// Runs the graph on `batch` inputs, packed one after the other, and returns the packed outputs.
/// Throws ModelError unless `inputs` has batch * graph.input().shape.elements() values.
std::vector<float> execute(const ir::Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const ValueObserver& observer = {});

/// The index of the largest output of each inference, which is the predicted class; the first one of equals.
std::vector<std::uint32_t> argmax(std::span<const float> outputs, std::uint32_t batch);

/// The bytes of a value for all images of a batch: image by image, each in height, width, channel order;
/// multi-byte elements are little endian.
using TensorBytes = std::vector<std::uint8_t>;

/// Executes a quantized graph node by node with the integer reference of each operator, without tiles,
/// instructions or any arithmetic shared with the chip. `input` holds `batch` images. The result is the last
/// value that the chip computes, for all images; the host's work after it is not executed. Throws
/// std::logic_error if the input has another size.
TensorBytes execute(const ir::Graph& graph, std::span<const std::uint8_t> input, std::uint32_t batch);

/// The same for every value, indexed by its id; constants and values that the host computes are empty.
std::vector<TensorBytes> execute_all(const ir::Graph& graph, std::span<const std::uint8_t> input,
                                     std::uint32_t batch);

}  // namespace systole::reference
