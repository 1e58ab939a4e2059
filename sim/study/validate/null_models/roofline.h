#pragma once

#include <cstdint>
#include <vector>

/// A roofline by hand: cycles from the shapes of layers and five published numbers of the chip. Nothing here
/// includes the compiler, the chip or a run (tests/system/include_rules.h); what does not predict better than
/// this has not learnt much about the chip.
namespace systole::null_models {

/// A layer with weights: one product of each vector with matrices side by side, whose sums are added.
struct Layer {
    std::vector<std::uint64_t> inputs;  ///< rows of each matrix; a convolution's are all those of a window
    std::uint64_t columns = 0;          ///< of all matrices
    std::uint64_t vectors = 1;          ///< of an inference: 1, or the pixels of a convolution
    std::uint32_t bits = 8;             ///< of an element of a vector: 8, or 16 at half rate
};

struct Network {
    std::vector<Layer> layers;
    std::uint64_t input_bytes = 0;  ///< of an inference
    std::uint64_t output_bytes = 0;
};

struct Chip {
    double clock_hz = 0.0;
    std::uint64_t array = 0;  ///< rows, and columns; a tile of weights has one byte for each cell
    double weight_bytes_per_second = 0.0;
    double link_bytes_per_second = 0.0;  ///< to the host and from it, one after the other
};

/// In cycles.
struct Prediction {
    double total = 0.0;     ///< the sum of the layers' longer times
    double active = 0.0;    ///< vectors stream through the array
    double useful = 0.0;    ///< the same if every cell were useful
    double stall = 0.0;     ///< the array waits for weights, but for `shift`
    double shift = 0.0;     ///< of this, the cycles in which a tile that was waited for moves in
    double transfer = 0.0;  ///< of inputs and outputs on the link; not in `total`
    double macs = 0.0;      ///< of the batch; a 16-bit one counts once
    std::uint64_t tiles = 0;
};

/// A batch. In each layer nothing counts but the longer of two: all vectors stream through all tiles, or all
/// tiles are fetched once. A matrix takes whole tiles of its own.
Prediction roofline(const Network& network, std::uint64_t batch, const Chip& chip);

/// Multiply-accumulates of an inference; a 16-bit one counts once.
std::uint64_t macs_of(const Network& network);
/// Bytes of weights, one for each cell of all matrices.
std::uint64_t weights_of(const Network& network);

/// The network with vectors of 8-bit elements in all layers.
Network with_8_bits(Network network);

}  // namespace systole::null_models
