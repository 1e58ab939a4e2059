// The sum of the elements along some axes. Norms and logarithms of sums become it and functions around it.
#include <algorithm>
#include <cmath>

#include "compiler/ir/encoding.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/scaled_sum.h"

namespace systole::operators {
namespace {

/// A reduction of ONNX that is a sum after `before` and before `after`; null: no function.
ir::LayerKind onnx_sum_of(const char* name, const char* before, const char* after) {
    return {.format = ir::Format::Onnx,
            .name = name,
            .keys = {{"axes", "`axes`, if they are no input"},
                     {"keepdims", "`keep`"},
                     {"noop_with_empty_axes", "1: without axes, nothing is summed"}},
            .build = [before, after](ir::LayerReader& layer) {
                bool is_nothing = false;
                std::vector<ir::NamedAttribute> attributes = read_onnx_reduction(layer, is_nothing);
                ir::ValueId value = input_of(layer, 0);
                if (before != nullptr) value = layer.append(before, {}, {value});
                if (!is_nothing) value = layer.append("reduce_sum", std::move(attributes), {value});
                return after == nullptr ? value : layer.append(after, {}, {value});
            }};
}

/// log(sum(exp(x))), with the largest x taken out, so that no exponential overflows.
ir::ValueId read_log_sum_exp(ir::LayerReader& layer) {
    bool is_nothing = false;
    std::vector<ir::NamedAttribute> attributes = read_onnx_reduction(layer, is_nothing);
    const ir::ValueId input = input_of(layer, 0);
    if (is_nothing) return input;
    std::vector<ir::NamedAttribute> keeping = attributes;
    keeping[1].second = std::int64_t{1};
    const ir::ValueId largest = layer.append("reduce_max", keeping, {input});
    const ir::ValueId powers = layer.append("exp", {}, {layer.append("subtract", {}, {input, largest})});
    const ir::ValueId sum = layer.append("log", {}, {layer.append("reduce_sum", keeping, {powers})});
    const ir::ValueId result = layer.append("add", {}, {sum, largest});
    // Only one element is left along each axis.
    return layer.append("reduce_sum", attributes, {result});
}

class ReduceSum final : public ScaledSum {
public:
    ReduceSum()
        : ScaledSum({.name = "reduce_sum",
                     .summary = "The sum of the elements along some axes.",
                     .combine_floats = sum_floats,
                     .combine_integers = sum_integers,
                     .onnx_name = "ReduceSum",
                     .tflite_name = "SUM"},
                    false) {}

    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKind> kinds = ScaledSum::layer_kinds();
        kinds.push_back(onnx_sum_of("ReduceL1", "abs", nullptr));
        kinds.push_back(onnx_sum_of("ReduceL2", "square", "sqrt"));
        kinds.push_back(onnx_sum_of("ReduceSumSquare", "square", nullptr));
        kinds.push_back(onnx_sum_of("ReduceLogSum", nullptr, "log"));
        kinds.push_back({.format = ir::Format::Onnx,
                         .name = "ReduceLogSumExp",
                         .keys = {{"axes", "`axes`, if they are no input"},
                                  {"keepdims", "`keep`"},
                                  {"noop_with_empty_axes", "1: without axes, nothing is summed"}},
                         .build = read_log_sum_exp});
        return kinds;
    }

protected:
    /// TFLite's reference kernel reads int8 as uint8, so int8 has the rule of the optimized kernel, in float.
    std::int32_t finish_quantized(const ir::NodeView& node, std::int32_t sum) const override {
        const ir::Encoding input = encoding_of(node.input());
        const ir::Encoding result = encoding_of(node.output());
        if (result.type != DataType::Int8) return ScaledSum::finish_quantized(node, sum);
        const auto count = static_cast<std::int64_t>(reduced_elements(node));
        const std::int64_t stored = sum + count * input.zero_point;
        const BiasedSum scaled = biased_sum(node);
        const float product = static_cast<float>(stored) * scaled.factor;
        const double real = std::round(product + scaled.bias) + static_cast<double>(result.zero_point);
        return static_cast<std::int32_t>(
            std::clamp<double>(real, lowest_of(result.type), highest_of(result.type)));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_reduce_sum() {
    return std::make_unique<ReduceSum>();
}

}  // namespace systole::operators
