#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// Turns the channels of each pixel into probabilities: exp(x) over their sum.
class Softmax final : public Operator {
public:
    std::string_view kind() const override { return "softmax"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Softmax>(*this); }
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;
};

}  // namespace systole::graph
