#pragma once

#include <cstdint>

#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"

namespace systole::operators {

enum class PoolKind : std::uint8_t { Max, Average };

/// The maximum or the average of each window, by channel. Elements outside the image do not count. Each
/// padding is smaller than the kernel, so that no window lies outside the image.
class Pool : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::LayerKind> layer_kinds() const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    bool is_identity(const ir::NodeView& node) const override;
    bool moves_elements() const override { return true; }
    void evaluate(const FloatCall& call) const override;

protected:
    /// The classes of Keras: over a window, and over the whole image.
    Pool(PoolKind kind, const char* keras_class, const char* keras_global_class)
        : kind_(kind), keras_class_(keras_class), keras_global_class_(keras_global_class) {}

private:
    PoolKind kind_;
    const char* keras_class_;
    const char* keras_global_class_;
};

}  // namespace systole::operators
