#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

    /// The elements of parameter `index` of the node, or null if there is none.
    const float* parameter(std::size_t index) const {
        const std::size_t input = node.data_inputs() + index;
        return input < inputs.size() ? inputs[input] : nullptr;
    }
};

/// The arguments of an integer reference: it computes `batch` results, packed, as stored numbers.
struct IntegerCall {
    ir::NodeView node;
    std::span<const std::int32_t* const>
        inputs;  ///< by input of the node, packed; null for weights and float32
    std::uint32_t batch = 0;
    std::int32_t* output = nullptr;
};

/// The arguments of a reference on tensors of any types: it computes `batch` results from `batch` inputs, all
/// packed. What all inferences share is repeated for each. A node that combines a batch makes one result.
struct TensorCall {
    ir::NodeView node;
    std::span<const void* const> inputs;  ///< by input of the node, in its type; a constant is not repeated
    std::uint32_t batch = 0;
    std::span<void* const> outputs;  ///< by result of the node, in its type

    template <typename Number>
    const Number* input(std::size_t index) const {
        return static_cast<const Number*>(inputs[index]);
    }
    template <typename Number>
    Number* output(std::size_t index = 0) const {
        return static_cast<Number*>(outputs[index]);
    }
    /// Elements of an input or a result: of all inferences, or those of a constant.
    std::size_t input_elements(std::size_t index) const {
        const ir::Value& value = node.input(index);
        return value.shape.elements() * (value.constant ? 1 : batch);
    }
    std::size_t output_elements(std::size_t index = 0) const {
        return node.output(index).shape.elements() * (node.output(index).is_shared ? 1 : batch);
    }
};

/// A function that is applied to each element.
using ElementFunction = std::function<float(float)>;

class Quantizer;
class WordsBuilder;

/// The unit that computes an operator, and the number formats; for docs/operators.md.
struct Placement {
    std::string_view where;
    std::string_view formats;
};

/// A node that computes the same from inputs with their axes in another order.
struct PermutedNode {
    std::vector<ir::Attribute> attributes;
    /// Axis i of each new result is axis result_axes[i] of the old one.
    std::vector<std::uint32_t> result_axes;
    /// Whether the axes of constants are those of the result, by NumPy's broadcasting, and change their order
    /// with it. Others, such as tables and numbers by channel, stay as they are.
    bool broadcasts_constants = true;
};

/// What it means to a node if its inputs have more or fewer leading axes of extent 1.
enum class LeadingOnes : std::uint8_t {
    Counted,  ///< it may compute something else
    Passed,   ///< it computes the same elements; its results have more or fewer of them, too
    Ignored,  ///< it computes the same results
};

class Operator : public ir::Operator {
public:
    /// Computes the node on tensors of the types of its values, as the definition of its results. By default
    /// by `evaluate` if the result is float32, with integer inputs converted to the real numbers that they
    /// stand for, else by `execute`. Throws std::logic_error if the values of a constant are unknown.
    virtual void compute(const TensorCall& call) const;
    std::vector<ir::Constant> fold(const ir::NodeView& node) const final;
    /// Computes the node in float. Throws std::logic_error if the values of a weight are unknown, or if the
    /// operator is not computed in float.
    virtual void evaluate(const FloatCall& call) const;
    /// By default, an operator supports only float32.
    void check_types(const ir::NodeView& node) const override;
    virtual Placement placement() const = 0;

    // Quantization and integer reference.

    /// Adds the nodes that compute this node to the quantized graph, by the ranges of its values. By default
    /// the node stays on float32, for the host. Throws ModelError with the layer if integers cannot express
    /// it.
    virtual void quantize(const ir::Node& node, Quantizer& quantizer) const;
    /// Computes a node on integers in simple loops, as the definition of its results; shares no arithmetic
    /// with the chip. By default, the node is computed in float, from the real numbers that its inputs stand
    /// for.
    virtual void execute(const IntegerCall& call) const;
    /// Whether the host may compute the node after the chip's program, on its output (isa::HostOperation).
    virtual bool is_host_operation(const ir::NodeView& /*node*/) const { return false; }
    /// Floating-point operations of one inference in simple loops, for the time of the host. By default two
    /// for each multiply-accumulate, and one for each element of the result.
    virtual std::uint64_t operations(const ir::NodeView& node) const;
    /// The bytes of a constant input that one inference reads, for the time of the host; nullopt: all of
    /// them.
    virtual std::optional<std::uint64_t> bytes_read(const ir::NodeView& /*node*/,
                                                    std::size_t /*input*/) const {
        return std::nullopt;
    }

    // Machines that compute in floats.

    /// Whether the node works on values of any word type (operators/words.h), and not on float32 alone.
    virtual bool takes_words() const { return moves_elements(); }
    /// Whether such machines compute nodes of the operator, if not all of them: then it has `to_words`.
    virtual bool has_words() const { return false; }
    /// Adds the primitives that compute this node of a float graph to the bit: `word_chain`, `word_reduce`,
    /// `word_windows`, products with an order of sums, and nodes that move elements. Throws ModelError with
    /// the layer for a node that such machines do not compute.
    virtual void to_words(const ir::Node& node, WordsBuilder& builder) const;

    /// Throws ModelError with the layer: machines that compute in floats do not compute the node.
    [[noreturn]] void fail_without_words(const ir::Node& node) const;

    // Properties that passes need.

    /// Whether the node changes no element.
    virtual bool is_identity(const ir::NodeView& node) const;
    /// Whether the result holds elements of its only input, moved but not scaled.
    virtual bool moves_elements() const { return false; }
    /// Whether the node reads its inputs as a list of elements, independent of their shape.
    virtual bool reads_elements() const { return false; }
    /// What leading axes of extent 1 mean; by default attributes may number the axes.
    virtual LeadingOnes leading_ones(const ir::NodeView& /*node*/) const { return LeadingOnes::Counted; }
    /// Whether the attribute `padding` of the node adds zeros around the image.
    virtual bool pads_with_zeros() const { return false; }
    /// The node on inputs of which axis i is axis axes[i] of the node's inputs; nullopt if the operator knows
    /// none. All inputs have as many axes: constants that are broadcast have got leading ones of extent 1 if
    /// they have fewer. Inputs of one element stay as they are.
    virtual std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                                 std::span<const std::uint32_t> axes) const;
    /// The function that the node applies to each element, if it is such a node.
    virtual std::optional<ElementFunction> function(const ir::Node& node) const;
    /// Whether the node applies a function f of which f(s x) = s f(x) for every s > 0.
    virtual bool scales_with_input(const ir::Node& /*node*/) const { return false; }
    /// The limit, if the node clamps numbers between 0 and a limit.
    virtual std::optional<float> clamp_limit(const ir::Node& node) const;
};

/// All operators, in the order of their names.
const ir::OperatorSet& registry();

/// The operator of a node; it must be in the registry.
const Operator& operator_of(const ir::Node& node);

/// The values of a constant. Throws std::logic_error if they are unknown.
std::span<const float> known_floats(const ir::Value& constant);

/// By value, the one from which it takes its elements unscaled: itself, or the first input of the chain of
/// pooling, borders, reshapes and slices that computes it.
std::vector<ir::ValueId> moved_sources(const ir::Graph& graph);

/// Operator::permuted for operators that work element by element.
PermutedNode permuted_elements(const ir::NodeView& node, std::span<const std::uint32_t> axes);

/// Operator::on_one_image for a node that computes each index of the first axis of its first input alone;
/// nullopt unless `keeps`, and the batch is the first axis of this input alone.
std::optional<std::vector<ir::Attribute>> kept_batch(const ir::NodeView& node,
                                                     const std::vector<bool>& has_batch, bool keeps = true);
/// The same for operators that work element by element, with NumPy's broadcasting.
std::optional<std::vector<ir::Attribute>> batch_of_elements(const ir::NodeView& node,
                                                            const std::vector<bool>& has_batch);

/// Throws ModelError unless the bias after the weights, if any, has `channels` numbers.
void check_bias(const ir::NodeView& node, std::uint64_t channels);

}  // namespace systole::operators
