// Softmax over the last axis of quantized numbers, in TFLite's fixed-point arithmetic.
#include "compiler/operators/integer_softmax/integer_softmax.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

/// exp(difference), q31, of two stored numbers.
std::int32_t exponential_of(std::int32_t difference, const DifferenceScale& scale) {
    const std::int32_t shifted = wrap(std::int64_t{difference} * (std::int64_t{1} << scale.factor.shift));
    return exp_of_negative(multiply_fixed(shifted, scale.factor.multiplier));
}

DifferenceScale byte_scale(const ir::NodeView& node) {
    const double scale = encoding_of(node.input()).scale;
    const double beta = node.node().real("beta");
    if (beta * scale * (1 << 26) <= 1.0) {
        throw ModelError(
            fmt::format("its input has a scale of {} and beta is {}; their product must be "
                        "above 2^-26",
                        scale, beta));
    }
    return difference_scale(scale, beta);
}

/// Softmax of bytes.
void softmax_of_row(const std::int32_t* from, std::int32_t* to, std::size_t count,
                    const DifferenceScale& scale, DataType result) {
    constexpr int sum_integer_bits = 12;
    constexpr int bits = 31;
    const std::int32_t largest = *std::max_element(from, from + count);
    const auto exp_of = [&](std::int32_t difference) { return exponential_of(difference, scale); };
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t difference = from[i] - largest;
        if (difference < scale.lowest) continue;
        sum = wrap(std::int64_t{sum} + rounding_divide_by_power_of_two(exp_of(difference), sum_integer_bits));
    }
    const int headroom = std::countl_zero(static_cast<std::uint32_t>(sum));
    const auto fraction =
        static_cast<std::int32_t>((static_cast<std::uint32_t>(sum) << headroom) - (std::uint32_t{1} << bits));
    const std::int32_t reciprocal = reciprocal_of_one_plus(fraction);
    const int result_bits = static_cast<int>(bytes_of(result)) * 8;
    const int right = std::clamp(sum_integer_bits - headroom + bits - result_bits, 0, bits);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t difference = from[i] - largest;
        to[i] = lowest_of(result);
        if (difference < scale.lowest) continue;
        const std::int32_t share =
            rounding_divide_by_power_of_two(multiply_fixed(reciprocal, exp_of(difference)), right);
        to[i] =
            std::clamp(wrap(std::int64_t{share} + lowest_of(result)), lowest_of(result), highest_of(result));
    }
}

/// A function of 16-bit numbers by its values at every 128th.
using Table16 = std::array<std::int16_t, 513>;

/// The table of a function from `first` to `last`; 1.0 is 2^15. Each entry is corrected by half of the error
/// in the middle of the step after it.
template <typename Function>
Table16 make_table16(const Function& function, double first, double last) {
    constexpr double steps = 512.0;
    constexpr double lowest = -32768.0;
    constexpr double highest = 32767.0;
    constexpr double span = 65535.0;
    const double unit = 2.0 / span;
    const double inverse = (span + 1.0) / (unit * highest - unit * lowest);
    const double step = (last - first) / steps;
    Table16 table{};
    for (std::size_t i = 0; i + 1 < table.size(); ++i) {
        const auto index = static_cast<double>(i);
        const double here = std::round(function(first + index * step) * inverse);
        const double next = function(first + (index + 1.0) * step) * inverse;
        const double middle = std::round(function(first + index * step + step / 2.0) * inverse);
        const double error = std::round((next + here) / 2.0) - middle;
        table[i] = static_cast<std::int16_t>(std::clamp(here - std::round(error / 2.0), lowest, highest));
    }
    table.back() =
        static_cast<std::int16_t>(std::clamp(std::round(function(last) * inverse), lowest, highest));
    return table;
}

std::int32_t look_up(const Table16& table, std::int32_t number) {
    const std::int32_t step = (number >> 7) + 256;
    const auto entry = static_cast<std::size_t>(step);
    const std::int32_t base = table[entry];
    const std::int32_t slope = table[entry + 1] - base;
    return base + ((slope * (number & 0x7f) + 64) >> 7);
}

/// Softmax of 16-bit numbers.
void wide_softmax_of_row(const std::int32_t* from, std::int32_t* to, std::size_t count,
                         const FixedPoint& factor) {
    static const Table16 exponential = make_table16([](double x) { return std::exp(x); }, -10.0, 0.0);
    static const Table16 reciprocal = make_table16([](double x) { return 1.0 / (1.0 + x); }, 0.0, 1.0);
    constexpr std::int32_t lowest = lowest_of(DataType::Int16);
    constexpr std::int32_t highest = highest_of(DataType::Int16);
    const std::int32_t largest = *std::max_element(from, from + count);
    std::int32_t sum = 0;  // q15
    for (std::size_t i = 0; i < count; ++i) {
        // From -65535 to 0 for -10 to 0.
        const std::int32_t difference = scale(from[i] - largest, factor.multiplier, factor.shift);
        const std::int64_t centred = std::int64_t{difference} + highest;
        to[i] = look_up(exponential,
                        static_cast<std::int32_t>(std::clamp<std::int64_t>(centred, lowest, highest)));
        sum = wrap(std::int64_t{sum} + to[i]);
    }
    const int headroom = std::countl_zero(static_cast<std::uint32_t>(sum));
    // From 1 to 2 in q16, then less 1 and centred.
    const std::int64_t normalized = ((std::int64_t{sum} << (headroom - 1)) + (1 << 13)) >> 14;
    const std::int64_t centred = normalized - ((1 << 15) + (1 << 16));
    const std::int32_t inverse =
        look_up(reciprocal, static_cast<std::int32_t>(std::clamp<std::int64_t>(centred, lowest, highest)));
    const int right = 31 - headroom;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t product = std::int64_t{to[i]} * inverse + (std::int64_t{1} << (right - 1));
        to[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(product >> right, 0, highest));
    }
}

class IntegerSoftmax final : public Operator {
public:
    std::string_view name() const override { return "integer_softmax"; }
    std::string_view summary() const override {
        return "Softmax over the last axis of quantized numbers, in TFLite's fixed-point arithmetic.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "beta", .meaning = "factor of the inputs", .absent = 1.0, .minimum = 0.0}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Tflite,
                 .name = "SOFTMAX",
                 .keys = {{"beta", "`beta`; on float32, a `softmax` of `beta` times the input"}},
                 .build = read_softmax}};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        // It works on the last axis.
        return kept_batch(node, has_batch, node.input().shape.rank() > 1);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        if (node.input().shape.rank() == 0) throw ModelError("its input is a number; it must have an axis");
        return {node.input().shape};
    }
    Placement placement() const override {
        return {.where = "host", .formats = "uint8 or int8, to the same or int16; int16"};
    }
    void check_types(const ir::NodeView& node) const override {
        const DataType from = node.input().type;
        const DataType to = node.output().type;
        if (!node.input().quantization || node.input().quantization->axis) {
            throw ModelError("its input must be integers with one scale");
        }
        const bool is_wide = from == DataType::Int16;
        const bool has_bytes = from == DataType::Uint8 || from == DataType::Int8;
        if ((!is_wide && !has_bytes) || (to != DataType::Int16 && to != from)) {
            throw ModelError(
                fmt::format("it turns {} into {}; it must turn bytes into the same or int16, or "
                            "int16 into int16",
                            name_of(from), name_of(to)));
        }
        if (is_wide) {
            wide_factor(node);
        } else {
            byte_scale(node);
        }
    }
    void execute(const IntegerCall& call) const override {
        const ir::Shape& shape = call.node.input().shape;
        const std::size_t count = shape[shape.rank() - 1];
        const std::size_t rows = call.batch * shape.elements() / count;
        for (std::size_t row = 0; row < rows; ++row) {
            const std::int32_t* const from = call.inputs[0] + row * count;
            std::int32_t* const to = call.output + row * count;
            if (call.node.input().type == DataType::Int16) {
                wide_softmax_of_row(from, to, count, wide_factor(call.node));
            } else {
                softmax_of_row(from, to, count, byte_scale(call.node), call.node.output().type);
            }
        }
    }

private:
    static FixedPoint wide_factor(const ir::NodeView& node) {
        // -65535 to 0 for -10 to 0; the runtime multiplies scale and beta in float32.
        const auto scale = static_cast<float>(encoding_of(node.input()).scale);
        const auto beta = static_cast<float>(node.node().real("beta"));
        return fixed_point_of(double{scale * beta} / (10.0 / 65535.0));
    }
    static ir::Results read_softmax(ir::LayerReader& layer) {
        const ir::ValueId input = input_of(layer, 0);
        const ir::ResultType result = layer.declared_result(0);
        const auto beta = double{layer.number("beta", 0.0F)};
        if (result.type != DataType::Float32) {
            return layer.append_as(result, "integer_softmax", {{"beta", beta}}, {input});
        }
        if (beta == 1.0) return layer.append("softmax", {}, {input});
        const ir::ValueId factor = layer.constant("beta", {1}, {static_cast<float>(beta)});
        return layer.append("softmax", {}, {layer.append("multiply", {}, {input, factor})});
    }
};

}  // namespace

std::vector<std::int32_t> softmax_exponentials(const ir::NodeView& node) {
    constexpr std::int32_t differences = 256;
    const DifferenceScale scale = byte_scale(node);
    std::vector<std::int32_t> exponentials;
    exponentials.reserve(differences);
    for (std::int32_t i = 0; i < differences; ++i) {
        exponentials.push_back(-i < scale.lowest ? 0 : exponential_of(-i, scale));
    }
    return exponentials;
}

std::unique_ptr<ir::Operator> make_integer_softmax() {
    return std::make_unique<IntegerSoftmax>();
}

}  // namespace systole::operators
