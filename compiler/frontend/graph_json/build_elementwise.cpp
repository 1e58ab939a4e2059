// Layers that work on each element by itself: activation functions, sums and products of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/frontend/graph_json/builders.h"
#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/add.h"
#include "compiler/graph/operators/multiply.h"
#include "compiler/graph/operators/softmax.h"
#include "compiler/graph/shape_text.h"

namespace systole::frontend::graph_json {
namespace {

using graph::Activation;
using graph::ActivationFunction;

/// The functions without parameters, which a layer may apply to its own result.
struct NamedFunction {
    std::string_view name;
    ActivationFunction function;
};

constexpr std::array functions{
    NamedFunction{"linear", ActivationFunction::Linear},
    NamedFunction{"relu", ActivationFunction::Relu},
    NamedFunction{"selu", ActivationFunction::Selu},
    NamedFunction{"sigmoid", ActivationFunction::Sigmoid},
    NamedFunction{"tanh", ActivationFunction::Tanh},
    NamedFunction{"swish", ActivationFunction::Swish},
    NamedFunction{"softplus", ActivationFunction::Softplus},
};

graph::NodeId append_function(LayerContext& context, ActivationFunction function) {
    return context.append(std::make_unique<Activation>(function), {context.input()});
}

graph::NodeId append_function_of_alpha(LayerContext& context, ActivationFunction function) {
    auto activation = std::make_unique<Activation>(function);
    if (context.config.find("alpha") == nullptr) context.config.fail("alpha", "it must be given");
    activation->alpha = context.config.number("alpha", 0.0F);
    return context.append(std::move(activation), {context.input()});
}

}  // namespace

graph::NodeId LayerContext::append_own_activation(graph::NodeId result) {
    const std::string name = config.text("activation", "linear");
    const auto* const found = std::ranges::find(functions, name, &NamedFunction::name);
    if (found == functions.end()) {
        std::vector<std::string_view> names;
        names.reserve(functions.size());
        for (const NamedFunction& function : functions) names.push_back(function.name);
        config.fail("activation", fmt::format("it must be one of {}", graph::joined(names)));
    }
    if (found->function == ActivationFunction::Linear) return result;
    return append(std::make_unique<Activation>(found->function), {result});
}

graph::NodeId build_linear(LayerContext& context) {
    return append_function(context, ActivationFunction::Linear);
}
graph::NodeId build_selu(LayerContext& context) {
    return append_function(context, ActivationFunction::Selu);
}
graph::NodeId build_sigmoid(LayerContext& context) {
    return append_function(context, ActivationFunction::Sigmoid);
}
graph::NodeId build_tanh(LayerContext& context) {
    return append_function(context, ActivationFunction::Tanh);
}
graph::NodeId build_swish(LayerContext& context) {
    return append_function(context, ActivationFunction::Swish);
}
graph::NodeId build_softplus(LayerContext& context) {
    return append_function(context, ActivationFunction::Softplus);
}
graph::NodeId build_leaky_relu(LayerContext& context) {
    return append_function_of_alpha(context, ActivationFunction::LeakyRelu);
}
graph::NodeId build_elu(LayerContext& context) {
    return append_function_of_alpha(context, ActivationFunction::Elu);
}

graph::NodeId build_relu(LayerContext& context) {
    auto activation = std::make_unique<Activation>(ActivationFunction::Relu);
    activation->maximum = context.config.number("maximum", activation->maximum);
    if (activation->maximum < 0.0F) context.config.fail("maximum", "it must be at least 0");
    return context.append(std::move(activation), {context.input()});
}

graph::NodeId build_softmax(LayerContext& context) {
    return context.append(std::make_unique<graph::Softmax>(), {context.input()});
}

graph::NodeId build_multiply(LayerContext& context) {
    return context.append_own_activation(context.append(std::make_unique<graph::Multiply>(), context.inputs));
}

graph::NodeId build_add(LayerContext& context) {
    return context.append_own_activation(context.append(std::make_unique<graph::Add>(), context.inputs));
}

}  // namespace systole::frontend::graph_json
