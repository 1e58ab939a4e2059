#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// Two or more feature maps of one height and width, the channels of one behind those of the other.
class Concat final : public Operator {
public:
    std::string_view kind() const override { return "concat"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Concat>(*this); }
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;
};

}  // namespace systole::graph
