#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// Two-dimensional convolution over all input channels; what lies outside the image counts as 0.
class Convolution final : public Operator {
public:
    std::string_view kind() const override { return "convolution"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Convolution>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;
    std::uint64_t macs(std::span<const Shape> inputs) const override;

    std::uint64_t weight_count() const {
        return std::uint64_t{window.kernel_height} * window.kernel_width * in_channels * filters;
    }

    Window window;
    std::uint32_t in_channels = 0;
    std::uint32_t filters = 0;
    std::vector<float>
        weights;  ///< [kernel row][kernel column][input channel][filter]; empty: only their shape is known
    std::vector<float> bias;  ///< [filter], or empty
};

}  // namespace systole::graph
