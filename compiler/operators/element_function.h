#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/operators/operator.h"
#include "compiler/operators/word_expression.h"

namespace systole::operators {

/// The parameters of all functions; a function reads those it declares.
struct FunctionParameters {
    float alpha = 0.0F;
    float beta = 0.0F;
    float minimum = 0.0F;
    float maximum = 0.0F;
};

/// Applies a function to an array. A template, so that the compiler inlines the function and vectorizes the
/// loop.
template <auto function>
void apply_to_all(const float* from, float* to, std::size_t count, const FunctionParameters& parameters) {
    for (std::size_t i = 0; i < count; ++i) to[i] = function(from[i], parameters);
}

/// The definition of an activation function.
struct FunctionDefinition {
    std::string_view name;
    std::string_view summary;
    void (*apply)(const float* from, float* to, std::size_t count, const FunctionParameters& parameters);
    /// The function on words; null: machines that compute in floats do not compute it.
    Word (*words)(const Word& x, const FunctionParameters& parameters) = nullptr;
    /// Named as the parameters.
    std::vector<ir::AttributeDeclaration> attributes = {};
    std::vector<ir::LayerKind> layers = {};
    std::vector<ir::FunctionName> functions = {};
};

/// An operator that applies a function to each element.
class FunctionOperator : public Operator {
public:
    explicit FunctionOperator(FunctionDefinition definition) : definition_(std::move(definition)) {}

    std::string_view name() const override { return definition_.name; }
    std::string_view summary() const override { return definition_.summary; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        return definition_.attributes;
    }
    std::vector<ir::LayerKind> layer_kinds() const override { return definition_.layers; }
    std::vector<ir::FunctionName> function_names() const override { return definition_.functions; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return batch_of_elements(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    void evaluate(const FloatCall& call) const override;
    std::optional<ElementFunction> function(const ir::Node& node) const override;
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    Placement placement() const override;
    /// The node becomes a lookup.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    bool has_words() const override { return definition_.words != nullptr; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

private:
    FunctionParameters parameters_of(const ir::Node& node) const;

    FunctionDefinition definition_;
};

/// A layer of graph files that only applies the function.
ir::LayerKind json_function_layer(std::string_view op);
/// The same for a function with the parameter `alpha`.
ir::LayerKind json_alpha_layer(std::string_view op);
/// Nodes of TFLite and ONNX files that only apply the function.
ir::LayerKind onnx_function(std::string_view op, const char* name);
ir::LayerKind tflite_function(std::string_view op, const char* name);
/// The same for a node of ONNX with the parameter `alpha`.
ir::LayerKind onnx_alpha_function(std::string_view op, const char* name, float absent);
/// The declaration of `alpha`.
ir::AttributeDeclaration alpha_attribute(std::string_view meaning);

}  // namespace systole::operators
