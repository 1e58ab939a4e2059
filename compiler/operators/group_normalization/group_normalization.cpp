// Each group of channels of each image with mean 0 and variance 1, times a scale plus an offset.
#include <fmt/format.h>

#include <limits>

#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/normalization.h"

namespace systole::operators {
namespace {

/// Scale or offset of each channel. Before operator set 21, ONNX has one for each group.
ir::ValueId group_parameter(ir::LayerReader& layer, std::size_t index, std::uint32_t groups,
                            std::uint32_t channels) {
    constexpr std::int64_t first_opset_by_channel = 21;
    const ir::ValueId given = input_of(layer, index);
    if (opset_of(layer) >= first_opset_by_channel || channels % groups != 0) return given;
    const std::uint64_t numbers = layer.value(given).shape.elements();
    if (numbers != groups) {
        layer.fail(fmt::format("its input {} has {} numbers; it must have {}, one for each group", index,
                               numbers, groups));
    }
    const ir::ValueId column = append_shape(layer, given, ir::Shape{groups, 1});
    const ir::Shape repeated{groups, channels / groups};
    return append_shape(layer, append_same(layer, "expand", {{"shape", extents_of(repeated)}}, {column}),
                        ir::Shape{channels});
}

ir::Results read_onnx_group_normalization(ir::LayerReader& layer) {
    require_float_statistics(layer);
    const std::int64_t groups = positive_of(layer, "num_groups");
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    if (shape.rank() < 2) {
        layer.fail(fmt::format("its input is {}; its second axis must be the channels", to_text(shape)));
    }
    const auto parameter = [&](std::size_t index) {
        return group_parameter(layer, index, static_cast<std::uint32_t>(groups), shape[1]);
    };
    const ir::ValueId scale = parameter(1);
    const ir::ValueId offset = parameter(2);
    return layer.append("group_normalization",
                        {{"groups", groups}, {"axis", std::int64_t{1}}, {"epsilon", onnx_epsilon(layer)}},
                        {input, scale, offset});
}

ir::Results read_keras_group_normalization(ir::LayerReader& layer) {
    constexpr std::int64_t default_groups = 32;
    constexpr float default_epsilon_of_groups = 1e-3F;
    const ir::ValueId input = layer.input();
    const ir::Shape shape = layer.value(input).shape;
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", -1), shape.rank());
    if (axis == 0) layer.fail("axis", "it is that of the batch; it must be that of the channels");
    const std::int64_t channels = shape[axis];
    std::int64_t groups = integer_of(layer, "groups", default_groups);
    if (groups == -1) groups = channels;
    if (groups < 1 || channels % groups != 0) {
        layer.fail("groups", fmt::format("it must divide {}, the number of channels, or be -1", channels));
    }
    const ir::Shape by_channel{shape[axis]};
    const double epsilon{layer.number("epsilon", default_epsilon_of_groups)};
    const ir::ValueId scale = keras_weight_or(layer, "scale", "gamma", by_channel, 1.0F);
    const ir::ValueId offset = keras_weight_or(layer, "center", "beta", by_channel, 0.0F);
    const bool is_last = axis + 1 == shape.rank();
    return layer.append("group_normalization",
                        {{"groups", groups},
                         {"axis", is_last ? std::int64_t{-1} : static_cast<std::int64_t>(axis)},
                         {"epsilon", epsilon}},
                        {input, scale, offset});
}

class GroupNormalization final : public ChannelNormalization {
public:
    std::string_view name() const override { return "group_normalization"; }
    std::string_view summary() const override {
        return "Each group of channels of each image with mean 0 and variance 1, times a scale plus an "
               "offset. Inputs: the tensor, whose first axis is the batch; scale and offset: [channel].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "groups",
             .meaning = "the number of groups, of as many neighbouring channels each",
             .absent = std::int64_t{1},
             .is_required = true,
             .minimum = 1,
             .maximum = std::numeric_limits<std::int32_t>::max()},
            axis_attribute(),
            epsilon_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "GroupNormalization",
                 .keys = {{"num_groups", "`groups`"},
                          {"epsilon", "`epsilon`"},
                          {"stash_type", "only 1"},
                          opset_entry()},
                 .build = read_onnx_group_normalization},
                {.format = ir::Format::Keras,
                 .name = "GroupNormalization",
                 .keys = {{"groups", "`groups`; -1: each channel is one"},
                          {"axis", "`axis`"},
                          {"epsilon", "`epsilon`"},
                          {"scale", "whether there is a gamma"},
                          {"center", "whether there is a beta"}},
                 .build = read_keras_group_normalization}};
    }
    /// Two sums, a difference, a square, a product with the scale and a sum with the offset of each element.
    std::uint64_t operations(const ir::NodeView& node) const override {
        constexpr std::uint64_t an_element = 6;
        return an_element * node.output().shape.elements();
    }

protected:
    std::size_t groups(const ir::Node& node, std::uint32_t /*channels*/) const override {
        return static_cast<std::size_t>(node.integer("groups"));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_group_normalization() {
    return std::make_unique<GroupNormalization>();
}

}  // namespace systole::operators
