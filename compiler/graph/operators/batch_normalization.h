#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// gamma * (x - mean) / sqrt(variance + epsilon) + beta, by channel: what is left of batch
/// normalization after training.
class BatchNormalization final : public Operator {
public:
    std::string_view kind() const override { return "batch_normalization"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<BatchNormalization>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    /// The same as a multiplication and an addition.
    struct Affine {
        std::vector<float> scale;
        std::vector<float> offset;
    };
    Affine affine() const;

    float epsilon = 1e-3F;
    std::vector<float> gamma;     ///< [channel]
    std::vector<float> beta;      ///< [channel]
    std::vector<float> mean;      ///< [channel]
    std::vector<float> variance;  ///< [channel]; variance + epsilon must be above 0
};

}  // namespace systole::graph
