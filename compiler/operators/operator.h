#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compiler/ir/graph.h"

/// The operators. Each has a folder with everything about it; passes and executors use it through this
/// interface.
namespace systole::operators {

/// The arguments of a float reference: it computes `batch` results from `batch` inputs, all packed.
struct FloatCall {
    ir::NodeView node;
    std::span<const float* const> inputs;  ///< by input of the node; a constant is not repeated
    std::uint32_t batch = 0;
    float* output = nullptr;

    std::size_t constant_input(std::size_t index) const { return node.data_inputs() + index; }
};

/// The arguments of an integer reference: it computes `batch` results, packed, as stored numbers.
struct IntegerCall {
    ir::NodeView node;
    std::span<const std::int32_t* const> inputs;  ///< by data input of the node, packed like the results
    std::uint32_t batch = 0;
    std::int32_t* output = nullptr;
};

/// A function that is applied to each element.
using ElementFunction = std::function<float(float)>;

class Lowering;
class Quantizer;

/// The unit that computes an operator, and the number formats; for docs/operators.md.
struct Placement {
    std::string_view where;
    std::string_view formats;
};

class Operator : public ir::Operator {
public:
    /// Computes the node in float. Throws std::logic_error if the values of a weight are unknown.
    virtual void evaluate(const FloatCall& call) const = 0;
    /// Multiply-accumulates of one inference.
    virtual std::uint64_t macs(const ir::NodeView& node) const;
    /// By default, an operator supports only float32.
    void check_types(const ir::NodeView& node) const override;
    virtual Placement placement() const = 0;

    // Quantization, integer reference and lowering. Operators that `simplify` always removes do not override
    // them.

    /// Adds the nodes that compute this node to the quantized graph, by the ranges of its values. Throws
    /// ModelError with the layer if integers cannot express it, std::logic_error if the operator has no rule.
    virtual void quantize(const ir::Node& node, Quantizer& quantizer) const;
    /// Computes a node on integers in simple loops, as the definition of its results; shares no arithmetic
    /// with the chip. Throws std::logic_error if the operator does not work on integers.
    virtual void execute(const IntegerCall& call) const;
    /// Adds the work of the chip, or of the host, that computes a node on integers. Throws ModelError with
    /// the layer if neither can.
    virtual void lower(const ir::NodeView& node, Lowering& lowering) const;
    /// Whether the host computes the node after the chip's program; then the host computes all later nodes,
    /// too.
    virtual bool runs_on_host() const { return false; }

    // Properties that passes need.

    /// Whether the node changes no element.
    virtual bool is_identity(const ir::NodeView& node) const;
    /// Whether the result holds elements of its only input, moved but not scaled.
    virtual bool moves_elements() const { return false; }
    /// Whether the node reads its inputs as a list of elements, independent of their shape.
    virtual bool reads_elements() const { return false; }
    /// Whether the constant inputs are weights, whose last axis is the output channel, and optionally a bias.
    virtual bool has_weights() const { return false; }
    /// Whether the attribute `padding` of the node adds zeros around the image.
    virtual bool pads_with_zeros() const { return false; }
    /// The function that the node applies to each element, if it is such a node.
    virtual std::optional<ElementFunction> function(const ir::Node& node) const;
    /// The limit, if the node clamps numbers between 0 and a limit.
    virtual std::optional<float> clamp_limit(const ir::Node& node) const;
};

/// All operators, in the order of their names.
const ir::OperatorSet& registry();

/// The operator of a node; it must be in the registry.
const Operator& operator_of(const ir::Node& node);

/// Multiply-accumulates of one inference.
std::uint64_t macs(const ir::Graph& graph);
/// The number of weights of a node, known or not; 0 for operators without weights.
std::uint64_t weight_count(const ir::NodeView& node);

/// The values of a constant. Throws std::logic_error if they are unknown.
std::span<const float> known_floats(const ir::Value& constant);

/// The value from which a value takes its elements unscaled: itself, or the first input of the chain of
/// pooling, borders, reshapes and slices that computes it.
ir::ValueId moved_source(const ir::Graph& graph, ir::ValueId value);

/// Throws ModelError unless the bias after the weights, if any, has `channels` numbers.
void check_bias(const ir::NodeView& node, std::uint64_t channels);

/// The text of docs/operators.md: every operator, its attributes and its names in each file format.
std::string operators_page();

}  // namespace systole::operators
