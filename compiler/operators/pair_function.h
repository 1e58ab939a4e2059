#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fixed_point.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/word_expression.h"

/// Functions of two numbers, element by element, with NumPy's broadcasting.
namespace systole::operators {

/// A row of elements. A step of 0 repeats one element.
template <typename Number, typename Result>
struct PairRow {
    const Number* a = nullptr;
    std::ptrdiff_t step_a = 1;
    const Number* b = nullptr;
    std::ptrdiff_t step_b = 1;
    Result* to = nullptr;
    std::size_t count = 0;
};

/// Applies a function to a row. A template, so that the compiler inlines the function and vectorizes the
/// loops.
template <auto function, typename Number, typename Result>
void apply_to_row(const PairRow<Number, Result>& row) {
    if (row.step_a == 1 && row.step_b == 1) {
        for (std::size_t i = 0; i < row.count; ++i) row.to[i] = function(row.a[i], row.b[i]);
    } else if (row.step_a == 1 && row.step_b == 0) {
        for (std::size_t i = 0; i < row.count; ++i) row.to[i] = function(row.a[i], *row.b);
    } else {
        const Number* a = row.a;
        const Number* b = row.b;
        for (std::size_t i = 0; i < row.count; ++i, a += row.step_a, b += row.step_b)
            row.to[i] = function(*a, *b);
    }
}

/// Two tensors broadcast to one shape: the offsets of their rows.
struct PairView {
    std::vector<std::size_t> extents;
    std::vector<std::ptrdiff_t> strides_a;
    std::vector<std::ptrdiff_t> strides_b;
};

/// The view with neighbouring axes joined where that gives longer rows.
PairView pair_view(const ir::Shape& a, const ir::Shape& b);

/// Calls apply(row) for each row of two inputs of a node, image by image. An input that is a constant is not
/// repeated.
template <typename Number, typename Result, typename Apply>
void for_each_pair_row(const ir::NodeView& node, std::uint32_t batch, const Number* a, const Number* b,
                       Result* to, const Apply& apply) {
    const PairView view = pair_view(node.input(0).shape, node.input(1).shape);
    const std::size_t elements_a = node.input(0).constant ? 0 : node.input(0).shape.elements();
    const std::size_t elements_b = node.input(1).constant ? 0 : node.input(1).shape.elements();
    const std::size_t count = view.extents.back();
    for (std::size_t image = 0; image < batch; ++image, a += elements_a, b += elements_b) {
        const StridedView rows_a{.extents = view.extents, .strides = view.strides_a};
        const StridedView rows_b{.extents = view.extents, .strides = view.strides_b};
        std::vector<std::ptrdiff_t> offsets_b;
        for_each_row(rows_b, [&](std::ptrdiff_t offset) { offsets_b.push_back(offset); });
        std::size_t row = 0;
        for_each_row(rows_a, [&](std::ptrdiff_t offset) {
            apply(PairRow<Number, Result>{.a = a + offset,
                                          .step_a = view.strides_a.back(),
                                          .b = b + offsets_b[row++],
                                          .step_b = view.strides_b.back(),
                                          .to = to,
                                          .count = count});
            to += count;
        });
    }
}

/// One operation on two words, as the function of a PairDefinition.
template <WordOperation operation>
Word pair_of_words(const Word& a, const Word& b) {
    return apply(operation, {a, b});
}
/// The same with the words exchanged.
template <WordOperation operation>
Word exchanged_words(const Word& a, const Word& b) {
    return apply(operation, {b, a});
}
/// Whether the truth value of a function of two words is 0.
template <Word (*function)(const Word&, const Word&)>
Word negated_words(const Word& a, const Word& b) {
    return apply(WordOperation::EqualInt, {function(a, b), constant_word(a.steps(), 0)});
}

/// The definition of a function. It works on the types for which it has an implementation. Comparisons, whose
/// results are truth values (0 or 1 in uint8), have `floats_to_truth` and `integers_to_truth`.
struct PairDefinition {
    std::string_view name;
    std::string_view summary;
    void (*on_floats)(const PairRow<float, float>& row) = nullptr;
    // The function on words that are float32, and on those that are int32 or truth values; null: machines
    // that compute in words do not compute it.
    Word (*words)(const Word& a, const Word& b) = nullptr;
    Word (*integer_words)(const Word& a, const Word& b) = nullptr;
    void (*on_integers)(const PairRow<std::int32_t, std::int32_t>& row) = nullptr;
    void (*floats_to_truth)(const PairRow<float, std::uint8_t>& row) = nullptr;
    void (*integers_to_truth)(const PairRow<std::int32_t, std::uint8_t>& row) = nullptr;
    /// Whether it works on quantized numbers as they are stored.
    bool works_on_stored = false;
    std::vector<ir::LayerKind> layers = {};
};

/// An operator that applies a function of two numbers.
class PairFunctionOperator : public Operator {
public:
    explicit PairFunctionOperator(PairDefinition definition) : definition_(std::move(definition)) {}

    std::string_view name() const override { return definition_.name; }
    std::string_view summary() const override { return definition_.summary; }
    std::vector<ir::LayerKind> layer_kinds() const override { return definition_.layers; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return batch_of_elements(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    DataType result_type(const ir::NodeView& node) const override;
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    void compute(const TensorCall& call) const override;
    /// A node with one constant number becomes a lookup; others stay on float32, for the host.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    bool takes_words() const override { return definition_.integer_words != nullptr; }
    /// Whether the results are truth values.
    bool is_comparison() const { return definition_.integers_to_truth != nullptr; }
    bool has_words() const override {
        return definition_.words != nullptr || definition_.integer_words != nullptr;
    }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

protected:
    /// Whether the operator has a rule for quantized inputs, by the functions below.
    virtual bool works_on_quantized(const ir::NodeView& /*node*/) const { return false; }
    /// Converts the stored numbers of an input before the function is applied.
    virtual void scale_input(const ir::NodeView& /*node*/, std::size_t /*index*/,
                             std::span<std::int32_t> /*numbers*/) const {}
    /// Converts the function's results to stored numbers.
    virtual void scale_result(const ir::NodeView& /*node*/, std::span<std::int32_t> /*numbers*/) const {}

private:
    void compute_on_integers(const TensorCall& call) const;

    PairDefinition definition_;
};

/// Throws ModelError unless the node has two inputs; returns the shape that they broadcast to.
ir::Shape paired_shape(const ir::NodeView& node);

/// Adds a lookup for a node of float32 with one activation and a constant of one number; false if the node is
/// no such node. `function` applies the node to an element of the activation.
bool add_scalar_lookup(const ir::Node& node, Quantizer& quantizer,
                       void (*on_floats)(const PairRow<float, float>& row));

/// Nodes of TFLite and ONNX files without attributes.
ir::LayerKind onnx_pair(std::string_view op, const char* name);
ir::LayerKind tflite_pair(std::string_view op, const char* name);
/// The same with a fused function of the result.
ir::LayerKind tflite_pair_with_function(std::string_view op, const char* name);
/// A node of ONNX or a layer of Keras with any number of inputs, which become a chain.
ir::LayerKind onnx_chain(std::string_view op, const char* name);
ir::LayerKind keras_chain(std::string_view op, const char* name);

}  // namespace systole::operators
