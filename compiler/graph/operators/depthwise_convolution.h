#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// Convolution of each input channel by itself: output channel c * multiplier + m sees input channel c
/// alone. What lies outside the image counts as 0.
class DepthwiseConvolution final : public Operator {
public:
    std::string_view kind() const override { return "depthwise_convolution"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<DepthwiseConvolution>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;
    std::uint64_t macs(std::span<const Shape> inputs) const override;

    /// Channels of the result.
    std::uint32_t out_channels() const { return in_channels * multiplier; }

    std::uint64_t weight_count() const {
        return std::uint64_t{window.kernel_height} * window.kernel_width * in_channels * multiplier;
    }

    Window window;
    std::uint32_t in_channels = 0;
    std::uint32_t multiplier = 1;
    /// [kernel row][kernel column][input channel][multiplier]; empty: only their shape is known
    std::vector<float> weights;
    std::vector<float> bias;  ///< [output channel], or empty
};

}  // namespace systole::graph
