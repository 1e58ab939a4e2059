#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// The image or vector the network is given.
class Input final : public Operator {
public:
    explicit Input(const Shape& input_shape) : shape(input_shape) {}

    std::string_view kind() const override { return "input"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Input>(*this); }
    Shape output_shape(std::span<const Shape> inputs) const override;
    /// Never called: the executor puts the values there.
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    Shape shape;
};

}  // namespace systole::graph
