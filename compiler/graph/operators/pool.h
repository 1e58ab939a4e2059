#pragma once

#include "compiler/graph/graph.h"

namespace systole::graph {

enum class PoolKind : std::uint8_t { Max, Average };

/// The maximum or the average of each window, by channel. Elements outside the image do not count.
class Pool final : public Operator {
public:
    Pool(PoolKind pool_kind, const Window& pool_window) : pooling(pool_kind), window(pool_window) {}

    std::string_view kind() const override { return "pool"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Pool>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    PoolKind pooling;
    Window window;  ///< each padding smaller than the kernel, so that no window lies outside the image
};

}  // namespace systole::graph
