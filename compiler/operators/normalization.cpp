#include "compiler/operators/normalization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/float_values.h"

namespace systole::operators {
namespace {

constexpr float default_epsilon_of_onnx = 1e-5F;

/// The mean of function(x) of `count` numbers, all of which `for_each` visits.
template <typename ForEach, typename Function>
double mean_of(std::size_t count, const ForEach& for_each, const Function& function) {
    double sum = 0.0;
    for_each([&](float x) { sum += function(double{x}); });
    return sum / static_cast<double>(count);
}

template <typename ForEach>
double mean_of(std::size_t count, const ForEach& for_each) {
    return mean_of(count, for_each, [](double x) { return x; });
}

/// The mean square of the distance to `center`.
template <typename ForEach>
double mean_square(std::size_t count, const ForEach& for_each, double center) {
    return mean_of(count, for_each, [&](double x) { return (x - center) * (x - center); });
}

/// A number that the steps of a word chain may hold.
float epsilon_word(const ir::Node& node) {
    return math::settled(static_cast<float>(node.real("epsilon")));
}

/// Scale or offset of an inference, repeated to the last axes of the tensor: to all that are normalized, and
/// to those before them that it has itself. Element i of the tensor meets element i % size of it.
std::vector<float> repeated_parameter(const FloatCall& call, std::size_t input, std::size_t normalized_axes,
                                      std::uint32_t inference) {
    const ir::Shape& shape = call.node.input(input).shape;
    const std::size_t axes = std::max(shape.rank(), normalized_axes);
    const ir::Shape to(call.node.input().shape.extents().last(axes));
    std::vector<float> numbers(to.elements());
    copy_view(broadcast_view(shape, to), sizeof(float), input_of_inference(call, input, inference),
              numbers.data());
    return numbers;
}

}  // namespace

ir::AttributeDeclaration epsilon_attribute() {
    return {.name = "epsilon", .meaning = "added to the variance", .absent = 1e-5, .minimum = 0.0};
}

const std::vector<ir::AttributeDeclaration>& LastAxesNormalization::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations = [] {
        ir::AttributeDeclaration axis = axis_attribute();
        axis.meaning =
            "the first of the normalized axes, which are all from it to the last; -1: the last one";
        ir::AttributeDeclaration epsilon = epsilon_attribute();
        epsilon.meaning = "added to the mean square";
        return std::vector{axis, epsilon};
    }();
    return declarations;
}

LeadingOnes LastAxesNormalization::leading_ones(const ir::NodeView& node) const {
    if (node.node().integer("axis") != -1) return LeadingOnes::Counted;
    for (std::size_t i = 1; i < node.node().inputs.size(); ++i) {
        // Scale and offset must not have more axes than the tensor.
        if (!node.input(i).constant || node.input(i).shape.rank() > 1) return LeadingOnes::Counted;
    }
    return LeadingOnes::Passed;
}

std::optional<PermutedNode> LastAxesNormalization::permuted(const ir::NodeView& node,
                                                            std::span<const std::uint32_t> axes) const {
    const std::size_t first = axis_of_attribute(node);
    const auto is_normalized = [&](std::uint32_t axis) { return axis >= first; };
    // The normalized axes must stay the last ones.
    if (!std::ranges::all_of(axes.subspan(first), is_normalized)) return std::nullopt;
    return permuted_elements(node, axes);
}

std::optional<std::vector<ir::Attribute>> LastAxesNormalization::on_one_image(
    const ir::NodeView& node, const std::vector<bool>& has_batch) const {
    if (axis_of_attribute(node) == 0 || !has_batch.front()) return std::nullopt;
    return batch_of_elements(node, has_batch);
}

std::vector<ir::Shape> LastAxesNormalization::output_shapes(const ir::NodeView& node) const {
    const std::size_t inputs = node.node().inputs.size();
    if (inputs == 0 || inputs > definition_.most_inputs) {
        throw ModelError(fmt::format("it has {}; it must have 1 to {}", counted(inputs, "input"),
                                     definition_.most_inputs));
    }
    static_cast<void>(axis_of_attribute(node));
    for (std::size_t i = 1; i < inputs; ++i) {
        static_cast<void>(broadcast_view(node.input(i).shape, node.input().shape));
    }
    return {node.input().shape};
}

std::uint64_t LastAxesNormalization::operations(const ir::NodeView& node) const {
    // A square, its sum and a product of each element; before that, a sum and a difference for the mean.
    const std::uint64_t an_element = definition_.subtracts_mean ? 5 : 3;
    return (an_element + node.node().inputs.size() - 1) * node.output().shape.elements();
}

void LastAxesNormalization::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const ir::NodeView view = builder.view(node);
    const ir::ValueId input = builder.input_of(node);
    const std::size_t first = axis_of_attribute(view);
    std::vector<std::size_t> axes(view.input().shape.rank() - first);
    std::iota(axes.begin(), axes.end(), first);
    const CenteredWords x = definition_.subtracts_mean
                                ? centered_words(builder, input, axes)
                                : CenteredWords{input, mean_square_words(builder, input, axes)};
    const ir::ValueId factor = builder.chain(
        {x.variance}, [&](std::span<const Word> in) { return rsqrt(in[0] + epsilon_word(node)); });
    std::vector<ir::ValueId> inputs{x.differences, factor};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(builder.input_of(node, i));
    builder.set(node.output(), builder.chain(inputs, [](std::span<const Word> in) {
        Word result = in[0] * in[1];
        if (in.size() > 2) result = result * in[2];
        if (in.size() > 3) result = result + in[3];
        return result;
    }));
}

void LastAxesNormalization::evaluate(const FloatCall& call) const {
    const ir::Shape& shape = call.node.input().shape;
    const std::size_t first_axis = axis_of_attribute(call.node);
    const std::size_t elements = shape.elements();
    const std::size_t count = shape_from_axis(shape, first_axis).elements();
    const double epsilon = call.node.node().real("epsilon");
    for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
        const float* const from = input_of_inference(call, 0, inference);
        float* const to = call.output + inference * elements;
        std::vector<std::vector<float>> parameters;
        for (std::size_t i = 1; i < call.inputs.size(); ++i) {
            parameters.push_back(repeated_parameter(call, i, shape.rank() - first_axis, inference));
        }
        for (std::size_t first = 0; first < elements; first += count) {
            const auto for_each = [&](const auto& visit) {
                for (std::size_t i = 0; i < count; ++i) visit(from[first + i]);
            };
            const double mean = definition_.subtracts_mean ? mean_of(count, for_each) : 0.0;
            const double factor = 1.0 / std::sqrt(mean_square(count, for_each, mean) + epsilon);
            const auto line_of = [&](std::size_t index) -> const float* {
                if (index >= parameters.size()) return nullptr;
                return parameters[index].data() + first % parameters[index].size();
            };
            const float* const scale = line_of(0);
            const float* const offset = line_of(1);
            for (std::size_t i = 0; i < count; ++i) {
                double result = (from[first + i] - mean) * factor;
                if (scale != nullptr) result *= scale[i];
                if (offset != nullptr) result += offset[i];
                to[first + i] = static_cast<float>(result);
            }
        }
    }
}

std::optional<PermutedNode> ChannelNormalization::permuted(const ir::NodeView& node,
                                                           std::span<const std::uint32_t> axes) const {
    if (axes.front() != 0) return std::nullopt;
    PermutedNode moved = permuted_lines(node, axes);
    moved.broadcasts_constants = false;
    return moved;
}

std::optional<std::vector<ir::Attribute>> ChannelNormalization::on_one_image(
    const ir::NodeView& node, const std::vector<bool>& has_batch) const {
    return kept_batch(node, has_batch, axis_of_attribute(node) != 0);
}

std::vector<ir::Shape> ChannelNormalization::output_shapes(const ir::NodeView& node) const {
    if (node.node().inputs.size() != 3) throw ModelError("it must have exactly 3 inputs");
    const std::size_t axis = axis_of_attribute(node);
    if (axis == 0) throw ModelError("its axis is 0, that of the batch; it must be that of the channels");
    const std::uint32_t channels = node.input().shape[axis];
    if (const std::size_t count = groups(node.node(), channels); channels % count != 0) {
        throw ModelError(fmt::format("it has {} groups of {} channels; all groups must have as many channels",
                                     count, channels));
    }
    for (std::size_t i = 1; i < 3; ++i) {
        if (node.input(i).shape.elements() == channels) continue;
        throw ModelError(fmt::format("its input has {} channels; its scale and offset are for {}", channels,
                                     node.input(i).shape.elements()));
    }
    return {node.input().shape};
}

void ChannelNormalization::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const ir::NodeView view = builder.view(node);
    const ir::Shape shape = view.input().shape;
    const std::size_t axis = axis_of_attribute(view);
    const std::uint32_t channels = shape[axis];
    const auto count = static_cast<std::uint32_t>(groups(node, channels));
    std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
    std::size_t channel_axis = axis;
    std::size_t channel_axes = 1;
    std::optional<std::size_t> group_axis;  // none: all channels are one group
    if (count == channels && extents.size() > 2) {
        group_axis = axis;
    } else if (count > 1) {
        // The channels become two axes. Those before and behind them are one each, as a tensor has few axes.
        const AxisLines lines = lines_along(shape, axis);
        extents = {shape[0]};
        if (axis > 1) extents.push_back(static_cast<std::uint32_t>(lines.outer / shape[0]));
        channel_axis = extents.size();
        channel_axes = 2;
        group_axis = channel_axis;
        extents.insert(extents.end(), {count, channels / count});
        if (axis + 1 < shape.rank()) extents.push_back(static_cast<std::uint32_t>(lines.inner));
    }
    std::vector<std::size_t> axes;
    std::vector<std::uint32_t> by_channel;  // of what is the same for all but the channels
    for (std::size_t i = 1; i < extents.size(); ++i) {
        if (i != group_axis) axes.push_back(i);
        if (i >= channel_axis) by_channel.push_back(i < channel_axis + channel_axes ? extents[i] : 1);
    }
    const ir::ValueId scale = builder.reshape(builder.input_of(node, 1), ir::Shape(by_channel));
    const ir::ValueId offset = builder.reshape(builder.input_of(node, 2), ir::Shape(by_channel));
    const CenteredWords x =
        centered_words(builder, builder.reshape(builder.input_of(node), ir::Shape(extents)), axes);
    const ir::ValueId factor = builder.chain({scale, x.variance}, [&](std::span<const Word> in) {
        return in[0] / sqrt(in[1] + epsilon_word(node));
    });
    const ir::ValueId result = builder.chain({x.differences, factor, offset},
                                             [](std::span<const Word> in) { return in[0] * in[1] + in[2]; });
    builder.set(node.output(), builder.reshape(result, shape));
}

void ChannelNormalization::evaluate(const FloatCall& call) const {
    const ir::Shape& shape = call.node.input().shape;
    const std::size_t axis = axis_of_attribute(call.node);
    const AxisLines lines = lines_along(shape, axis);
    const std::size_t own_channels = lines.count / groups(call.node.node(), shape[axis]);
    const double epsilon = call.node.node().real("epsilon");
    // The axes before the channels are the batch and, if the channels are last, the image.
    const std::size_t rows = lines.outer / shape[0];
    const std::size_t image_elements = rows * lines.count * lines.inner;
    const std::size_t count = own_channels * rows * lines.inner;
    for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
        const float* const from = input_of_inference(call, 0, inference);
        const float* const scale = input_of_inference(call, 1, inference);
        const float* const offset = input_of_inference(call, 2, inference);
        float* const to = call.output + inference * shape.elements();
        for (std::size_t group = 0; group < shape[0] * lines.count; group += own_channels) {
            const std::size_t image = group / lines.count;
            const std::size_t first_channel = group % lines.count;
            const auto for_each_of_channel = [&](std::size_t c, const auto& visit) {
                const std::size_t first = image * image_elements + c * lines.inner;
                for (std::size_t row = 0; row < rows; ++row) {
                    for (std::size_t i = 0; i < lines.inner; ++i) {
                        visit(first + row * lines.count * lines.inner + i);
                    }
                }
            };
            const auto for_each = [&](const auto& visit) {
                for (std::size_t c = first_channel; c < first_channel + own_channels; ++c) {
                    for_each_of_channel(c, [&](std::size_t i) { visit(from[i]); });
                }
            };
            const double mean = mean_of(count, for_each);
            const double deviation = std::sqrt(mean_square(count, for_each, mean) + epsilon);
            for (std::size_t c = first_channel; c < first_channel + own_channels; ++c) {
                const double factor = scale[c] / deviation;
                for_each_of_channel(c, [&](std::size_t i) {
                    to[i] = static_cast<float>((from[i] - mean) * factor + offset[c]);
                });
            }
        }
    }
}

double onnx_epsilon(const ir::LayerReader& layer) {
    return double{layer.number("epsilon", default_epsilon_of_onnx)};
}

std::size_t onnx_first_axis(const ir::LayerReader& layer) {
    return axis_in(layer, integer_of(layer, "axis", -1), shape_of(layer).rank());
}

void require_float_statistics(const ir::LayerReader& layer) {
    constexpr std::int64_t float32_of_onnx = 1;
    if (integer_of(layer, "stash_type", float32_of_onnx) == float32_of_onnx) return;
    layer.fail("stash_type", "it must be 1: means and variances are float32");
}

std::vector<ir::LayerKey> onnx_last_axes_keys() {
    return {{"axis", "`axis`"}, {"epsilon", "`epsilon`"}, {"stash_type", "only 1"}};
}

std::size_t keras_first_axis(const ir::LayerReader& layer) {
    const std::size_t rank = layer.value(layer.input()).shape.rank();
    const std::vector<std::int64_t> axes = integers_of(layer, "axis").value_or(std::vector<std::int64_t>{-1});
    const std::size_t first = rank - std::min(axes.size(), rank);
    bool are_last = first > 0 && !axes.empty();
    for (std::size_t i = 0; i < axes.size(); ++i) {
        are_last = are_last && axis_in(layer, axes[i], rank) == first + i;
    }
    if (!are_last) layer.fail("axis", "it must be the last axes, in ascending order and without the batch");
    return first;
}

ir::ValueId keras_weight(ir::LayerReader& layer, const char* role, const ir::Shape& shape) {
    return layer.weight(
        {.roles = {role}, .file_shape = {shape.extents().begin(), shape.extents().end()}, .shape = shape});
}

ir::ValueId keras_weight_or(ir::LayerReader& layer, const char* key, const char* role, const ir::Shape& shape,
                            float number) {
    if (layer.boolean(key, true)) return keras_weight(layer, role, shape);
    return layer.constant(role, shape, std::vector<float>(shape.elements(), number));
}

ir::Shape shape_from_axis(const ir::Shape& shape, std::size_t first) {
    return ir::Shape(shape.extents().subspan(first));
}

ir::ValueId append_last_axes_node(ir::LayerReader& layer, std::string_view op, std::size_t first,
                                  double epsilon, std::vector<ir::ValueId> inputs) {
    const bool is_last = first + 1 == layer.value(inputs.front()).shape.rank();
    return layer.append(
        op, {{"axis", is_last ? std::int64_t{-1} : static_cast<std::int64_t>(first)}, {"epsilon", epsilon}},
        std::move(inputs));
}

ir::ValueId append_mean(ir::LayerReader& layer, ir::ValueId input, std::size_t first) {
    std::vector<std::int64_t> axes(layer.value(input).shape.rank() - first);
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
    return layer.append("reduce_mean", {{"axes", std::move(axes)}, {"keep", std::int64_t{1}}}, {input});
}

ir::ValueId append_reciprocal_root(ir::LayerReader& layer, ir::ValueId squares, std::size_t first,
                                   double epsilon) {
    const ir::ValueId mean = append_mean(layer, squares, first);
    const ir::ValueId added = layer.constant("epsilon", {}, {static_cast<float>(epsilon)});
    return layer.append("rsqrt", {}, {layer.append("add", {}, {mean, added})});
}

ir::ValueId append_skip_sum(ir::LayerReader& layer, std::size_t bias) {
    const ir::Shape shape = shape_of(layer);
    ir::ValueId sum = layer.append("add", {}, {input_of(layer, 0), input_of(layer, 1)});
    if (const auto added = layer.input_if_any(bias)) sum = layer.append("add", {}, {sum, *added});
    if (layer.value(sum).shape != shape) {
        layer.fail(fmt::format("its input is {}, and with what is added {}; it must keep its shape",
                               to_text(shape), to_text(layer.value(sum).shape)));
    }
    return sum;
}

ir::Results skip_results(const ir::LayerReader& layer, ir::ValueId result, ir::ValueId sum) {
    constexpr std::size_t place_of_sum = 3;
    if (layer.result_count() <= place_of_sum) return result;
    return std::vector<ir::ValueId>{result, ir::no_value, ir::no_value, sum};
}

double skip_epsilon(const ir::LayerReader& layer) {
    constexpr float default_epsilon_with_skip = 1e-12F;
    return double{layer.number("epsilon", default_epsilon_with_skip)};
}

}  // namespace systole::operators
