#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// The element-wise product of two tensors of one shape.
class Multiply final : public Operator {
public:
    std::string_view kind() const override { return "multiply"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Multiply>(*this); }
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;
};

}  // namespace systole::graph
