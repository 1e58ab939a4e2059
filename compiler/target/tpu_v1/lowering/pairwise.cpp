// Sums and products of two activations: vector work.
#include "compiler/operators/pairwise.h"

#include "compiler/operators/add/add.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/multiply/multiply.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "hw/isa/instructions/vector.h"

namespace systole::tpu_v1 {
namespace {

void lower_pair(const ir::NodeView& node, isa::VectorOperation operation,
                const operators::PairScaling& scaling, Lowering& lowering) {
    lowering.require_tensors(node.node());
    const operators::Clamp clamp = operators::clamp_of(node);
    lowering.add_layer(node.node(), node.node().output(),
                       Elementwise{.operation = operation,
                                   .a = scaling.a,
                                   .b = scaling.b,
                                   .result = scaling.result,
                                   .minimum = clamp.minimum,
                                   .maximum = clamp.maximum,
                                   .table = {},
                                   .half_to_even = rounds_to_even(node.node())});
}

}  // namespace

void lower_add(const ir::NodeView& node, Lowering& lowering) {
    lower_pair(node, isa::VectorOperation::Add, operators::sum_scaling(node), lowering);
}

void lower_multiply(const ir::NodeView& node, Lowering& lowering) {
    lower_pair(node, isa::VectorOperation::Multiply, operators::product_scaling(node), lowering);
}

}  // namespace systole::tpu_v1
