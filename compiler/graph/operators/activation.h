#pragma once

#include <limits>

#include "compiler/graph/graph.h"

namespace systole::graph {

enum class ActivationFunction : std::uint8_t {
    Linear,
    Relu,
    LeakyRelu,
    Elu,
    Selu,
    Sigmoid,
    Tanh,
    Swish,
    Softplus
};

/// A function of each element by itself.
class Activation final : public Operator {
public:
    explicit Activation(ActivationFunction activation_function) : function(activation_function) {}

    std::string_view kind() const override { return "activation"; }
    std::unique_ptr<Operator> clone() const override { return std::make_unique<Activation>(*this); }
    std::string parameters() const override;
    Shape output_shape(std::span<const Shape> inputs) const override;
    void evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                  float* output) const override;

    float operator()(float x) const;

    ActivationFunction function;
    float alpha = 0.0F;  ///< LeakyRelu: slope below 0; Elu: minus the limit towards minus infinity
    float maximum = std::numeric_limits<float>::infinity();  ///< Relu: the result is clamped to it
};

}  // namespace systole::graph
