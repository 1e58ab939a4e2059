// The same elements in the same order, with another shape.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/ir/model_error.h"
#include "compiler/operators/element_range.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

ir::ValueId append_reshape(ir::LayerReader& layer, const ir::Shape& shape) {
    const std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
    return layer.append("reshape", {{"shape", extents}}, {layer.input()});
}

ir::ValueId flatten_input(ir::LayerReader& layer) {
    const std::uint64_t elements = layer.value(layer.input()).shape.elements();
    return append_reshape(layer, ir::vector_shape(static_cast<std::uint32_t>(elements)));
}

using Integers = std::vector<std::int64_t>;

/// The shape that a file asks for: one extent may be -1, and then follows from the others; 0 is the input's
/// extent unless `zero_is_zero`.
ir::Shape completed_shape(const ir::LayerReader& layer, const ir::Shape& input, Integers extents,
                          bool zero_is_zero) {
    std::optional<std::size_t> inferred;
    std::uint64_t known = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] == -1 && !inferred) {
            inferred = i;
            continue;
        }
        if (extents[i] == 0 && !zero_is_zero) {
            if (i >= input.rank())
                layer.fail(
                    fmt::format("extent {} of its shape is 0; its input has {} axes", i, input.rank()));
            extents[i] = input[i];
        }
        if (extents[i] < 0 || __builtin_mul_overflow(known, static_cast<std::uint64_t>(extents[i]), &known)) {
            layer.fail(fmt::format("its shape is {}; each must be at least 0, or -1 once",
                                   ir::to_text(ir::Attribute(extents))));
        }
    }
    if (inferred) extents[*inferred] = known == 0 ? 0 : static_cast<std::int64_t>(input.elements() / known);
    return shape_from(layer, extents);
}

/// Reads a Keras Reshape; the batch stays.
ir::ValueId read_keras_reshape(ir::LayerReader& layer) {
    if (!layer.has("target_shape")) layer.fail("target_shape", "it must be given");
    if (!layer.is_list("target_shape")) layer.fail("target_shape", "it must be a list");
    Integers extents{1};
    const auto values = layer.integers("target_shape");
    for (const auto& value : *values) {
        const bool is_second = value == -1 && std::ranges::find(extents, -1) != extents.end();
        if (!value || *value == 0 || *value < -1 || is_second) {
            layer.fail("target_shape", "each must be an integer from 1 to 4294967295, or -1 once");
        }
        extents.push_back(*value);
    }
    const ir::ValueId input = layer.input();
    const ir::Shape& shape = layer.value(input).shape;
    return append_reshape(layer, completed_shape(layer, shape, extents, true));
}

/// The shape is an input, or an attribute before operator set 5.
ir::Results read_onnx_reshape(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const Integers extents = layer.has("shape") ? *integers_of(layer, "shape")
                                                : constant_integers_if_any(layer, 1).value_or(Integers{});
    return append_shape(
        layer, input,
        completed_shape(layer, layer.value(input).shape, extents, flag_of(layer, "allowzero", false)));
}

/// The shape is an input, or an option in older files.
ir::Results read_tflite_reshape(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const auto given = constant_integers_if_any(layer, 1);
    const Integers extents = given ? *given : integers_of(layer, "new_shape").value_or(Integers{});
    return append_shape(layer, input, completed_shape(layer, layer.value(input).shape, extents, true));
}

/// ONNX Flatten: a matrix, of which the axes before `axis` are the rows.
ir::Results read_onnx_flatten(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    std::int64_t axis = integer_of(layer, "axis", 1);
    if (axis < -rank || axis > rank) layer.fail("axis", fmt::format("it must be from {} to {}", -rank, rank));
    if (axis < 0) axis += rank;
    Integers extents{1, 1};
    for (std::size_t i = 0; i < shape.rank(); ++i)
        extents[static_cast<std::int64_t>(i) < axis ? 0 : 1] *= shape[i];
    return append_shape(layer, input, shape_from(layer, extents));
}

/// The input without axes of extent 1: the given ones, or all if none are given.
ir::Results append_squeeze(ir::LayerReader& layer, const std::optional<Integers>& axes) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const bool takes_all = !axes || axes->empty();
    const Integers removed = takes_all ? Integers{} : axes_in(layer, *axes, shape.rank());
    Integers extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const bool is_listed = std::ranges::find(removed, static_cast<std::int64_t>(axis)) != removed.end();
        if (is_listed && shape[axis] != 1) {
            layer.fail(fmt::format("it removes axis {} of {}; its extent must be 1", axis, to_text(shape)));
        }
        if (!is_listed && (!takes_all || shape[axis] != 1)) extents.push_back(shape[axis]);
    }
    return append_shape(layer, input, shape_from(layer, extents));
}

/// The input with axes of extent 1 at the given places of the result.
ir::Results append_unsqueeze(ir::LayerReader& layer, const Integers& axes) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const Integers added = axes_in(layer, axes, shape.rank() + axes.size());
    if (added.size() != axes.size()) layer.fail("it adds an axis twice");
    Integers extents = extents_of(shape);
    for (const std::int64_t axis : added) extents.insert(extents.begin() + axis, 1);
    return append_shape(layer, input, shape_from(layer, extents));
}

/// Both read their axes from an input, or from an attribute before operator set 13.
std::optional<Integers> onnx_axes(const ir::LayerReader& layer) {
    return layer.has("axes") ? integers_of(layer, "axes") : constant_integers_if_any(layer, 1);
}

ir::Results read_onnx_unsqueeze(ir::LayerReader& layer) {
    const auto axes = onnx_axes(layer);
    if (!axes) layer.fail("its axes must be given");
    return append_unsqueeze(layer, *axes);
}

ir::Results read_tflite_squeeze(ir::LayerReader& layer) {
    return append_squeeze(layer, integers_of(layer, "squeeze_dims"));
}

class Reshape final : public ElementRangeOperator {
public:
    std::string_view name() const override { return "reshape"; }
    std::string_view summary() const override {
        return "The same elements in the same order, with another shape.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "shape",
             .meaning = "the new shape, with the batch",
             .absent = std::vector<std::int64_t>{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {
            {.format = ir::Format::Keras,
             .name = "Reshape",
             .keys = {{"target_shape", "`shape`, without the batch; one may be -1"}},
             .build = read_keras_reshape},
            {.format = ir::Format::Keras,
             .name = "Flatten",
             .keys = {{"data_format", keras_data_format}},
             .build =
                 [](ir::LayerReader& layer) {
                     layer.require_text("data_format", "channels_last");
                     return flatten_input(layer);
                 }},
            {.format = ir::Format::Onnx,
             .name = "Reshape",
             .keys = {{"shape", "`shape`, before operator set 5"},
                      {"allowzero", "1: 0 is no extent of the input"}},
             .build = read_onnx_reshape},
            {.format = ir::Format::Onnx,
             .name = "Flatten",
             .keys = {{"axis", "the first axis of the columns"}},
             .build = read_onnx_flatten},
            {.format = ir::Format::Onnx,
             .name = "Squeeze",
             .keys = {{"axes", "the axes, before operator set 13"}},
             .build = [](ir::LayerReader& layer) { return append_squeeze(layer, onnx_axes(layer)); }},
            {.format = ir::Format::Onnx,
             .name = "Unsqueeze",
             .keys = {{"axes", "the axes, before operator set 13"}},
             .build = read_onnx_unsqueeze},
            {.format = ir::Format::Tflite,
             .name = "RESHAPE",
             .keys = {{"new_shape", "`shape`, if it is no input"}},
             .build = read_tflite_reshape},
            {.format = ir::Format::Tflite,
             .name = "SQUEEZE",
             .keys = {{"squeeze_dims", "the axes; none: all of extent 1"}},
             .build = read_tflite_squeeze},
            {.format = ir::Format::Tflite,
             .name = "EXPAND_DIMS",
             .build =
                 [](ir::LayerReader& layer) { return append_unsqueeze(layer, constant_integers(layer, 1)); }},
            {.format = ir::Format::GraphJson,
             .name = "reshape",
             .keys = {{"shape", "`shape`, without the batch"}},
             .build =
                 [](ir::LayerReader& layer) { return append_reshape(layer, json_shape(layer, "shape")); }},
            {.format = ir::Format::GraphJson, .name = "flatten", .build = flatten_input}};
    }

    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        ir::Node one = node.node();
        Integers shape = one.integers("shape");
        if (shape.empty() || node.input().shape.rank() == 0 || shape.front() != node.input().shape[0])
            return std::nullopt;
        shape.front() = 1;
        one.set("shape", shape);
        return kept_batch(ir::NodeView(node.graph(), one), has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        std::vector<std::uint32_t> extents;
        for (const std::int64_t extent : node.node().integers("shape")) {
            extents.push_back(static_cast<std::uint32_t>(extent));
        }
        const ir::Shape shape(extents);
        if (shape.checked_elements() != node.input().shape.elements()) {
            throw ModelError(fmt::format("it reshapes {} to {}; the number of elements must stay the same",
                                         map_text(node.input().shape), map_text(shape)));
        }
        return {shape};
    }
    bool is_identity(const ir::NodeView& node) const override {
        return node.input().shape == node.output().shape;
    }
    bool reads_elements() const override { return true; }
    Placement placement() const override {
        return {.where = "nowhere: elements stay in place", .formats = "float32; uint8, int8, int16"};
    }
    void check_types(const ir::NodeView& node) const override { require_one_kind(node); }
    void compute(const TensorCall& call) const override {
        const bool is_constant = call.node.input().constant.has_value();
        const std::size_t bytes = call.node.output().shape.elements() * bytes_of(call.node.output().type);
        for (std::size_t image = 0; image < call.batch; ++image) {
            std::copy_n(call.input<std::uint8_t>(0) + (is_constant ? 0 : image * bytes), bytes,
                        call.output<std::uint8_t>() + image * bytes);
        }
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        quantize_moved(node, quantizer);
    }

protected:
    std::uint64_t first_element(const ir::NodeView& /*node*/) const override { return 0; }
};

}  // namespace

std::unique_ptr<ir::Operator> make_reshape() {
    return std::make_unique<Reshape>();
}

}  // namespace systole::operators
