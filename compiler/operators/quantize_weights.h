#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/encoding.h"

namespace systole::operators {

/// The weights of a convolution or dense layer as integers.
struct QuantizedWeights {
    std::vector<std::int8_t> weights;
    std::vector<double> scales;      ///< of each output channel's weights
    std::vector<std::int32_t> bias;  ///< in units of the inputs' largest scale times the channel's
    /// The output's encoding: the wanted one, or one with a larger scale if sums would overflow.
    ir::Encoding output;
};

/// An input of a layer with weights: its encoding, and the number of its weights for each output channel.
struct WeightedInput {
    ir::Encoding encoding;
    std::size_t elements = 0;
};

/// Quantizes weights symmetrically to -127..127, with a scale for each output channel (the fastest
/// dimension), such that no sum can overflow 32 bits. `bias` has a value for each output channel. All values
/// must be finite.
QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  const ir::Encoding& input, const ir::Encoding& output);

/// The same for several inputs of the same type, whose weights follow each other. If the inputs' scales
/// differ, the weights of an input with a smaller scale are reduced accordingly.
QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  std::span<const WeightedInput> inputs, const ir::Encoding& output);

}  // namespace systole::operators
