#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// A border of zeros around the image.
class ZeroPadding final : public Operator {
public:
    std::string_view kind() const override { return "zero_padding"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<ZeroPadding>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    std::uint32_t top = 0;     ///< pixels
    std::uint32_t bottom = 0;  ///< pixels
    std::uint32_t left = 0;    ///< pixels
    std::uint32_t right = 0;   ///< pixels
};

}  // namespace systole::graph
