#include "compiler/operators/pairwise.h"

#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {

const std::vector<ir::AttributeDeclaration>& PairwiseOperator::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations{clamp_attribute()};
    return declarations;
}

std::vector<ir::Shape> PairwiseOperator::output_shapes(const ir::NodeView& node) const {
    const std::size_t inputs = node.node().inputs.size();
    if (inputs != 2)
        throw ModelError(
            fmt::format("it {} {}; it must have exactly 2", verb_, ir::counted(inputs, "input")));
    if (node.input_map(0) != node.input_map(1)) {
        throw ModelError(fmt::format("it {} {} and {}; the shapes must be the same", verb_,
                                     to_text(node.input_map(0)), to_text(node.input_map(1))));
    }
    return {node.input().shape};
}

void PairwiseOperator::check_types(const ir::NodeView& node) const {
    check_clamp(node);
    if (!works_on_integers(node)) return;
    require_integers(node);
    require_one_type(node);
    // Throws if a multiplier that follows from the scales is out of range.
    work_of(node);
}

Placement PairwiseOperator::placement() const {
    return {.where = "activation unit, as vector work",
            .formats = "float32; uint8, int8 or int16, inputs and result alike"};
}

void PairwiseOperator::lower(const ir::NodeView& node, Lowering& lowering) const {
    lowering.require_tensors(node.node());
    mapping::Elementwise work = work_of(node);
    const Clamp clamp = clamp_of(node);
    work.minimum = clamp.minimum;
    work.maximum = clamp.maximum;
    lowering.add_layer(node.node(), node.node().output(), work);
}

ir::LayerKind json_pairwise_layer(std::string_view op) {
    return {.format = ir::Format::GraphJson,
            .name = std::string(op),
            .keys = {{"activation", "a function of the result"}},
            .build = [op](ir::LayerReader& layer) {
                return layer.append_function("activation", layer.append(op, {}, layer.inputs()));
            }};
}

}  // namespace systole::operators
