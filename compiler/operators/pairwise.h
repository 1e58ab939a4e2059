#pragma once

#include "compiler/operators/encoding.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {

/// What sums and products share: element by element, of two tensors of one shape and, on integers, one type.
class PairwiseOperator : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    void lower(const ir::NodeView& node, Lowering& lowering) const override;

protected:
    /// What the operator does, in messages: "adds".
    explicit PairwiseOperator(const char* verb) : verb_(verb) {}

    /// The work of a node, but for its clamp.
    virtual mapping::Elementwise work_of(const ir::NodeView& node) const = 0;

private:
    const char* verb_;
};

/// A layer of graph files with the operator's name and perhaps a function of the result.
ir::LayerKind json_pairwise_layer(std::string_view op);

}  // namespace systole::operators
