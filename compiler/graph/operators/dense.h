#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// A matrix product with the whole input, flattened in height, width, channel order; of several inputs, with
/// all of them one behind the other.
class Dense final : public Operator {
public:
    std::string_view kind() const override { return "dense"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Dense>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;
    std::uint64_t macs(std::span<const Shape> inputs) const override;

    std::uint64_t weight_count() const { return std::uint64_t{in_elements} * units; }

    std::uint32_t in_elements = 0;  ///< of all inputs
    std::uint32_t units = 0;
    std::vector<float> weights;  ///< [input element][unit]; empty: only their shape is known
    std::vector<float> bias;     ///< [unit], or empty
};

}  // namespace systole::graph
