#pragma once

#include "base/fixed_point.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/pair_function.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {

/// The factors by which quantized numbers are paired: of both inputs, for sums, and of what is made of them.
struct PairScaling {
    FixedPoint a, b, result;
};

/// Whether a node pairs two activations of the result's shape, and not integers that stand for themselves.
bool pairs_activations(const ir::NodeView& node);

/// The base of sums and products: element by element, with NumPy's broadcasting. The chip computes those of
/// two quantized activations of one shape and type.
class PairwiseOperator : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return batch_of_elements(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;
    void evaluate(const FloatCall& call) const override;
    void compute(const TensorCall& call) const override;

protected:
    /// `verb` is the operator's verb in messages: "adds". `check_scales` throws ModelError if a factor that
    /// follows from the scales is out of range, or the rounding is not of the node's types.
    PairwiseOperator(const char* verb, void (*on_floats)(const PairRow<float, float>& row),
                     WordOperation operation, WordOperation integer_operation,
                     void (*on_integers)(const PairRow<std::int32_t, std::int32_t>& row),
                     void (*check_scales)(const ir::NodeView& node))
        : verb_(verb),
          on_floats_(on_floats),
          operation_(operation),
          integer_operation_(integer_operation),
          on_integers_(on_integers),
          check_scales_(check_scales) {}

    /// Adds a node that does not pair activations: a lookup if one input is a constant number.
    void quantize_others(const ir::Node& node, Quantizer& quantizer) const;

private:
    const char* verb_;
    void (*on_floats_)(const PairRow<float, float>& row);
    WordOperation operation_;          ///< on words that are float32
    WordOperation integer_operation_;  ///< on words that are int32
    void (*on_integers_)(const PairRow<std::int32_t, std::int32_t>& row);
    void (*check_scales_)(const ir::NodeView& node);
};

/// A layer of graph files with the operator's name and an optional function of the result.
ir::LayerKind json_pairwise_layer(std::string_view op);

/// A TFLite node: on quantized integers, its fused function is the node's clamp.
ir::LayerKind tflite_pairwise_layer(std::string_view op, const char* name);

}  // namespace systole::operators
