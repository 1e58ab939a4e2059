// The concatenation of two or more tensors along an axis: by default that of the channels of feature maps.
#include "compiler/operators/concat/concat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message_text.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr std::int64_t channel_axis = -1;

/// The axis of the concatenation in tensors of as many axes as the first input.
std::size_t axis_of(const ir::NodeView& node) {
    const std::int64_t axis = node.node().integer("axis");
    return axis == channel_axis ? node.input().shape.rank() - 1 : static_cast<std::size_t>(axis);
}

ir::Results append_along(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs, std::int64_t axis,
                         const ir::ResultType& type) {
    const std::size_t rank = layer.value(inputs.front()).shape.rank();
    const auto counted = static_cast<std::int64_t>(axis_in(layer, axis, rank));
    if (inputs.size() == 1) return inputs.front();
    return layer.append_as(type, "concat", {{"axis", counted}}, inputs);
}

ir::ResultType type_of_first(const ir::LayerReader& layer) {
    const ir::Value& first = layer.value(input_of(layer, 0));
    return {first.type, first.quantization};
}

std::vector<ir::ValueId> all_inputs(const ir::LayerReader& layer) {
    // Readers leave out tensors without elements, which add nothing.
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId input : layer.inputs()) {
        // A shape whose elements do not fit 64 bits is refused later.
        if (input != ir::no_value && layer.value(input).shape.checked_elements() != 0U)
            inputs.push_back(input);
    }
    if (inputs.empty()) layer.fail("it has no inputs with elements; it must have at least 1");
    return inputs;
}

/// A tensor without elements adds nothing, but its other extents are those of all others.
void check_left_out(const ir::LayerReader& layer, const ir::Shape& first, std::size_t axis) {
    for (const ir::ValueId input : layer.inputs()) {
        if (input == ir::no_value || layer.value(input).shape.checked_elements() != 0U) continue;
        const ir::Shape& left_out = layer.value(input).shape;
        bool fits = left_out.rank() == first.rank();
        for (std::size_t other = 0; fits && other < first.rank(); ++other)
            fits = other == axis || left_out[other] == first[other];
        if (fits) continue;
        layer.fail(fmt::format("its inputs are {} and {}; they must be alike along all axes but axis {}",
                               to_text(left_out), to_text(first), axis));
    }
}

/// Along the last axis, layers need not have the same number of axes.
ir::Results read_keras_concatenate(ir::LayerReader& layer) {
    const std::size_t rank = layer.value(layer.inputs().front()).shape.rank();
    const std::int64_t axis = integer_of(layer, "axis", -1);
    if (axis_in(layer, axis, rank) == 0) layer.fail("axis", "it must be behind the batch");
    if (layer.inputs().size() < 2 || axis_in(layer, axis, rank) == rank - 1) {
        const ir::ValueId result = layer.append("concat", {}, layer.inputs());
        constexpr std::size_t sequence_rank = 3;
        const bool are_sequences = std::ranges::all_of(layer.inputs(), [&](ir::ValueId input) {
            return layer.value(input).shape.rank() == sequence_rank;
        });
        return are_sequences ? as_sequence(layer, result) : result;
    }
    return append_along(layer, all_inputs(layer), axis, type_of_first(layer));
}

/// ONNX joins the bytes as they are: a reader takes all of them for numbers of one scale. So none is
/// converted, and tensors that are made with other scales than the first are refused.
ir::Results read_onnx_concat(ir::LayerReader& layer) {
    std::vector<ir::ValueId> inputs = all_inputs(layer);
    const ir::Value& first = layer.value(inputs.front());
    const ir::ResultType type{first.type, first.quantization};
    const std::int64_t axis = integer_of(layer, "axis", 1);
    check_left_out(layer, first.shape, axis_in(layer, axis, first.shape.rank()));
    if (is_integer(type.type) && type.quantization) {
        for (ir::ValueId& input : inputs) input = layer.as_quantized(input, *type.quantization);
    }
    return append_along(layer, inputs, axis, type);
}

ir::Results read_tflite_concatenation(ir::LayerReader& layer) {
    layer.require_text("fused_activation_function", "NONE");
    return append_along(layer, all_inputs(layer), integer_of(layer, "axis", 0), layer.declared_result(0));
}

/// Tensors along a new axis.
ir::Results read_tflite_pack(ir::LayerReader& layer) {
    std::vector<ir::ValueId> inputs = all_inputs(layer);
    const ir::Shape shape = layer.value(inputs.front()).shape;
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), shape.rank() + 1);
    std::vector<std::int64_t> extents = extents_of(shape);
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    for (ir::ValueId& input : inputs) input = append_shape(layer, input, shape_from(layer, extents));
    return append_along(layer, inputs, static_cast<std::int64_t>(axis), layer.declared_result(0));
}

class Concat final : public Operator {
public:
    std::string_view name() const override { return "concat"; }
    std::string_view summary() const override {
        return "The concatenation of two or more tensors along an axis.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "axis",
             .meaning = "the axis; -1: the channels of feature maps",
             .absent = channel_axis,
             .minimum = -1,
             .maximum = ir::Shape::most_extents - 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Concatenate",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_keras_concatenate},
                {.format = ir::Format::Onnx,
                 .name = "Concat",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_onnx_concat},
                {.format = ir::Format::Tflite,
                 .name = "CONCATENATION",
                 .keys = {{"axis", "`axis`"}, {"fused_activation_function", "only NONE"}},
                 .build = read_tflite_concatenation},
                {.format = ir::Format::Tflite,
                 .name = "PACK",
                 .keys = {{"axis", "the new axis"}, {"values_count", "nothing: the inputs are counted"}},
                 .build = read_tflite_pack},
                {.format = ir::Format::GraphJson, .name = "concat", .build = [](ir::LayerReader& layer) {
                     return layer.append("concat", {}, layer.inputs());
                 }}};
    }

    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        ir::Node moved = node.node();
        for (std::size_t i = 0; i < moved.inputs.size(); ++i) {
            if (node.input(i).shape.rank() != axes.size()) return std::nullopt;
        }
        moved.set("axis", moved_axis(axes, axis_of(node)));
        return PermutedNode{std::move(moved.attributes), {axes.begin(), axes.end()}};
    }
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        return node.node().integer("axis") == channel_axis ? LeadingOnes::Passed : LeadingOnes::Counted;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        const bool have_all = std::find(has_batch.begin(), has_batch.end(), false) == has_batch.end();
        if (!have_all || axis_of(node) == 0) return std::nullopt;
        return node.node().attributes;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t count = node.node().inputs.size();
        if (count < 2) {
            throw ModelError(
                fmt::format("it concatenates {}; it must have at least 2", counted(count, "input")));
        }
        const ir::Shape result =
            node.node().integer("axis") == channel_axis ? shape_along_channels(node) : shape_along_axis(node);
        return {result};
    }
    Placement placement() const override {
        return {.where =
                    "along channels: nowhere, if inputs are written in place, and the activation unit copies "
                    "the others; else host",
                .formats = "all"};
    }
    /// Bytes of other scales are converted, as TFLite does for uint8.
    void check_types(const ir::NodeView& node) const override {
        for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
            if (is_stored_alike(node.input(i), node.output())) continue;
            const bool is_converted = node.input(i).type == DataType::Uint8 &&
                                      node.output().type == DataType::Uint8 && node.input(i).quantization &&
                                      node.output().quantization;
            if (!is_converted)
                fail_as_stored_unlike("its inputs and its result", node.input(i), node.output());
        }
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override {
        const std::size_t bytes = bytes_of(call.node.output().type);
        const std::size_t axis = axis_of(call.node);
        std::vector<std::vector<std::uint8_t>> converted(call.inputs.size());
        std::vector<const std::uint8_t*> from;
        std::vector<std::size_t> run;  // bytes of each input for one index of the axes before
        for (std::size_t i = 0; i < call.inputs.size(); ++i) {
            const ir::Value& input = call.node.input(i);
            from.push_back(call.input<std::uint8_t>(i));
            if (!is_stored_alike(input, call.node.output())) {
                converted[i] = convert(call, i);
                from[i] = converted[i].data();
            }
            run.push_back(bytes);
            const std::size_t first = input.shape.rank() - (call.node.input().shape.rank() - axis);
            for (std::size_t k = first; k < input.shape.rank(); ++k) run[i] *= input.shape[k];
        }
        const ir::Shape& shape = call.node.output().shape;
        std::size_t outer = 1;
        const std::size_t before = shape.rank() - (call.node.input().shape.rank() - axis);
        for (std::size_t k = 0; k < before; ++k) outer *= shape[k];
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            for (std::size_t row = 0; row < outer; ++row) {
                for (std::size_t i = 0; i < from.size(); ++i) {
                    const std::size_t first = (call.node.input(i).constant ? 0 : image * outer) + row;
                    to = std::copy_n(from[i] + first * run[i], run[i], to);
                }
            }
        }
    }

    /// All inputs need the encoding of the result. unite_ranges has given most of them the same range; a
    /// lookup converts the others.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        if (!is_along_channels(quantizer.view(node))) return quantize_on_host(node, quantizer);
        quantizer.require_one_width(node);
        const ir::Encoding encoding = quantizer.encoding(node.output());
        ir::Node added = node;
        for (ir::ValueId& input : added.inputs) {
            // An input with a range of its own gets a lookup even if it changes nothing.
            const bool is_alike =
                quantizer.stored_encoding(input) == encoding && !quantizer.has_own_range(input, node);
            input = is_alike ? quantizer.stored(input) : quantizer.add_conversion(node, input, encoding);
        }
        added.outputs = {quantizer.add_value(node.output(), encoding)};
        quantizer.store(node.output(), added.output());
        quantizer.add_node(std::move(added));
    }

private:
    /// The host converts bytes itself.
    static void quantize_on_host(const ir::Node& node, Quantizer& quantizer) {
        const bool are_bytes = std::ranges::all_of(node.inputs, [&](ir::ValueId input) {
            return quantizer.is_stored(input) && quantizer.stored_encoding(input).type == DataType::Uint8;
        });
        if (!are_bytes || quantizer.type(node.output()) != DataType::Uint8)
            return quantize_moved(node, quantizer);
        quantizer.add_like(node, quantizer.encoding(node.output()));
    }

    /// Feature maps with the same height and width; vectors, if all are.
    static ir::Shape shape_along_channels(const ir::NodeView& node) {
        const ir::FeatureMap first = node.input_map();
        std::uint64_t channels = 0;
        bool have_one_rank = true;
        for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
            const ir::FeatureMap input = node.input_map(i);
            if (input.height != first.height || input.width != first.width) {
                throw ModelError(fmt::format("it concatenates {} and {}; height and width must be the same",
                                             to_text(first), to_text(input)));
            }
            channels += input.channels;
            have_one_rank &= node.input(i).shape.rank() == node.input().shape.rank();
        }
        if (channels > std::numeric_limits<std::uint32_t>::max()) {
            throw ModelError(fmt::format("its result has {} channels; that is too large", channels));
        }
        const auto result = static_cast<std::uint32_t>(channels);
        if (!have_one_rank) return ir::image_shape({first.height, first.width, result}, node.batch());
        std::vector<std::uint32_t> extents(node.input().shape.extents().begin(),
                                           node.input().shape.extents().end());
        extents.back() = result;
        return ir::Shape(extents);
    }
    static ir::Shape shape_along_axis(const ir::NodeView& node) {
        const ir::Shape& first = node.input().shape;
        const std::size_t axis = axis_of(node);
        if (axis >= first.rank()) {
            throw ModelError(fmt::format("its axis is {}; its inputs are {}", axis, to_text(first)));
        }
        std::vector<std::uint32_t> extents(first.extents().begin(), first.extents().end());
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
            const ir::Shape& shape = node.input(i).shape;
            bool fits = shape.rank() == first.rank();
            for (std::size_t k = 0; fits && k < first.rank(); ++k) fits = k == axis || shape[k] == first[k];
            if (!fits) {
                throw ModelError(
                    fmt::format("it concatenates {} and {} along axis {}; the others must be the same",
                                to_text(first), to_text(shape), axis));
            }
            sum += shape[axis];
        }
        if (sum > std::numeric_limits<std::uint32_t>::max()) {
            throw ModelError(
                fmt::format("axis {} of its result has {} elements; that is too large", axis, sum));
        }
        extents[axis] = static_cast<std::uint32_t>(sum);
        return ir::Shape(extents);
    }

    /// An input of uint8 in the scale of the result, by TFLite's formula in float32.
    static std::vector<std::uint8_t> convert(const TensorCall& call, std::size_t index) {
        const ir::Encoding from = encoding_of(call.node.input(index));
        const ir::Encoding to = encoding_of(call.node.output());
        const float factor = static_cast<float>(from.scale) * (1.0F / static_cast<float>(to.scale));
        const float bias = static_cast<float>(-from.zero_point) * factor;
        std::vector<std::uint8_t> result(call.input_elements(index));
        const auto* const stored = call.input<std::uint8_t>(index);
        for (std::size_t i = 0; i < result.size(); ++i) {
            const std::int64_t number =
                saturated(std::round(static_cast<float>(stored[i]) * factor + bias)) + to.zero_point;
            result[i] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(number, 0, 255));
        }
        return result;
    }
};

}  // namespace

bool is_along_channels(const ir::NodeView& node) {
    if (node.node().integer("axis") == channel_axis) return node.data_inputs() == node.node().inputs.size();
    if (axis_of(node) + 1 != node.input().shape.rank()) return false;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        const ir::Value& input = node.input(i);
        const bool has_map = input.shape.rank() == 2 || input.shape.rank() == 4;
        if (input.constant || !has_map || input.shape[0] != 1) return false;
    }
    return true;
}

std::unique_ptr<ir::Operator> make_concat() {
    return std::make_unique<Concat>();
}

}  // namespace systole::operators
