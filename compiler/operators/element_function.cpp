#include "compiler/operators/element_function.h"

#include "compiler/operators/quantizer.h"

namespace systole::operators {

std::vector<ir::Shape> FunctionOperator::output_shapes(const ir::NodeView& node) const {
    node.require_inputs(1);
    return {node.input().shape};
}

FunctionParameters FunctionOperator::parameters_of(const ir::Node& node) const {
    FunctionParameters parameters;
    for (const ir::AttributeDeclaration& declaration : definition_.attributes) {
        float& parameter = declaration.name == "alpha" ? parameters.alpha : parameters.maximum;
        parameter = static_cast<float>(node.real(declaration.name));
    }
    return parameters;
}

void FunctionOperator::evaluate(const FloatCall& call) const {
    definition_.apply(call.inputs[0], call.output, call.batch * call.node.input().shape.elements(),
                      parameters_of(call.node.node()));
}

std::optional<ElementFunction> FunctionOperator::function(const ir::Node& node) const {
    return [apply = definition_.apply, parameters = parameters_of(node)](float x) {
        float result = 0.0F;
        apply(&x, &result, 1, parameters);
        return result;
    };
}

Placement FunctionOperator::placement() const {
    return {.where = "as a `lookup`", .formats = "float32"};
}

void FunctionOperator::quantize(const ir::Node& node, Quantizer& quantizer) const {
    quantizer.require_one_width(node);
    const ir::ValueId from = quantizer.stored(node.inputs.front());
    const ir::ValueId to = quantizer.add_value(node.output(), quantizer.encoding(node.output()));
    quantizer.store(node.output(), to);
    quantizer.add_lookup(node, from, to, *function(node));
}

ir::LayerKind json_function_layer(std::string_view op) {
    return {.format = ir::Format::GraphJson,
            .name = std::string(op),
            .keys = {},
            .build = [op](ir::LayerReader& layer) { return layer.append(op, {}, {layer.input()}); }};
}

ir::LayerKind json_alpha_layer(std::string_view op) {
    return {.format = ir::Format::GraphJson,
            .name = std::string(op),
            .keys = {{"alpha", "`alpha`"}},
            .build = [op](ir::LayerReader& layer) {
                if (!layer.has("alpha")) layer.fail("alpha", "it must be given");
                return layer.append(op, {{"alpha", double{layer.number("alpha", 0.0F)}}}, {layer.input()});
            }};
}

ir::AttributeDeclaration alpha_attribute(std::string_view meaning) {
    return {.name = "alpha", .meaning = std::string(meaning), .absent = 0.0, .size = {}};
}

}  // namespace systole::operators
