#pragma once

#include "compiler/operators/encoding.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {

/// The base of sums and products: element by element, of two tensors with the same shape and, on integers,
/// type.
class PairwiseOperator : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    void lower(const ir::NodeView& node, Lowering& lowering) const override;

protected:
    /// `verb` is the operator's verb in messages: "adds".
    explicit PairwiseOperator(const char* verb) : verb_(verb) {}

    /// The work of a node, without its clamp.
    virtual mapping::Elementwise work_of(const ir::NodeView& node) const = 0;

private:
    const char* verb_;
};

/// A layer of graph files with the operator's name and an optional function of the result.
ir::LayerKind json_pairwise_layer(std::string_view op);

}  // namespace systole::operators
