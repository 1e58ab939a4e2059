// A dense layer of low rank over time, called once: its state is 0 before, so only the newest column of the
// weights over time counts.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

constexpr const char* state_key = "state_scale";

/// The inputs of the node in a file: x, the weights of the features [filter][input], those over time
/// [filter][call], the bias and the state.
struct FileInputs {
    ir::Value features;
    ir::Value times;
    std::optional<ir::Value> bias;
    std::uint32_t rank = 1;  ///< filters of a unit

    std::uint32_t filters() const { return features.shape[0]; }
    std::uint32_t depth() const { return features.shape[1]; }
    std::uint32_t calls() const { return times.shape[1]; }
    std::uint32_t units() const { return filters() / rank; }
};

const ir::Value& known_input(const ir::LayerReader& layer, std::size_t index) {
    const ir::Value& value = layer.value(input_of(layer, index));
    if (!value.constant || !value.constant->is_known()) {
        layer.fail(fmt::format("its input {} is computed by the network; it must be a constant", index));
    }
    return value;
}

FileInputs read_inputs(const ir::LayerReader& layer) {
    constexpr std::size_t bias = 3;
    FileInputs inputs{
        .features = known_input(layer, 1),
        .times = known_input(layer, 2),
        .bias = layer.input_if_any(bias) ? std::optional(known_input(layer, bias)) : std::nullopt,
        .rank = layer.positive("rank")};
    const ir::Shape& x = shape_of(layer);
    const bool fits = inputs.features.shape.rank() == 2 && inputs.times.shape.rank() == 2 && x.rank() == 2 &&
                      inputs.times.shape[0] == inputs.filters() && x[1] == inputs.depth() &&
                      inputs.filters() % inputs.rank == 0 &&
                      (!inputs.bias || inputs.bias->shape.elements() == inputs.units());
    if (!fits) {
        layer.fail(
            fmt::format("its input is {}, its weights are {} and {}, its rank is {}{}; they do not fit",
                        to_text(x), to_text(inputs.features.shape), to_text(inputs.times.shape), inputs.rank,
                        inputs.bias ? " and its bias " + to_text(inputs.bias->shape) : ""));
    }
    return inputs;
}

/// The newest column of the weights over time.
template <typename Number>
std::vector<Number> newest(const FileInputs& inputs) {
    const auto all = inputs.times.constant->values<Number>();
    std::vector<Number> column;
    for (std::size_t filter = 0; filter < inputs.filters(); ++filter) {
        column.push_back(all[(filter + 1) * inputs.calls() - 1]);
    }
    return column;
}

/// In float, both products are one: a dense layer whose weights are the sums over the filters of a unit.
ir::ValueId read_float(ir::LayerReader& layer, const FileInputs& inputs) {
    const auto features = inputs.features.constant->values<float>();
    const std::vector<float> times = newest<float>(inputs);
    const std::uint32_t units = inputs.units();
    std::vector<float> weights(std::size_t{inputs.depth()} * units, 0.0F);
    for (std::size_t filter = 0; filter < inputs.filters(); ++filter) {
        for (std::size_t i = 0; i < inputs.depth(); ++i) {
            weights[i * units + filter / inputs.rank] +=
                features[filter * inputs.depth() + i] * times[filter];
        }
    }
    std::vector<ir::ValueId> node{input_of(layer, 0),
                                  layer.constant("weights", {inputs.depth(), units}, std::move(weights))};
    if (inputs.bias) {
        const auto bias = inputs.bias->constant->values<float>();
        node.push_back(layer.constant("bias", {units}, {bias.begin(), bias.end()}));
    }
    return append_fused_function(layer, layer.append("dense", {}, std::move(node)));
}

ir::Results read_svdf(ir::LayerReader& layer) {
    const FileInputs inputs = read_inputs(layer);
    const ir::ResultType result = layer.declared_result(0);
    if (result.type == DataType::Float32) {
        if (inputs.features.type != DataType::Float32 || inputs.times.type != DataType::Float32) {
            layer.fail("its weights must be float32, or integers with one scale");
        }
        return read_float(layer, inputs);
    }
    if (layer.value(input_of(layer, 0)).type != DataType::Int8 || inputs.features.type != DataType::Int8 ||
        inputs.times.type != DataType::Int16 || result.type != DataType::Int8) {
        layer.fail(
            fmt::format("it is of {}, with weights of {} and {}; it must be of int8, with int8 and int16",
                        name_of(result.type), name_of(inputs.features.type), name_of(inputs.times.type)));
    }
    const double state_scale = layer.numbers(state_key).value_or(std::vector<double>{0.0}).front();
    if (!(state_scale > 0.0)) layer.fail("its state has no scale; it must have one");
    // The runtime computes no function of integers.
    ir::ValueId times = layer.add_constant("times", {inputs.filters()}, DataType::Int16,
                                           ir::Constant::of(newest<std::int16_t>(inputs)));
    if (!inputs.times.quantization || inputs.times.quantization->axis) {
        layer.fail("its weights over time must have one scale");
    }
    times = layer.as_quantized(times, *inputs.times.quantization);
    std::vector<ir::ValueId> node{input_of(layer, 0), input_of(layer, 1), times};
    constexpr std::size_t bias = 3;
    if (inputs.bias) node.push_back(input_of(layer, bias));
    return append_declared(layer, "svdf", {{"rank", std::int64_t{inputs.rank}}, {state_key, state_scale}},
                           std::move(node));
}

class Svdf final : public Operator {
public:
    std::string_view name() const override { return "svdf"; }
    std::string_view summary() const override {
        return "A dense layer of low rank over time (SVDF), called once, with a state of 0 before it, in "
               "TFLite's fixed-point arithmetic. Inputs: int8; weights of the features, int8 "
               "[filter][input]; "
               "weights of the newest call, int16 [filter]; optional bias, int32 [unit]. On float32 it "
               "becomes "
               "a `dense`.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "rank",
             .meaning = "the filters of a unit",
             .absent = std::int64_t{1},
             .minimum = 1,
             .maximum = std::numeric_limits<std::int32_t>::max()},
            {.name = state_key,
             .meaning = "the scale of the state between both products, of 16 bits",
             .absent = 1.0}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Tflite,
                 .name = "SVDF",
                 .keys = {{"rank", "`rank`"},
                          {"fused_activation_function", "on float32: a function of the result"},
                          {state_key, "`state_scale`: that of the state, which is 0 before the only call"}},
                 .build = read_svdf}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t count = node.node().inputs.size();
        if (count != 3 && count != 4) throw ModelError("it must have 3 or 4 inputs");
        const ir::Shape& x = node.input(0).shape;
        const ir::Shape& features = node.input(1).shape;
        const auto rank = static_cast<std::uint32_t>(node.node().integer("rank"));
        if (x.rank() != 2 || features.rank() != 2 || x[1] != features[1] || features[0] % rank != 0 ||
            node.input(2).shape != ir::Shape{features[0]} ||
            (count == 4 && node.input(3).shape != ir::Shape{features[0] / rank})) {
            throw ModelError(
                fmt::format("its input is {} and its weights are {}, with a rank of {}; they do not fit",
                            to_text(x), to_text(features), rank));
        }
        return {ir::Shape{x[0], features[0] / rank}};
    }
    Placement placement() const override { return {.where = "host", .formats = "int8"}; }
    std::uint64_t macs(const ir::NodeView& node) const override {
        const ir::Shape& features = node.input(1).shape;
        return node.input(0).shape[0] * (features.elements() + features[0]);
    }
    void check_types(const ir::NodeView& node) const override {
        const auto has = [](const ir::Value& value, DataType type) {
            return value.type == type && value.quantization && !value.quantization->axis;
        };
        if (!has(node.input(0), DataType::Int8) || !has(node.input(1), DataType::Int8) ||
            !has(node.input(2), DataType::Int16) || !has(node.output(), DataType::Int8) ||
            (node.node().inputs.size() == 4 && node.input(3).type != DataType::Int32)) {
            throw ModelError(
                "it must turn int8 into int8, with weights of int8 and int16 and a bias of int32");
        }
        static_cast<void>(factors_of(node));
    }
    void compute(const TensorCall& call) const override {
        const Factors factors = factors_of(call.node);
        const std::int32_t input_zero = encoding_of(call.node.input(0)).zero_point;
        const std::int32_t result_zero = encoding_of(call.node.output()).zero_point;
        const ir::Shape& features = call.node.input(1).shape;
        const auto rank = static_cast<std::size_t>(call.node.node().integer("rank"));
        const std::size_t depth = features[1];
        const std::size_t units = features[0] / rank;
        const auto* const weights = call.input<std::int8_t>(1);
        const auto* const times = call.input<std::int16_t>(2);
        const auto* const bias = call.node.node().inputs.size() == 4 ? call.input<std::int32_t>(3) : nullptr;
        const std::size_t rows = call.input_elements(0) / depth;
        for (std::size_t row = 0; row < rows; ++row) {
            const std::int8_t* const x = call.input<std::int8_t>(0) + row * depth;
            for (std::size_t unit = 0; unit < units; ++unit) {
                std::int32_t sum = bias == nullptr ? 0 : bias[unit];
                for (std::size_t filter = unit * rank; filter < (unit + 1) * rank; ++filter) {
                    std::int32_t product = 0;
                    for (std::size_t i = 0; i < depth; ++i) {
                        product += weights[filter * depth + i] * (x[i] - input_zero);
                    }
                    const std::int32_t state =
                        std::clamp(scale(product, factors.state.multiplier, factors.state.shift),
                                   lowest_of(DataType::Int16), highest_of(DataType::Int16));
                    sum = wrap(std::int64_t{sum} + std::int64_t{state} * times[filter]);
                }
                const std::int32_t scaled = scale(sum, factors.result.multiplier, factors.result.shift);
                call.output<std::int8_t>()[row * units + unit] = static_cast<std::int8_t>(offset_and_clamp(
                    scaled, result_zero, lowest_of(DataType::Int8), highest_of(DataType::Int8)));
            }
        }
    }

private:
    struct Factors {
        FixedPoint state;   ///< from the first product to the state
        FixedPoint result;  ///< from the second product to the result
    };

    static Factors factors_of(const ir::NodeView& node) {
        const double state = node.node().real(state_key);
        return {.state = fixed_point_of(scale_quotient(encoding_of(node.input(0)).scale,
                                                       encoding_of(node.input(1)).scale, state)),
                .result = fixed_point_of(scale_quotient(state, encoding_of(node.input(2)).scale,
                                                        encoding_of(node.output()).scale))};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_svdf() {
    return std::make_unique<Svdf>();
}

}  // namespace systole::operators
