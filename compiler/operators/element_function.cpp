#include "compiler/operators/element_function.h"

#include <map>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {

std::vector<ir::Shape> FunctionOperator::output_shapes(const ir::NodeView& node) const {
    if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
    return {node.input().shape};
}

FunctionParameters FunctionOperator::parameters_of(const ir::Node& node) const {
    FunctionParameters parameters;
    for (const ir::AttributeDeclaration& declaration : definition_.attributes) {
        static const std::map<std::string_view, float FunctionParameters::*> members{
            {"alpha", &FunctionParameters::alpha},
            {"beta", &FunctionParameters::beta},
            {"minimum", &FunctionParameters::minimum},
            {"maximum", &FunctionParameters::maximum}};
        parameters.*members.at(declaration.name) = static_cast<float>(node.real(declaration.name));
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

void FunctionOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const FunctionParameters parameters = parameters_of(node);
    builder.set(node.output(), builder.chain({builder.input_of(node)}, [&](std::span<const Word> inputs) {
        return definition_.words(inputs[0], parameters);
    }));
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

ir::LayerKind onnx_function(std::string_view op, const char* name) {
    return onnx_plain_node(op, name, 1);
}

ir::LayerKind tflite_function(std::string_view op, const char* name) {
    return tflite_plain_node(op, name, 1);
}

ir::LayerKind onnx_alpha_function(std::string_view op, const char* name, float absent) {
    return {.format = ir::Format::Onnx,
            .name = name,
            .keys = {{"alpha", "`alpha`"}},
            .build = [op, absent](ir::LayerReader& layer) {
                const double alpha = layer.number("alpha", absent);
                return layer.append(op, {{"alpha", alpha}}, {input_of(layer, 0)});
            }};
}

ir::AttributeDeclaration alpha_attribute(std::string_view meaning) {
    return {.name = "alpha", .meaning = std::string(meaning), .absent = 0.0, .size = {}};
}

}  // namespace systole::operators
