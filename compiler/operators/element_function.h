#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/operators/operator.h"

namespace systole::operators {

/// The parameters that functions may have; each reads those it declares.
struct FunctionParameters {
    float alpha = 0.0F;
    float maximum = 0.0F;
};

/// A function over an array: as a template, so that the compiler sees both and vectorizes.
template <auto function>
void apply_to_all(const float* from, float* to, std::size_t count, const FunctionParameters& parameters) {
    for (std::size_t i = 0; i < count; ++i) to[i] = function(from[i], parameters);
}

/// What an activation function has besides its formula.
struct FunctionDefinition {
    std::string_view name;
    std::string_view summary;
    void (*apply)(const float* from, float* to, std::size_t count, const FunctionParameters& parameters);
    std::vector<ir::AttributeDeclaration> attributes = {};  ///< "alpha", "maximum"
    std::vector<ir::LayerKind> layers = {};
    std::vector<ir::FunctionName> functions = {};
};

/// A function of each element by itself.
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
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    void evaluate(const FloatCall& call) const override;
    std::optional<ElementFunction> function(const ir::Node& node) const override;
    Placement placement() const override;
    /// It becomes a lookup.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;

private:
    FunctionParameters parameters_of(const ir::Node& node) const;

    FunctionDefinition definition_;
};

/// A layer of graph files that is the function alone.
ir::LayerKind json_function_layer(std::string_view op);
/// The same for one that needs `alpha`.
ir::LayerKind json_alpha_layer(std::string_view op);
/// `alpha`, declared.
ir::AttributeDeclaration alpha_attribute(std::string_view meaning);

}  // namespace systole::operators
