// The logarithm of the softmax along an axis: x minus the logarithm of the sum of exp(x).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/softmax/softmax_nodes.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// The results of TFLite's reference kernel have this scale, and their highest number stands for 0.
constexpr double log_softmax_scale = 1.0 / 16.0;

/// A line of bytes along an axis, in TFLite's fixed-point arithmetic.
void log_softmax_of_line(const std::int32_t* from, std::int32_t* to, const AxisLines& lines,
                         const DifferenceScale& scaling, DataType type) {
    constexpr int sum_integer_bits = 12;
    constexpr int fraction_bits = 31 - 5 - 4;  // between q26 and the result's sixteenths
    const auto multiplier = scaling.factor.multiplier;
    const auto left = scaling.factor.shift;
    const auto scaled = [&](std::int32_t difference) {
        return multiply_fixed(wrap(std::int64_t{difference} * (std::int64_t{1} << left)), multiplier);
    };
    std::int32_t largest = *from;
    for (std::size_t i = 0; i < lines.count; ++i) largest = std::max(largest, from[i * lines.inner]);
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < lines.count; ++i) {
        const std::int32_t difference = from[i * lines.inner] - largest;
        if (difference < scaling.lowest) continue;
        const std::int32_t power = exp_of_negative(scaled(difference));
        sum = wrap(std::int64_t{sum} + rounding_divide_by_power_of_two(power, sum_integer_bits));
    }
    const std::int32_t logarithm = log_of_sum(sum);
    // The least difference whose result q26 can hold.
    const FixedPoint back = fixed_point_of(std::ldexp(1.0, 31 - left) / multiplier);
    const std::int32_t lowest = std::max(
        scaling.lowest - 1, scale(wrap(std::int64_t{logarithm} + std::numeric_limits<std::int32_t>::min()),
                                  back.multiplier, back.shift));
    for (std::size_t i = 0; i < lines.count; ++i) {
        const std::int32_t difference = from[i * lines.inner] - largest;
        std::int32_t& result = to[i * lines.inner];
        result = lowest_of(type);
        if (difference <= lowest) continue;
        const std::int32_t q26 = wrap(std::int64_t{scaled(difference)} - logarithm);
        result = std::clamp(rounding_divide_by_power_of_two(q26, fraction_bits) + highest_of(type),
                            lowest_of(type), highest_of(type));
    }
}

ir::Results read_tflite_log_softmax(ir::LayerReader& layer) {
    return append_declared(layer, "log_softmax", {}, {input_of(layer, 0)});
}

class LogSoftmax final : public Operator {
public:
    std::string_view name() const override { return "log_softmax"; }
    std::string_view summary() const override {
        return "The logarithm of the softmax along an axis: x minus the logarithm of the sum of exp(x).";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {onnx_softmax("log_softmax", "LogSoftmax"),
                {.format = ir::Format::Tflite, .name = "LOG_SOFTMAX", .build = read_tflite_log_softmax}};
    }
    std::vector<ir::FunctionName> function_names() const override {
        return {{ir::Format::Keras, "log_softmax"}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lines(node, axes);
    }
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        return node.node().integer("axis") == -1 ? LeadingOnes::Passed : LeadingOnes::Counted;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, axis_of_attribute(node) != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        axis_of_attribute(node);
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32; uint8, int8"}; }
    void check_types(const ir::NodeView& node) const override {
        const ir::Value& input = node.input();
        const ir::Value& result = node.output();
        if (input.type == DataType::Float32 && result.type == DataType::Float32) return;
        const bool has_bytes = input.type == DataType::Uint8 || input.type == DataType::Int8;
        if (!has_bytes || result.type != input.type || !input.quantization || !result.quantization ||
            input.quantization->axis || result.quantization->axis) {
            throw ModelError(
                fmt::format("it turns {} into {}; it must turn float32 or bytes of one scale into the same",
                            name_of(input.type), name_of(result.type)));
        }
        const ir::Encoding encoding = encoding_of(result);
        if (encoding.scale != log_softmax_scale || encoding.zero_point != highest_of(result.type)) {
            throw ModelError(fmt::format("its result has scale {} and zero point {}; they must be {} and {}",
                                         encoding.scale, encoding.zero_point, log_softmax_scale,
                                         highest_of(result.type)));
        }
        if (encoding_of(input).scale * (1 << 26) <= 1.0) {
            throw ModelError(
                fmt::format("its input has a scale of {}; it must be above 2^-26", encoding_of(input).scale));
        }
    }
    void execute(const IntegerCall& call) const override {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        const DifferenceScale scaling = difference_scale(encoding_of(call.node.input()).scale, 1.0);
        for_each_line(lines, [&](std::size_t first) {
            log_softmax_of_line(call.inputs[0] + first, call.output + first, lines, scaling,
                                call.node.output().type);
        });
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId x = builder.input_of(node);
        const std::vector<std::size_t> axes{axis_of_attribute(builder.view(node))};
        const ir::ValueId largest = builder.reduce(systole::Reduction::Maximum, x, axes);
        const ir::ValueId powers =
            builder.chain({x, largest}, [](std::span<const Word> in) { return exp(in[0] - in[1]); });
        const ir::ValueId sum = builder.reduce(systole::Reduction::Sum, powers, axes);
        builder.set(node.output(), builder.chain({x, largest, sum}, [](std::span<const Word> in) {
            return in[0] - in[1] - log(in[2]);
        }));
    }
    void evaluate(const FloatCall& call) const override {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            float largest = *from;
            for (std::size_t i = 0; i < lines.count; ++i) largest = std::max(largest, from[i * lines.inner]);
            float sum = 0.0F;
            for (std::size_t i = 0; i < lines.count; ++i) sum += std::exp(from[i * lines.inner] - largest);
            const float logarithm = std::log(sum);
            for (std::size_t i = 0; i < lines.count; ++i) {
                call.output[first + i * lines.inner] = from[i * lines.inner] - largest - logarithm;
            }
        });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_log_softmax() {
    return std::make_unique<LogSoftmax>();
}

}  // namespace systole::operators
