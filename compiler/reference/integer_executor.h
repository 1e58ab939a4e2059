#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::reference {

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
