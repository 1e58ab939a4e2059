#include "compiler/graph/operators/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "compiler/graph/operators/inputs.h"

namespace systole::graph {
namespace {

using Apply = void (*)(const float* from, float* to, std::size_t count, float alpha, float maximum);

/// A scalar function over an array: as a template, so that the compiler sees both and vectorizes.
template <auto function>
void apply_to_all(const float* from, float* to, std::size_t count, float alpha, float maximum) {
    for (std::size_t i = 0; i < count; ++i) to[i] = function(from[i], alpha, maximum);
}

struct Definition {
    ActivationFunction function;
    std::string_view name;
    Apply apply;
};

float linear(float x, float /*alpha*/, float /*maximum*/) {
    return x;
}
float relu(float x, float /*alpha*/, float maximum) {
    return std::min(std::max(x, 0.0F), maximum);
}
float leaky_relu(float x, float alpha, float /*maximum*/) {
    return x >= 0.0F ? x : alpha * x;
}
float elu(float x, float alpha, float /*maximum*/) {
    return x >= 0.0F ? x : alpha * std::expm1(x);
}
float selu(float x, float /*alpha*/, float /*maximum*/) {
    constexpr float scale = 1.05070098F;  // the constants of self-normalizing networks
    constexpr float limit = 1.67326324F;
    return scale * elu(x, limit, 0.0F);
}
float sigmoid(float x, float /*alpha*/, float /*maximum*/) {
    return 1.0F / (1.0F + std::exp(-x));
}
float tanh(float x, float /*alpha*/, float /*maximum*/) {
    return std::tanh(x);
}
float swish(float x, float /*alpha*/, float /*maximum*/) {
    return x / (1.0F + std::exp(-x));
}
float softplus(float x, float /*alpha*/, float /*maximum*/) {
    return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x)));
}

constexpr std::array definitions{
    Definition{ActivationFunction::Linear, "linear", apply_to_all<linear>},
    Definition{ActivationFunction::Relu, "relu", apply_to_all<relu>},
    Definition{ActivationFunction::LeakyRelu, "leaky_relu", apply_to_all<leaky_relu>},
    Definition{ActivationFunction::Elu, "elu", apply_to_all<elu>},
    Definition{ActivationFunction::Selu, "selu", apply_to_all<selu>},
    Definition{ActivationFunction::Sigmoid, "sigmoid", apply_to_all<sigmoid>},
    Definition{ActivationFunction::Tanh, "tanh", apply_to_all<tanh>},
    Definition{ActivationFunction::Swish, "swish", apply_to_all<swish>},
    Definition{ActivationFunction::Softplus, "softplus", apply_to_all<softplus>},
};

const Definition& definition(ActivationFunction function) {
    const auto* const found = std::ranges::find(definitions, function, &Definition::function);
    if (found == definitions.end()) throw std::logic_error("an activation function is not defined");
    return *found;
}

}  // namespace

std::string Activation::parameters() const {
    std::string text(definition(function).name);
    if (alpha != 0.0F) text += fmt::format(", alpha {}", alpha);
    if (std::isfinite(maximum)) text += fmt::format(", maximum {}", maximum);
    return text;
}

Shape Activation::output_shape(std::span<const Shape> inputs) const {
    return only_input(inputs);
}

float Activation::operator()(float x) const {
    float result = 0.0F;
    definition(function).apply(&x, &result, 1, alpha, maximum);
    return result;
}

void Activation::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs,
                          std::uint32_t batch, float* output) const {
    definition(function).apply(inputs[0], output, batch * only_input(shapes).elements(), alpha, maximum);
}

}  // namespace systole::graph
