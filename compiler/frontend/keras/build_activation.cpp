// Activation functions, as layers and as arguments of other layers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/frontend/keras/builders.h"
#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/softmax.h"

namespace systole::frontend {
namespace {

using graph::Activation;
using graph::ActivationFunction;

constexpr float unlimited = std::numeric_limits<float>::infinity();

/// An activation function by the name Keras has for it.
struct NamedActivation {
    std::string_view name;
    ActivationFunction function;
    float alpha = 0.0F;
    float maximum = unlimited;
};

constexpr float relu6_maximum = 6.0F;
constexpr float default_leaky_slope = 0.2F;

constexpr std::array named_activations{
    NamedActivation{"relu", ActivationFunction::Relu},
    NamedActivation{"relu6", ActivationFunction::Relu, 0.0F, relu6_maximum},
    NamedActivation{"leaky_relu", ActivationFunction::LeakyRelu, default_leaky_slope},
    NamedActivation{"elu", ActivationFunction::Elu, 1.0F},
    NamedActivation{"selu", ActivationFunction::Selu},
    NamedActivation{"sigmoid", ActivationFunction::Sigmoid},
    NamedActivation{"tanh", ActivationFunction::Tanh},
    NamedActivation{"swish", ActivationFunction::Swish},
    NamedActivation{"silu", ActivationFunction::Swish},
    NamedActivation{"softplus", ActivationFunction::Softplus},
};

graph::NodeId append_activation(LayerContext& context, graph::NodeId input, ActivationFunction function,
                                float alpha, float maximum) {
    auto activation = std::make_unique<Activation>(function);
    activation->alpha = alpha;
    activation->maximum = maximum;
    return context.append(std::move(activation), {input});
}

/// A function's name: Keras 3 may wrap it as {"class_name": "function", "config": "relu"}.
std::string activation_name(const LayerConfig& config) {
    const nlohmann::json* value = config.find("activation");
    if (value == nullptr) return "linear";
    if (value->is_object() && value->contains("config")) value = &(*value)["config"];
    if (!value->is_string()) config.fail("activation", "it must be the name of a function");
    return value->get<std::string>();
}

}  // namespace

graph::NodeId append_own_activation(LayerContext& context, graph::NodeId result) {
    const std::string name = activation_name(context.config);
    if (name == "linear") return result;
    if (name == "softmax") return context.append(std::make_unique<graph::Softmax>(), {result});
    const auto* const found = std::ranges::find(named_activations, name, &NamedActivation::name);
    if (found == named_activations.end()) context.config.fail("activation", "this function is not supported");
    return append_activation(context, result, found->function, found->alpha, found->maximum);
}

graph::NodeId build_activation(LayerContext& context) {
    if (context.config.find("activation") == nullptr) context.config.fail("activation", "it must be given");
    return append_own_activation(context, context.input());
}

graph::NodeId build_relu(LayerContext& context) {
    const LayerConfig& config = context.config;
    const float maximum = config.number("max_value", unlimited);
    if (maximum < 0.0F) config.fail("max_value", "it must be at least 0");
    if (config.number("threshold", 0.0F) != 0.0F) config.fail("threshold", "only 0 is supported");
    const float slope = config.number("negative_slope", 0.0F);
    if (slope == 0.0F)
        return append_activation(context, context.input(), ActivationFunction::Relu, 0.0F, maximum);
    if (maximum != unlimited) config.fail("negative_slope", "it must be 0 where there is a max_value");
    return append_activation(context, context.input(), ActivationFunction::LeakyRelu, slope, unlimited);
}

graph::NodeId build_leaky_relu(LayerContext& context) {
    constexpr float default_slope = 0.3F;
    const char* const key = context.config.find("negative_slope") != nullptr ? "negative_slope" : "alpha";
    const float slope = context.config.number(key, default_slope);
    return append_activation(context, context.input(), ActivationFunction::LeakyRelu, slope, unlimited);
}

graph::NodeId build_softmax(LayerContext& context) {
    const graph::Shape input = context.input_shape();
    context.config.require_last_axis("axis", input.height == 1 && input.width == 1);
    return context.append(std::make_unique<graph::Softmax>(), {context.input()});
}

}  // namespace systole::frontend
