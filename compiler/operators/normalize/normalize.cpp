// Lines along an axis divided by their norm.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_lp_normalization(ir::LayerReader& layer) {
    const std::int64_t order = integer_of(layer, "p", 2);
    if (order != 1 && order != 2) layer.fail("p", "it must be 1 or 2");
    const auto axis =
        static_cast<std::int64_t>(axis_in(layer, integer_of(layer, "axis", -1), shape_of(layer).rank()));
    return layer.append("normalize", {{"axis", axis}, {"order", order}, {"least", 0.0}},
                        {input_of(layer, 0)});
}

ir::Results read_tflite_l2_normalization(ir::LayerReader& layer) {
    const ir::ResultType type = layer.declared_result(0);
    if (type.type != DataType::Float32) {
        layer.require_text("fused_activation_function", "NONE");
        return layer.append_as(type, "normalize", {}, {input_of(layer, 0)});
    }
    return append_fused_function(layer, layer.append_as(type, "normalize", {}, {input_of(layer, 0)}));
}

/// Keras UnitNormalization: one axis.
ir::Results read_keras_unit_normalization(ir::LayerReader& layer) {
    const auto axis =
        static_cast<std::int64_t>(axis_in(layer, integer_of(layer, "axis", -1), shape_of(layer).rank()));
    return layer.append("normalize", {{"axis", axis}}, {layer.input()});
}

/// The encoding that TFLite prescribes for results in bytes.
constexpr double norm_scale = 1.0 / 128.0;

std::int32_t norm_zero_point(DataType type) {
    constexpr std::int32_t middle = 128;
    return type == DataType::Uint8 ? middle : 0;
}

class Normalize final : public Operator {
public:
    std::string_view name() const override { return "normalize"; }
    std::string_view summary() const override { return "Lines along an axis divided by their norm."; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        constexpr double least_norm = 1e-6;
        static const std::vector<ir::AttributeDeclaration> declarations{
            axis_attribute(),
            {.name = "order",
             .meaning = "1: the sum of the magnitudes; 2: the root of the sum of the squares",
             .absent = std::int64_t{2},
             .minimum = 1,
             .maximum = 2},
            {.name = "least",
             .meaning = "a smaller norm becomes this one",
             .absent = least_norm,
             .minimum = 0.0}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "LpNormalization",
                 .keys = {{"axis", "`axis`"}, {"p", "`order`"}},
                 .build = read_onnx_lp_normalization},
                {.format = ir::Format::Tflite,
                 .name = "L2_NORMALIZATION",
                 .keys = {{"fused_activation_function", "a function of the result"}},
                 .build = read_tflite_l2_normalization},
                {.format = ir::Format::Keras,
                 .name = "UnitNormalization",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_keras_unit_normalization}};
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
            input.quantization->axis || result.quantization->axis || node.node().integer("order") != 2) {
            throw ModelError(fmt::format(
                "it turns {} into {}; it must turn float32 into float32, or, by the Euclidean norm, "
                "bytes of one scale into the same",
                name_of(input.type), name_of(result.type)));
        }
        const ir::Encoding encoding = encoding_of(result);
        if (encoding.scale != norm_scale || encoding.zero_point != norm_zero_point(result.type)) {
            throw ModelError(fmt::format("its result has scale {} and zero point {}; they must be {} and {}",
                                         encoding.scale, encoding.zero_point, norm_scale,
                                         norm_zero_point(result.type)));
        }
    }
    /// Bytes, as TFLite's reference kernel computes them.
    void execute(const IntegerCall& call) const override {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        const std::int32_t zero_point = encoding_of(call.node.input()).zero_point;
        const DataType type = call.node.output().type;
        constexpr std::int32_t result_scale = 128;
        constexpr int result_bits = 7;
        for_each_line(lines, [&](std::size_t first) {
            const std::int32_t* const from = call.inputs[0] + first;
            std::int32_t sum = 0;
            for (std::size_t i = 0; i < lines.count; ++i) {
                const std::int32_t x = from[i * lines.inner] - zero_point;
                sum = wrap(std::int64_t{sum} + std::int64_t{x} * x);
            }
            const InverseRoot root = inverse_root_of(sum);
            for (std::size_t i = 0; i < lines.count; ++i) {
                const std::int32_t x = from[i * lines.inner] - zero_point;
                // The two kernels multiply by 128 in different places.
                const std::int32_t quotient = type == DataType::Uint8
                                                  ? scale(result_scale * x, root.multiplier, root.shift)
                                                  : scale(x, root.multiplier, root.shift + result_bits);
                call.output[first + i * lines.inner] =
                    offset_and_clamp(quotient, norm_zero_point(type), lowest_of(type), highest_of(type));
            }
        });
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId x = builder.input_of(node);
        const bool is_euclidean = node.integer("order") == 2;
        const auto least = static_cast<float>(node.real("least"));
        const ir::ValueId sizes = builder.chain(
            {x}, [=](std::span<const Word> in) { return is_euclidean ? in[0] * in[0] : absolute(in[0]); });
        const ir::ValueId sum =
            builder.reduce(systole::Reduction::Sum, sizes, {axis_of_attribute(builder.view(node))});
        builder.set(node.output(), builder.chain({x, sum}, [=](std::span<const Word> in) {
            const Word norm = maximum(is_euclidean ? sqrt(in[1]) : in[1], least);
            return select(equal(norm, 0.0F), 0.0F, in[0] / norm);
        }));
    }
    void evaluate(const FloatCall& call) const override {
        const ir::Node& node = call.node.node();
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        const bool is_euclidean = node.integer("order") == 2;
        const auto least = static_cast<float>(node.real("least"));
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            float sum = 0.0F;
            for (std::size_t i = 0; i < lines.count; ++i) {
                const float x = from[i * lines.inner];
                sum += is_euclidean ? x * x : std::abs(x);
            }
            const float norm = std::max(is_euclidean ? std::sqrt(sum) : sum, least);
            for (std::size_t i = 0; i < lines.count; ++i) {
                // The norm of a line of zeros is 0 without a least one; the line stays.
                call.output[first + i * lines.inner] = norm == 0.0F ? 0.0F : from[i * lines.inner] / norm;
            }
        });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_normalize() {
    return std::make_unique<Normalize>();
}

}  // namespace systole::operators
