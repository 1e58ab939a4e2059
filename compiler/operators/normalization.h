#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/operators/operator.h"

/// Operators that give some elements mean 0 and variance 1, or mean square 1, and then scale and shift them.
namespace systole::operators {

/// The attribute `epsilon`, whose default is ONNX's.
ir::AttributeDeclaration epsilon_attribute();

// Normalizations of the elements along the last axes.

struct LastAxesDefinition {
    std::string_view name;
    std::string_view summary;
    /// Whether the mean is subtracted before the squares are taken.
    bool subtracts_mean = true;
    std::size_t most_inputs = 1;
};

/// Normalizes the elements along the last axes, each set by itself. Inputs: the tensor; then, if there are
/// any, its scale and its offset, which NumPy's broadcasting repeats to the tensor's shape. Attributes:
/// `axis`, the first of the normalized axes; `epsilon`.
class LastAxesNormalization : public Operator {
public:
    explicit LastAxesNormalization(LastAxesDefinition definition) : definition_(definition) {}

    std::string_view name() const override { return definition_.name; }
    std::string_view summary() const override { return definition_.summary; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    LeadingOnes leading_ones(const ir::NodeView& node) const override;
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override;
    std::optional<std::vector<ir::Attribute>> on_one_image(const ir::NodeView& node,
                                                           const std::vector<bool>& has_batch) const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    std::uint64_t operations(const ir::NodeView& node) const override;
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;
    void evaluate(const FloatCall& call) const override;

private:
    LastAxesDefinition definition_;
};

// Normalizations of groups of channels.

/// Normalizes each group of channels of each image. Inputs: the tensor, whose first axis is the batch; scale
/// and offset of each channel. Attributes: `axis`, that of the channels; `epsilon`.
class ChannelNormalization : public Operator {
public:
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override;
    std::optional<std::vector<ir::Attribute>> on_one_image(const ir::NodeView& node,
                                                           const std::vector<bool>& has_batch) const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;
    void evaluate(const FloatCall& call) const override;

protected:
    /// The number of groups of a node whose axis has this many channels; at least 1.
    virtual std::size_t groups(const ir::Node& node, std::uint32_t channels) const = 0;
};

// Reading of network files.

/// The `epsilon` of an ONNX node.
double onnx_epsilon(const ir::LayerReader& layer);
/// The `axis` of an ONNX node on its first input: the first of the axes that it normalizes.
std::size_t onnx_first_axis(const ir::LayerReader& layer);
/// Fails unless `stash_type` says that means and variances are float32.
void require_float_statistics(const ir::LayerReader& layer);
/// The keys of ONNX nodes that normalize the last axes.
std::vector<ir::LayerKey> onnx_last_axes_keys();

/// The `axis` of a Keras layer, an axis or a list of them: the first of the axes that it normalizes. Fails
/// unless these are the last ones, behind the batch.
std::size_t keras_first_axis(const ir::LayerReader& layer);
/// A weight of a Keras layer.
ir::ValueId keras_weight(ir::LayerReader& layer, const char* role, const ir::Shape& shape);
/// The same; if the layer's key says that it has none, a constant of the same number everywhere.
ir::ValueId keras_weight_or(ir::LayerReader& layer, const char* key, const char* role, const ir::Shape& shape,
                            float number);

/// The shape of the axes from `first` on.
ir::Shape shape_from_axis(const ir::Shape& shape, std::size_t first);
/// Appends a normalization of the axes of the first input from `first` on.
ir::ValueId append_last_axes_node(ir::LayerReader& layer, std::string_view op, std::size_t first,
                                  double epsilon, std::vector<ir::ValueId> inputs);
/// Appends the mean along the axes from `first` on, which get an extent of 1.
ir::ValueId append_mean(ir::LayerReader& layer, ir::ValueId input, std::size_t first);
/// Appends 1 / sqrt(mean + epsilon) of squares.
ir::ValueId append_reciprocal_root(ir::LayerReader& layer, ir::ValueId squares, std::size_t first,
                                   double epsilon);

/// What ONNX Runtime's operators with a skip connection normalize: the sum of their first two inputs and of
/// input number `bias`, if there is one.
ir::ValueId append_skip_sum(ir::LayerReader& layer, std::size_t bias);
/// The results of such an operator. Of the two between, which only training reads, there are none.
ir::Results skip_results(const ir::LayerReader& layer, ir::ValueId result, ir::ValueId sum);
/// The `epsilon` of such an operator.
double skip_epsilon(const ir::LayerReader& layer);

}  // namespace systole::operators
