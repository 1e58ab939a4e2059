#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "compiler/ir/graph.h"

/// The operators, a folder each: all there is to know of one stands in its folder, and passes and executors
/// ask for it here.
namespace systole::operators {

/// What a float reference computes: `batch` results from as many inputs, packed one behind the other.
struct FloatCall {
    ir::NodeView node;
    std::span<const float* const> inputs;  ///< by input of the node; a constant is there once
    std::uint32_t batch = 0;
    float* output = nullptr;

    std::size_t constant_input(std::size_t index) const { return node.data_inputs() + index; }
};

/// A function of each element by itself.
using ElementFunction = std::function<float(float)>;

class Operator : public ir::Operator {
public:
    /// Computes the node in float. Throws std::logic_error where a weight has no values.
    virtual void evaluate(const FloatCall& call) const = 0;
    /// Multiply-accumulates of one inference.
    virtual std::uint64_t macs(const ir::NodeView& node) const;
    /// Unless an operator says otherwise, it works on float32 alone.
    void check_types(const ir::NodeView& node) const override;

    // Traits, by which passes know what they may do.

    /// The node changes no element.
    virtual bool is_identity(const ir::NodeView& node) const;
    /// The result holds elements of its one input, moved but not scaled.
    virtual bool moves_elements() const { return false; }
    /// The node sees the elements of its inputs, whatever their shape.
    virtual bool reads_elements() const { return false; }
    /// The constant inputs are weights, whose last axis is the output channel, and perhaps a bias.
    virtual bool has_weights() const { return false; }
    /// The attribute `padding` of the node adds zeros around the image.
    virtual bool pads_with_zeros() const { return false; }
    /// The function of each element by itself that the node computes, if it is one.
    virtual std::optional<ElementFunction> function(const ir::Node& node) const;
    /// The limit of a function that clamps numbers between 0 and a limit.
    virtual std::optional<float> clamp_limit(const ir::Node& node) const;
};

/// All operators, in the order of their names.
const ir::OperatorSet& registry();

/// The descriptor of a node, whose operator must be of the registry.
const Operator& operator_of(const ir::Node& node);

/// Multiply-accumulates of one inference.
std::uint64_t macs(const ir::Graph& graph);
/// Numbers in the weights of a node of weights, known or not; 0 for another.
std::uint64_t weight_count(const ir::NodeView& node);

/// Values of a constant that are computed with. Throws std::logic_error where they are not known.
std::span<const float> known_floats(const ir::Value& constant);

/// Throws ModelError unless the optional bias behind the weights has `channels` numbers.
void check_bias(const ir::NodeView& node, std::uint64_t channels);

}  // namespace systole::operators
