#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

/// A range of the elements of a vector.
class Slice final : public Operator {
public:
    /// Elements [first_element, first_element + element_count).
    Slice(std::uint32_t first_element, std::uint32_t element_count)
        : first(first_element), count(element_count) {}

    std::string_view kind() const override { return "slice"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Slice>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    std::uint32_t first;
    std::uint32_t count;
};

}  // namespace systole::graph
