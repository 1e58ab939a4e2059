#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/graph/quantized_network.h"

/// What a network computes, by definition: the judges of the compiler.
namespace systole::reference {

/// The bytes of a tensor for all images of a batch: image by image, height, width, channel order; 16-bit
/// elements little endian.
using TensorBytes = std::vector<std::uint8_t>;

/// Executes the quantized network as it stands, layer by layer in plain loops: no tiles, no
/// instructions, no arithmetic shared with the chip. `input` holds `batch` images; the result is the
/// output tensor of as many. Throws std::logic_error where the network contradicts itself or the
/// input has another size.
TensorBytes execute(const quantized::Network& network, std::span<const std::uint8_t> input,
                    std::uint32_t batch);

/// The same, giving every tensor of the network, by its id.
std::vector<TensorBytes> execute_all(const quantized::Network& network, std::span<const std::uint8_t> input,
                                     std::uint32_t batch);

}  // namespace systole::reference
