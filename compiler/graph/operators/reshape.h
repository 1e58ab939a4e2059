#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// The same elements, in height, width, channel order, under another shape.
class Reshape final : public Operator {
public:
    explicit Reshape(const Shape& new_shape) : shape(new_shape) {}

    std::string_view kind() const override { return "reshape"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Reshape>(*this); }
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    Shape shape;
};

}  // namespace systole::graph
