#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

/// What an integer reference computes: `batch` results, packed one behind the other, as stored numbers.
struct IntegerCall {
    ir::NodeView node;
    std::span<const std::int32_t* const> inputs;  ///< by data input of the node, packed as the results
    std::uint32_t batch = 0;
    std::int32_t* output = nullptr;
};

/// A function of each element by itself.
using ElementFunction = std::function<float(float)>;

class Lowering;
class Quantizer;

/// Where an operator is computed, and on which number formats: for the page of all operators.
struct Placement {
    std::string_view where;
    std::string_view formats;
};

class Operator : public ir::Operator {
public:
    /// Computes the node in float. Throws std::logic_error where a weight has no values.
    virtual void evaluate(const FloatCall& call) const = 0;
    /// Multiply-accumulates of one inference.
    virtual std::uint64_t macs(const ir::NodeView& node) const;
    /// Unless an operator says otherwise, it works on float32 alone.
    void check_types(const ir::NodeView& node) const override;
    virtual Placement placement() const = 0;

    // From float to integers to the chip. Operators that simplifying takes out have none of these.

    /// Adds to the quantized graph what computes the node, by the ranges of its values. Throws ModelError,
    /// naming the layer, where these numbers cannot express it, std::logic_error where there is no rule.
    virtual void quantize(const ir::Node& node, Quantizer& quantizer) const;
    /// Computes a node on integers, in plain loops: by definition. No arithmetic is shared with the chip.
    /// Throws std::logic_error where the operator is not one on integers.
    virtual void execute(const IntegerCall& call) const;
    /// Adds the work of the chip, or of the host, that computes a node on integers. Throws ModelError, naming
    /// the layer, where there is none.
    virtual void lower(const ir::NodeView& node, Lowering& lowering) const;
    /// The host computes the node behind the chip's program; only nodes of this kind may follow.
    virtual bool runs_on_host() const { return false; }

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

/// The value whose elements, moved but not scaled, a value has: itself, or what pooling, borders, reshapes
/// and slices begin with.
ir::ValueId moved_source(const ir::Graph& graph, ir::ValueId value);

/// Throws ModelError unless the optional bias behind the weights has `channels` numbers.
void check_bias(const ir::NodeView& node, std::uint64_t channels);

/// docs/operators.md: every operator of the registry, its attributes and its names in each file format.
std::string operators_page();

}  // namespace systole::operators
