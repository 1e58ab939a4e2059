#include "compiler/operators/weighted.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantize_weights.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/single_threaded.h"

namespace systole::operators {
namespace {

bool all_finite(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// Placeholders for a network without weights; the parameters still take their rows.
QuantizedWeights unknown_weights(const ir::Encoding& output) {
    return {.weights = {}, .scales = {1.0}, .bias = {}, .output = output};
}

QuantizedWeights quantized_weights(const ir::Node& node, std::span<const WeightedInput> inputs,
                                   const ir::Encoding& wanted, const Quantizer& quantizer) {
    const ir::NodeView view = quantizer.view(node);
    const std::span<const float> weights = view.constant(0)->constant->values<float>();
    std::vector<float> bias;
    if (view.constant(1) != nullptr) {
        const std::span<const float> values = view.constant(1)->constant->values<float>();
        bias.assign(values.begin(), values.end());
    }
    if (!all_finite(weights) || !all_finite(bias)) {
        quantizer.fail(node.output(), "folding batch normalization gives weights beyond the range of float");
    }
    if (!view.graph().has_weights) return unknown_weights(wanted);
    if (bias.empty()) bias.assign(view.output_map().channels, 0.0F);
    return quantize_weights(weights, bias, inputs, wanted);
}

/// Appends weights and bias as constants of the quantized graph.
void add_constants(const ir::NodeView& view, QuantizedWeights quantized, Quantizer& quantizer,
                   std::vector<ir::ValueId>& inputs) {
    const ir::Value& weights = *view.constant(0);
    const ir::Value* const bias = view.constant(1);
    const auto channels = static_cast<std::uint32_t>(view.output_map().channels);
    ir::Constant weight_values;
    ir::Constant bias_values;
    if (view.graph().has_weights) {
        weight_values = ir::Constant::of(std::move(quantized.weights));
        bias_values = ir::Constant::of(std::move(quantized.bias));
    }
    ir::Quantization scales{.scales = std::move(quantized.scales), .zero_points = {}};
    scales.zero_points.assign(scales.scales.size(), 0);
    if (view.graph().has_weights) scales.axis = static_cast<std::uint32_t>(weights.shape.rank() - 1);
    inputs.push_back(quantizer.add_constant(weights.name, weights.shape, DataType::Int8,
                                            std::move(weight_values), std::move(scales)));
    inputs.push_back(quantizer.add_constant(bias == nullptr ? view.node().name + "/bias" : bias->name,
                                            {channels}, DataType::Int32, std::move(bias_values)));
}

double largest_input_scale(const ir::NodeView& node) {
    double scale = 0.0;
    for (std::size_t i = 0, count = node.data_inputs(); i < count; ++i) {
        scale = std::max(scale, encoding_of(node.input(i)).scale);
    }
    return scale;
}

double weight_scale(const ir::NodeView& node, std::size_t channel) {
    const std::vector<double>& scales = node.constant(0)->quantization->scales;
    return scales[scales.size() == 1 ? 0 : channel];
}

/// Throws ModelError unless the reference, which adds bytes of the inputs apart, and the runtime's multiplier
/// can express the node.
void check_wide_sums(const ir::NodeView& node) {
    if (rounding_of(node.node()) != Rounding::Tflite) {
        throw ModelError(fmt::format("its sums are wide and its rounding is {}; with wide sums it must be {}",
                                     name_of(rounding_of(node.node())), name_of(Rounding::Tflite)));
    }
    constexpr std::uint64_t most_products = std::uint64_t{1} << 16U;
    constexpr std::int32_t largest_shift = 7;
    if (node.input().type != DataType::Int16) {
        throw ModelError(
            fmt::format("it has wide sums of {}; they must be of int16", name_of(node.input().type)));
    }
    const ir::Shape& weights = node.constant(0)->shape;
    const std::uint64_t products = weights.elements() / weights[weights.rank() - 1];
    if (products > most_products) {
        throw ModelError(
            fmt::format("a sum has {} products; of wide sums, it has at most {}", products, most_products));
    }
    if (has_real_multiplier(node.node())) return;
    for (const FixedPoint& multiplier : multipliers_of(node)) {
        if (multiplier.shift <= largest_shift) continue;
        throw ModelError(
            fmt::format("its scales ask for a multiplier of 2^{} or more; with wide sums it must be "
                        "below 2^{}",
                        multiplier.shift - 1, largest_shift));
    }
}

/// The kind of multiplier with which a node scales its sums.
enum class MultiplierKind { FixedPoint, Float32, Float64 };

MultiplierKind multiplier_kind(const ir::Node& node) {
    if (has_real_multiplier(node)) return MultiplierKind::Float64;
    return rounding_of(node) == Rounding::FloatHalfEven ? MultiplierKind::Float32
                                                        : MultiplierKind::FixedPoint;
}

/// Throws ModelError if a multiplier that follows from the scales is out of range.
void check_multipliers(const ir::NodeView& node) {
    switch (multiplier_kind(node.node())) {
        case MultiplierKind::FixedPoint:
            multipliers_of(node);
            return;
        case MultiplierKind::Float32:
            float_multipliers_of(node);
            return;
        case MultiplierKind::Float64:
            real_multipliers_of(node);
            return;
    }
    throw std::logic_error("a node scales its sums by no kind of multiplier");
}

}  // namespace

std::vector<double> real_multipliers_of(const ir::NodeView& node) {
    const double input_scale = largest_input_scale(node);
    const double scale = encoding_of(node.output()).scale;
    std::vector<double> multipliers;
    for (std::size_t c = 0; c < node.output_map().channels; ++c) {
        multipliers.push_back(input_scale * weight_scale(node, c) / scale);
        if (std::isfinite(multipliers.back())) continue;
        throw ModelError(fmt::format("its scales {}, {} and {} ask for the multiplier {}; it must be finite",
                                     input_scale, weight_scale(node, c), scale, multipliers.back()));
    }
    return multipliers;
}

std::vector<float> float_multipliers_of(const ir::NodeView& node) {
    std::vector<float> multipliers;
    for (const double multiplier : real_multipliers_of(node)) {
        multipliers.push_back(float_multiplier_of(multiplier));
    }
    return multipliers;
}

std::vector<FixedPoint> multipliers_of(const ir::NodeView& node) {
    const double input_scale = largest_input_scale(node);
    const double scale = encoding_of(node.output()).scale;
    const bool has_one_scale = node.constant(0)->quantization->scales.size() == 1;
    std::vector<FixedPoint> multipliers;
    for (std::size_t c = 0; c < node.output_map().channels; ++c) {
        const double of_weights = weight_scale(node, c);
        if (rounding_of(node.node()) == Rounding::HalfToEven) {
            multipliers.push_back(fixed_point_of(scale_quotient(input_scale, of_weights, scale)));
            continue;
        }
        double product = input_scale * of_weights;
        // As in TFLite, whose scales are float32, for uint8 and for dense layers with one scale.
        if (has_one_scale && (node.input().type == DataType::Uint8 || node.node().is("dense"))) {
            product = static_cast<float>(input_scale) * static_cast<float>(of_weights);
        }
        multipliers.push_back(fixed_point_of(product / scale));
    }
    return multipliers;
}

std::vector<std::int32_t> bias_of(const ir::NodeView& node) {
    std::vector<std::int32_t> bias(node.output_map().channels, 0);
    if (node.constant(1) != nullptr)
        std::ranges::copy(node.constant(1)->constant->values<std::int32_t>(), bias.begin());
    return bias;
}

void WeightedOperator::check_types(const ir::NodeView& node) const {
    check_clamp(node);
    if (!works_on_integers(node)) return;
    if (const auto role = node.computed_parameter()) {
        throw ModelError(
            fmt::format("another layer computes its {}; on integers, parameters must be constants", *role));
    }
    if (has_sum_tile(node.node())) {
        throw ModelError(fmt::format("it works on integers, and `{}` is of sums in float32",
                                     node.node().is("depthwise_convolution") ? "in_order" : "sum_tile"));
    }
    require_integers(node);
    for (std::size_t i = 0, count = node.data_inputs(); i < count; ++i) {
        if (node.input(i).type == node.input().type) continue;
        throw ModelError(fmt::format("it has inputs of {} and {}; all must be of one type",
                                     name_of(node.input().type), name_of(node.input(i).type)));
    }
    const ir::Value& weights = *node.constant(0);
    if (weights.type != DataType::Int8 || !weights.quantization) {
        throw ModelError(fmt::format(
            "its weights are {}, which is not supported; on integers they must be int8, with scales",
            name_of(weights.type)));
    }
    const ir::Quantization& scales = *weights.quantization;
    const auto is_zero = [](std::int32_t zero_point) { return zero_point == 0; };
    if (scales.axis &&
        (*scales.axis != weights.shape.rank() - 1 || !std::ranges::all_of(scales.zero_points, is_zero))) {
        throw ModelError(
            "its weights must have one scale and zero point, or a scale for each output channel and zero "
            "points of 0");
    }
    if (node.constant(1) != nullptr && node.constant(1)->type != DataType::Int32) {
        throw ModelError(
            fmt::format("its bias is {}; on integers it must be int32", name_of(node.constant(1)->type)));
    }
    if (has_wide_sums(node.node())) check_wide_sums(node);
    check_rounding(node);
    if (has_real_multiplier(node.node()) && rounding_of(node.node()) == Rounding::FloatHalfEven) {
        throw ModelError(
            "it has a `real_multiplier` and its rounding is float_half_even; it must have one of them");
    }
    if (node.graph().has_weights) check_multipliers(node);
}

void WeightedOperator::evaluate(const FloatCall& call) const {
    const ir::NodeView& node = call.node;
    const std::size_t data = node.data_inputs();
    bool is_alike = true;  // data has elements for each inference, and all share the parameters
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const ir::Value& value = node.input(i);
        is_alike &= i < data ? !value.constant : !value.has_batch();
        if (value.constant) static_cast<void>(known_floats(value));
    }
    if (is_alike) return evaluate_products(call);
    std::vector<const float*> inputs(call.inputs.begin(), call.inputs.end());
    float* output = call.output;
    for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
        evaluate_products({.node = node, .inputs = inputs, .batch = 1, .output = output});
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (!node.input(i).constant) inputs[i] += node.input(i).shape.elements();
        }
        output += node.output().shape.elements();
    }
}

Placement WeightedOperator::placement() const {
    return {
        .where =
            "matrix unit; the activation unit scales the sums, with a following `lookup`; host, if its "
            "rounding is float_half_even",
        .formats =
            "float32; uint8, int8 or int16, with int8 weights and an int32 bias; a zero point of the weights "
            "takes the array's row sums, or, without them, weights of 16 bits at half the rate"};
}

void WeightedOperator::quantize(const ir::Node& node, Quantizer& quantizer) const {
    const ir::NodeView view = quantizer.view(node);
    ir::Node added = node;
    added.inputs.clear();
    std::vector<WeightedInput> inputs;
    for (std::size_t i = 0, count = view.data_inputs(); i < count; ++i) {
        added.inputs.push_back(quantizer.stored(node.inputs[i]));
        inputs.push_back({quantizer.stored_encoding(node.inputs[i]), met_elements(view, i)});
        if (inputs.back().encoding.type != inputs.front().encoding.type) {
            quantizer.fail(node.output(), "it has inputs of 8 and of 16 bits; all must have as many");
        }
    }
    const ir::Node* const function = quantizer.function_after(node.output());
    const auto limit = function == nullptr ? std::nullopt : operator_of(*function).clamp_limit(*function);
    const ir::ValueId result = limit ? function->output() : node.output();
    // The results index the table of a function after it, so they have the width of its result.
    const DataType type = quantizer.type(function == nullptr ? node.output() : function->output());
    const ir::Encoding wanted = quantizer.encoding(result, type);
    Quantizer::Parameters parameters{
        .of = {node.inputs.begin() + static_cast<std::ptrdiff_t>(inputs.size()), node.inputs.end()},
        .encodings = {}};
    for (const WeightedInput& input : inputs) parameters.encodings.push_back(input.encoding);
    parameters.encodings.push_back(wanted);
    if (const auto* const known = quantizer.known_parameters(node, parameters)) {
        parameters = *known;
    } else {
        QuantizedWeights quantized = quantized_weights(node, inputs, wanted, quantizer);
        parameters.result = quantized.output;
        add_constants(view, std::move(quantized), quantizer, parameters.made);
        quantizer.keep_parameters(node, parameters);
    }
    added.inputs.insert(added.inputs.end(), parameters.made.begin(), parameters.made.end());
    const ir::Encoding encoding = parameters.result;
    if (limit) {
        added.set("clamp", std::vector<std::int64_t>{encoding.zero_point, encoding.stored(double{*limit})});
    }
    added.outputs = {quantizer.add_value(result, encoding)};
    quantizer.store(result, added.output());
    quantizer.store(node.output(), added.output());
    quantizer.add_node(std::move(added));
}

void WeightedOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    if (has_sum_tile(node)) return builder.copy(node);
    const ir::ValueId product = words_product(node, builder);
    const std::size_t bias = builder.view(node).data_inputs() + 1;
    if (bias >= node.inputs.size()) return builder.set(node.output(), product);
    builder.set(node.output(), builder.chain({product, builder.input_of(node, bias)},
                                             [](std::span<const Word> in) { return in[0] + in[1]; }));
}

std::vector<ir::NamedAttribute> order_attributes(const WordsBuilder& builder) {
    return {{"sum_tile", std::int64_t{builder.options().sum_tile}},
            {"precision", builder.options().precision}};
}

ir::ValueId append_words_product(WordsBuilder& builder, std::string_view op,
                                 std::vector<ir::NamedAttribute> attributes, ir::ValueId data,
                                 ir::ValueId weights) {
    const bool is_plain = !builder.value(data).constant && builder.value(weights).constant;
    const auto stated = is_plain ? std::nullopt : std::optional<std::uint32_t>(1);
    return builder.append(op, std::move(attributes), {data, weights}, stated);
}

SumRounding::SumRounding(const ir::NodeView& node)
    : bias_(bias_of(node)),
      has_wide_sums_(has_wide_sums(node.node())),
      rounding_(rounding_of(node.node())),
      zero_point_(encoding_of(node.output()).zero_point),
      minimum_(clamp_of(node).minimum),
      maximum_(clamp_of(node).maximum) {
    switch (multiplier_kind(node.node())) {
        case MultiplierKind::FixedPoint:
            multipliers_ = multipliers_of(node);
            return;
        case MultiplierKind::Float32:
            float_multipliers_ = float_multipliers_of(node);
            return;
        case MultiplierKind::Float64:
            real_multipliers_ = real_multipliers_of(node);
            return;
    }
    throw std::logic_error("a node scales its sums by no kind of multiplier");
}

void SumRounding::begin(std::vector<std::int32_t>& sums) const {
    sums = bias_;
}

std::int32_t SumRounding::stored(std::int64_t sum, std::size_t channel) const {
    return offset_and_clamp(scaled(sum, channel), zero_point_, minimum_, maximum_);
}

std::int32_t SumRounding::scaled(std::int64_t sum, std::size_t channel) const {
    const bool is_even = rounding_ == Rounding::HalfToEven;
    if (!real_multipliers_.empty()) {
        const double multiplier = real_multipliers_[channel];
        return is_even ? scale_real_to_even(sum, multiplier) : scale_real(sum, multiplier);
    }
    if (!float_multipliers_.empty()) return scale_float_to_even(wrap(sum), float_multipliers_[channel]);
    const FixedPoint& multiplier = multipliers_[channel];
    if (is_even) return scale_to_even(wrap(sum), multiplier.multiplier, multiplier.shift);
    return has_wide_sums_ ? scale_wide(sum, multiplier.multiplier, multiplier.shift)
                          : scale(wrap(sum), multiplier.multiplier, multiplier.shift);
}

void SumRounding::store(const std::vector<std::int32_t>& sums, std::int32_t* output) const {
    for (std::size_t c = 0; c < sums.size(); ++c) output[c] = stored(sums[c], c);
}

void SumRounding::store_wide(const std::vector<std::int32_t>& upper, const std::vector<std::int32_t>& lower,
                             std::int32_t* output) const {
    constexpr std::int64_t upper_place = 256;
    for (std::size_t c = 0; c < upper.size(); ++c) {
        output[c] = stored(upper[c] * upper_place + lower[c] + bias_[c], c);
    }
}

ir::AttributeDeclaration wide_sums_attribute() {
    return {.name = "wide_sums",
            .meaning =
                "1: of int16, sums have 64 bits and, without `real_multiplier`, are scaled by 16 bits, "
                "rounded once, as in TFLite",
            .absent = std::int64_t{0},
            .minimum = 0,
            .maximum = 1};
}

ir::AttributeDeclaration real_multiplier_attribute() {
    return {.name = "real_multiplier",
            .meaning =
                "1: sums are multiplied in float64 and rounded once, halves away from zero, as in "
                "TFLite's fully connected operator since 2.20; with the rounding half_to_even, the products "
                "become float32, and halves the even number; not with float_half_even; 0: the multiplier of "
                "`rounding`",
            .absent = std::int64_t{0},
            .minimum = 0,
            .maximum = 1};
}

ir::AttributeDeclaration sum_tile_attribute() {
    return {
        .name = "sum_tile",
        .meaning =
            "of float32: the products of a sum, in the order of the weights, are cut after every so many; "
            "each part begins with 0 and adds one product after the other, rounded once (fma) and settled, "
            "and the parts are added in order, then the bias; 0: any order",
        .absent = std::int64_t{0},
        .minimum = 0,
        .maximum = std::numeric_limits<std::uint32_t>::max()};
}

ir::AttributeDeclaration precision_attribute() {
    std::vector<std::string> choices{whole_operands};
    choices.insert(choices.end(), math::precision_names.begin(), math::precision_names.end());
    return {.name = "precision",
            .meaning =
                "of sums with a `sum_tile`: what is multiplied of the operands. float32: all; default: the "
                "nearest bfloat16; high and highest: that and the one or two bfloat16 nearest to what it "
                "leaves over, in 3 or 6 passes for each part of a sum (docs/isa.md, \"Sums in order\")",
            .absent = std::string(whole_operands),
            .choices = std::move(choices)};
}

SumOrder sum_order(const ir::Node& node) {
    SumOrder order{.tile = sum_tile(node)};
    const std::string& precision = node.text("precision");
    const auto* const found = std::ranges::find(math::precision_names, precision);
    if (found == math::precision_names.end()) return order;
    order.precision = static_cast<math::Precision>(found - math::precision_names.begin());
    return order;
}

std::size_t sum_tile(const ir::Node& node) {
    return static_cast<std::size_t>(node.integer("sum_tile"));
}

bool has_sum_tile(const ir::Node& node) {
    if (node.is("depthwise_convolution")) return node.integer("in_order") != 0;
    return (node.is("dense") || node.is("convolution")) && sum_tile(node) != 0;
}

bool has_wide_sums(const ir::Node& node) {
    return node.integer("wide_sums") != 0;
}

bool has_real_multiplier(const ir::Node& node) {
    return node.integer("real_multiplier") != 0;
}

SplitNumbers split(std::span<const std::int32_t> numbers) {
    SplitNumbers parts;
    for (const std::int32_t number : numbers) {
        parts.upper.push_back(number >> 8);  // rounds down
        parts.lower.push_back(number & 0xff);
    }
    return parts;
}

std::int32_t weight_zero_point(const ir::NodeView& node) {
    return node.constant(0)->quantization->zero_points.front();
}

void multiply_add(std::int32_t value, const std::int8_t* weights, std::vector<std::int32_t>& sums) {
    if (value == 0) return;
    const std::size_t count = sums.size();
    std::int32_t* sum = sums.data();
    for (std::size_t i = 0; i < count; ++i)
        sum[i] = wrap(std::int64_t{sum[i]} + std::int64_t{value} * weights[i]);
}

std::span<const std::int8_t> known_weights(const ir::NodeView& node) {
    const ir::Constant& weights = *node.constant(0)->constant;
    if (!weights.is_known()) throw std::logic_error("weights without values cannot be computed with");
    return weights.values<std::int8_t>();
}

void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        std::fill_n(c, m * n, 0.0F);
        return;
    }
    const auto dimension = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const math::SingleThreaded single_threaded;
    const dnnl_status_t status = dnnl_sgemm('N', 'N', dimension(m), dimension(n), dimension(k), 1.0F, a,
                                            dimension(k), b, dimension(n), 0.0F, c, dimension(n));
    if (status != dnnl_success) {
        throw std::logic_error(fmt::format("operators::multiply: m {}, n {}, k {}: oneDNN status {}", m, n, k,
                                           static_cast<int>(status)));
    }
}

OrderedWeights::OrderedWeights(const float* weights, std::size_t k, std::size_t n, const SumOrder& order)
    : weights_(weights), k_(k), n_(n) {
    if (order.tile != 0) runs_.emplace(math::FloatMatrix{weights, n}, k, n, order.tile, order.precision);
}

void OrderedWeights::multiply(const float* a, float* c, std::size_t m) const {
    if (!runs_) return operators::multiply(a, weights_, c, m, n_, k_);
    runs_->multiply({a, k_}, m, c, n_);
}

void add_bias(float* c, const float* bias, std::size_t m, std::size_t n) {
    if (bias == nullptr) return;
    for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t column = 0; column < n; ++column) c[row * n + column] += bias[column];
    }
}

void add_settled_bias(float* c, const float* bias, std::size_t m, std::size_t n) {
    if (bias == nullptr) return;
    add_bias(c, bias, m, n);
    for (std::size_t i = 0; i < m * n; ++i) c[i] = math::settled(c[i]);
}

}  // namespace systole::operators
