#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/word_operation.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/strided.h"

/// Operators that combine the elements along some axes into one.
namespace systole::operators {

/// The axes that a node reduces, ascending: those of the attribute `axes`, or all if it is empty. Throws
/// ModelError if the input does not have them.
std::vector<std::size_t> reduced_axes(const ir::NodeView& node);
/// The number of elements that become one.
std::size_t reduced_elements(const ir::NodeView& node);

/// The view of the result that has the input's shape: reduced axes repeat its elements.
StridedView reduced_view(const ir::NodeView& node);
/// The attribute `axes` after a permutation (Operator::permuted).
std::vector<std::int64_t> moved_axes(const ir::NodeView& node, std::span<const std::uint32_t> axes);

/// Calls visit(element of the input, element of the result that it becomes a part of) in the order of the
/// input.
template <typename Visit>
void for_each_reduced(const ir::NodeView& node, const Visit& visit) {
    const StridedView view = reduced_view(node);
    const std::size_t count = view.extents.empty() ? 1 : view.extents.back();
    const std::size_t step = view.extents.empty() ? 0 : static_cast<std::size_t>(view.strides.back());
    std::size_t element = 0;
    for_each_row(view, [&](std::ptrdiff_t offset) {
        auto result = static_cast<std::size_t>(offset);
        for (std::size_t i = 0; i < count; ++i, ++element, result += step) visit(element, result);
    });
}

/// The definition of a reduction: combine(combine(start, x0), x1)... in the order of the input, and of the
/// inferences where it combines a batch. On float32 and on int32 sums.
struct ReductionDefinition {
    std::string_view name;
    std::string_view summary;
    float (*combine_floats)(float sum, float x) = nullptr;
    std::int32_t (*combine_integers)(std::int32_t sum, std::int32_t x) = nullptr;
    float first_float = 0.0F;
    std::int32_t first_integer = 0;
    /// Whether quantized numbers are combined as they are stored, and the result has the input's encoding.
    bool works_on_stored = false;
    /// What words of floats become; a mean is a sum that is divided.
    systole::Reduction words = systole::Reduction::Sum;
    /// The names in ONNX and TFLite.
    const char* onnx_name = nullptr;
    const char* tflite_name = nullptr;
};

/// A reduction. Attributes: `axes`; `keep`: whether they stay, with extent 1; `over_batch`: whether the first
/// axis is that of the whole batch.
class Reduction : public Operator {
public:
    explicit Reduction(ReductionDefinition definition) : definition_(definition) {}

    std::string_view name() const override { return definition_.name; }
    std::string_view summary() const override { return definition_.summary; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::LayerKind> layer_kinds() const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, reduced_axes(node).front() != 0);
    }
    bool reduces_batch(const ir::Node& node) const override;
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override;
    void compute(const TensorCall& call) const override;
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

protected:
    /// Turns sums into results: the quotient of a mean.
    virtual float finish_float(float sum, std::size_t /*count*/) const { return sum; }
    /// Whether results are sums that are divided by the number of their elements.
    virtual bool is_mean() const { return false; }
    virtual std::int32_t finish_integer(std::int32_t sum, std::size_t /*count*/) const { return sum; }
    /// Whether there is a rule for quantized numbers, by `finish_quantized`.
    virtual bool works_on_quantized() const { return false; }
    virtual std::int32_t finish_quantized(const ir::NodeView& /*node*/, std::int32_t sum) const {
        return sum;
    }

private:
    ReductionDefinition definition_;
};

/// Reads the axes of a reduction: an input, or an attribute in older files of ONNX.
std::vector<ir::NamedAttribute> read_onnx_reduction(const ir::LayerReader& layer, bool& is_nothing);

}  // namespace systole::operators
