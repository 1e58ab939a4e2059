// Each channel of each image with mean 0 and variance 1, times a scale plus an offset.
#include <fmt/format.h>

#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr double default_instance_epsilon = 1e-5;

ir::Results read_onnx_instance_normalization(ir::LayerReader& layer) {
    const auto epsilon =
        static_cast<double>(layer.number("epsilon", static_cast<float>(default_instance_epsilon)));
    return layer.append("instance_normalization", {{"epsilon", epsilon}, {"axis", std::int64_t{1}}},
                        {input_of(layer, 0), input_of(layer, 1), input_of(layer, 2)});
}

class InstanceNormalization final : public Operator {
public:
    std::string_view name() const override { return "instance_normalization"; }
    std::string_view summary() const override {
        return "Each channel of each image with mean 0 and variance 1, times a scale plus an offset. Inputs: "
               "the "
               "tensor, whose first axis is the batch; scale and offset: [channel].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{{.name = "epsilon",
                                                                         .meaning = "added to the variance",
                                                                         .absent = default_instance_epsilon,
                                                                         .minimum = 0.0},
                                                                        axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "InstanceNormalization",
                 .keys = {{"epsilon", "`epsilon`"}},
                 .build = read_onnx_instance_normalization}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        if (axes.front() != 0) return std::nullopt;
        PermutedNode moved = permuted_lines(node, axes);
        moved.broadcasts_constants = false;
        return moved;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, axis_of_attribute(node) != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 3) throw ModelError("it must have exactly 3 inputs");
        const std::size_t axis = axis_of_attribute(node);
        const std::uint32_t channels = node.input().shape[axis];
        for (std::size_t i = 1; i < 3; ++i) {
            if (axis > 0 && node.input(i).shape.elements() == channels) continue;
            throw ModelError(fmt::format("its input has {} channels; its scale and offset are for {}",
                                         channels, node.input(i).shape.elements()));
        }
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId input = builder.input_of(node);
        const std::size_t channel_axis = axis_of_attribute(builder.view(node));
        const std::size_t rank = builder.shape_of(input).rank();
        std::vector<std::size_t> axes;
        std::vector<std::uint32_t> by_channel;  // of what is the same for all but the channels
        for (std::size_t axis = 1; axis < rank; ++axis) {
            if (axis != channel_axis) axes.push_back(axis);
            if (axis >= channel_axis) {
                by_channel.push_back(axis == channel_axis ? builder.shape_of(input)[axis] : 1);
            }
        }
        const ir::ValueId scale = builder.reshape(builder.input_of(node, 1), ir::Shape(by_channel));
        const ir::ValueId offset = builder.reshape(builder.input_of(node, 2), ir::Shape(by_channel));
        const CenteredWords x = centered_words(builder, input, axes);
        const auto epsilon = static_cast<float>(node.real("epsilon"));
        const ir::ValueId factor = builder.chain(
            {scale, x.variance}, [=](std::span<const Word> in) { return in[0] / sqrt(in[1] + epsilon); });
        builder.set(node.output(),
                    builder.chain({x.differences, factor, offset},
                                  [](std::span<const Word> in) { return in[0] * in[1] + in[2]; }));
    }
    void evaluate(const FloatCall& call) const override {
        const ir::Value& input = call.node.input();
        const AxisLines lines = lines_along(input.shape, axis_of_attribute(call.node));
        const auto epsilon = call.node.node().real("epsilon");
        // The axes before the channels are the batch and, if the channels are last, the image.
        const std::size_t images = std::size_t{input.shape[0]} * (input.constant ? 1 : call.batch);
        const std::size_t rows = lines.outer / input.shape[0];
        const std::size_t image_elements = rows * lines.count * lines.inner;
        for (std::size_t image = 0; image < images; ++image) {
            for (std::size_t c = 0; c < lines.count; ++c) {
                const std::size_t first = image * image_elements + c * lines.inner;
                const auto for_each = [&](const auto& visit) {
                    for (std::size_t row = 0; row < rows; ++row) {
                        for (std::size_t i = 0; i < lines.inner; ++i) {
                            visit(first + row * lines.count * lines.inner + i);
                        }
                    }
                };
                double sum = 0.0;
                double squares = 0.0;
                for_each([&](std::size_t i) { sum += call.inputs[0][i]; });
                const double mean = sum / static_cast<double>(rows * lines.inner);
                for_each([&](std::size_t i) {
                    squares += (call.inputs[0][i] - mean) * (call.inputs[0][i] - mean);
                });
                const double variance = squares / static_cast<double>(rows * lines.inner);
                const double scale = call.inputs[1][c] / std::sqrt(variance + epsilon);
                for_each([&](std::size_t i) {
                    call.output[i] =
                        static_cast<float>((call.inputs[0][i] - mean) * scale + call.inputs[2][c]);
                });
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_instance_normalization() {
    return std::make_unique<InstanceNormalization>();
}

}  // namespace systole::operators
