// The quotient of two quantized tensors of bytes, element by element, in TFLite's fixed-point arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/stored_integers.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

/// a / b * factor, for b other than 0.
std::int32_t scaled_quotient(std::int32_t a, std::int32_t b, const FixedPoint& factor) {
    constexpr int bits = 31;
    if (b < 0) {
        a = -a;
        b = -b;
    }
    const int zeros = std::countl_zero(static_cast<std::uint32_t>(b));
    const auto fraction =
        static_cast<std::int32_t>((static_cast<std::uint32_t>(b) << zeros) - (std::uint32_t{1} << bits));
    // The bits that repeat the sign.
    const int headroom = a < 0 ? std::countl_zero(static_cast<std::uint32_t>(2 * -a - 1))
                               : std::countl_zero(static_cast<std::uint32_t>(a)) - 1;
    const std::int32_t quotient = multiply_fixed(wrap(std::int64_t{a} * (std::int64_t{1} << headroom)),
                                                 reciprocal_of_one_plus(fraction));
    const int shift = factor.shift - (bits - zeros) - headroom;
    // A shift of more bits than the number has would leave nothing.
    if (-shift > bits) return 0;
    return rounding_divide_by_power_of_two(multiply_fixed(quotient, factor.multiplier), std::max(-shift, 0));
}

class QuantizedDivide final : public Operator {
public:
    std::string_view name() const override { return "quantized_divide"; }
    std::string_view summary() const override {
        return "The quotient of two quantized tensors of bytes, element by element, in TFLite's fixed-point "
               "arithmetic. Where TFLite's kernel shifts by more bits than a number has, which is undefined, "
               "the quotient is 0.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "clamp",
             .meaning = "the least and the greatest stored number; none: all of the type",
             .absent = std::vector<std::int64_t>{},
             .minimum = std::numeric_limits<std::int16_t>::min(),
             .maximum = std::numeric_limits<std::int16_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Tflite,
                 .name = "DIV",
                 .keys = {{"fused_activation_function",
                           "a function of the result, or its `clamp`; on float32 and "
                           "int32, a `divide`"}},
                 .build = read_div}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return batch_of_elements(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        return {paired_shape(node)};
    }
    Placement placement() const override { return {.where = "host", .formats = "uint8"}; }
    void check_types(const ir::NodeView& node) const override {
        for (const ir::Value* const value : {&node.input(0), &node.input(1), &node.output()}) {
            const bool is_byte = value->type == DataType::Uint8;
            if (is_byte && value->quantization && !value->quantization->axis &&
                value->type == node.output().type)
                continue;
            throw ModelError(
                "it must divide bytes by bytes, both with one scale, into bytes of the same type");
        }
        const std::size_t limits = node.node().integers("clamp").size();
        if (limits != 0 && limits != 2) throw ModelError("its clamp must have two numbers or none");
        factor_of(node);
    }
    void compute(const TensorCall& call) const override {
        std::array<std::vector<std::int32_t>, 2> numbers;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const ir::Value& value = call.node.input(i);
            numbers[i].resize(call.input_elements(i));
            widen(call.inputs[i], value.type, numbers[i]);
            const std::int32_t zero_point = encoding_of(value).zero_point;
            for (std::int32_t& number : numbers[i]) number -= zero_point;
        }
        const std::vector<std::int32_t>& divisors = numbers[1];
        if (std::ranges::find(divisors, 0) != divisors.end()) throw ModelError("it divides a number by 0");
        const FixedPoint factor = factor_of(call.node);
        const ir::Encoding result = encoding_of(call.node.output());
        const std::vector<std::int64_t> clamp = call.node.node().integers("clamp");
        const auto lowest = clamp.empty() ? lowest_of(result.type) : static_cast<std::int32_t>(clamp[0]);
        const auto highest = clamp.empty() ? highest_of(result.type) : static_cast<std::int32_t>(clamp[1]);
        std::vector<std::int32_t> results(call.output_elements());
        for_each_pair_row(call.node, call.batch, numbers[0].data(), numbers[1].data(), results.data(),
                          [&](const PairRow<std::int32_t, std::int32_t>& row) {
                              const std::int32_t* a = row.a;
                              const std::int32_t* b = row.b;
                              for (std::size_t i = 0; i < row.count; ++i, a += row.step_a, b += row.step_b) {
                                  row.to[i] = offset_and_clamp(scaled_quotient(*a, *b, factor),
                                                               result.zero_point, lowest, highest);
                              }
                          });
        narrow(results, result.type, call.outputs.front());
    }

private:
    static FixedPoint factor_of(const ir::NodeView& node) {
        const double divisor = encoding_of(node.input(1)).scale * encoding_of(node.output()).scale;
        return fixed_point_of(encoding_of(node.input(0)).scale / divisor);
    }
    static ir::Results read_div(ir::LayerReader& layer) {
        const ir::ResultType result = layer.declared_result(0);
        const std::vector<ir::ValueId> inputs{input_of(layer, 0), input_of(layer, 1)};
        if (!result.quantization) {
            return append_fused_function(layer, layer.append_as(result, "divide", {}, inputs));
        }
        // The runtime has a rule for uint8 alone.
        if (result.type != DataType::Uint8) {
            layer.fail(fmt::format("divide of quantized {} is not supported", name_of(result.type)));
        }
        return layer.append_as(result, "quantized_divide", {{"clamp", fused_clamp(layer, result)}}, inputs);
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_quantized_divide() {
    return std::make_unique<QuantizedDivide>();
}

}  // namespace systole::operators
