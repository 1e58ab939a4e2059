#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/operators/encoding.h"

namespace systole::operators {

/// Weights of a convolution or dense layer as the chip multiplies them.
struct QuantizedWeights {
    std::vector<std::int8_t> weights;
    std::vector<double> scales;      ///< of the weights of each output channel
    std::vector<std::int32_t> bias;  ///< in units of the inputs' largest scale times the channel's
    /// The output's encoding: as asked for, or with a larger scale where sums would not have fitted.
    Encoding output;
};

/// An input that weights meet: how it is stored, and how many of the weights of each output channel.
struct WeightedInput {
    Encoding encoding;
    std::size_t elements = 0;
};

/// Quantizes weights symmetrically to -127..127, with a scale for each output channel (the fastest
/// dimension), so that no sum can leave 32 bits. `bias` has a value for each output channel. All values
/// must be finite.
QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  const Encoding& input, const Encoding& output);

/// The same where inputs follow each other, all of one type. Where their scales differ, the weights make
/// up for it: those of an input of a smaller scale become smaller.
QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  std::span<const WeightedInput> inputs, const Encoding& output);

}  // namespace systole::operators
