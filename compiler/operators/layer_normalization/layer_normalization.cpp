// The elements along the last axes with mean 0 and variance 1, times a scale plus an offset.
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/normalization.h"

namespace systole::operators {
namespace {

constexpr const char* layer_normalization = "layer_normalization";

/// 1 divided by the deviation of the elements along the axes from `first` on.
ir::ValueId append_reciprocal_deviation(ir::LayerReader& layer, ir::ValueId input, ir::ValueId mean,
                                        std::size_t first, double epsilon) {
    const ir::ValueId squares = layer.append("squared_difference", {}, {input, mean});
    return append_reciprocal_root(layer, squares, first, epsilon);
}

ir::Results read_onnx_layer_normalization(ir::LayerReader& layer) {
    require_float_statistics(layer);
    const std::size_t first = onnx_first_axis(layer);
    const double epsilon = onnx_epsilon(layer);
    const ir::ValueId input = input_of(layer, 0);
    std::vector<ir::ValueId> inputs{input, input_of(layer, 1)};
    if (const auto offset = layer.input_if_any(2)) inputs.push_back(*offset);
    ir::Results results = append_last_axes_node(layer, layer_normalization, first, epsilon, inputs);
    if (layer.result_count() > 1) {
        const ir::ValueId mean = append_mean(layer, input, first);
        results.push_back(mean);
        results.push_back(append_reciprocal_deviation(layer, input, mean, first, epsilon));
    }
    return results;
}

ir::Results read_skip_layer_normalization(ir::LayerReader& layer) {
    constexpr std::size_t bias = 4;
    const ir::ValueId scale = input_of(layer, 2);
    const ir::ValueId sum = append_skip_sum(layer, bias);
    std::vector<ir::ValueId> inputs{sum, scale};
    if (const auto offset = layer.input_if_any(3)) inputs.push_back(*offset);
    const std::size_t last = axis_in(layer, -1, layer.value(sum).shape.rank());
    const ir::ValueId result =
        append_last_axes_node(layer, layer_normalization, last, skip_epsilon(layer), inputs);
    return skip_results(layer, result, sum);
}

ir::Results read_keras_layer_normalization(ir::LayerReader& layer) {
    constexpr float default_epsilon_of_keras = 1e-3F;
    const ir::ValueId input = layer.input();
    const std::size_t first = keras_first_axis(layer);
    const ir::Shape shape = shape_from_axis(layer.value(input).shape, first);
    const double epsilon{layer.number("epsilon", default_epsilon_of_keras)};
    if (layer.boolean("rms_scaling", false)) {
        // Keras divides by the deviation from the mean, and does not subtract the mean.
        const ir::ValueId mean = append_mean(layer, input, first);
        const ir::ValueId factor = append_reciprocal_deviation(layer, input, mean, first, epsilon);
        const ir::ValueId divided = layer.append("multiply", {}, {input, factor});
        return layer.append("multiply", {}, {divided, keras_weight(layer, "gamma", shape)});
    }
    const bool has_offset = layer.boolean("center", true);
    std::vector<ir::ValueId> inputs{input};
    if (has_offset || layer.boolean("scale", true)) {
        inputs.push_back(keras_weight_or(layer, "scale", "gamma", shape, 1.0F));
    }
    if (has_offset) inputs.push_back(keras_weight(layer, "beta", shape));
    return append_last_axes_node(layer, layer_normalization, first, epsilon, inputs);
}

class LayerNormalization final : public LastAxesNormalization {
public:
    LayerNormalization()
        : LastAxesNormalization({.name = layer_normalization,
                                 .summary = "The elements along the last axes with mean 0 and variance 1, "
                                            "times a scale plus an offset. Inputs: the tensor; scale and "
                                            "offset, if there are any, which are repeated to its shape.",
                                 .subtracts_mean = true,
                                 .most_inputs = 3}) {}

    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "LayerNormalization",
                 .keys = onnx_last_axes_keys(),
                 .build = read_onnx_layer_normalization},
                {.format = ir::Format::Onnx,
                 .name = "com.microsoft.SkipLayerNormalization",
                 .keys = {{"epsilon", "`epsilon`"}},
                 .build = read_skip_layer_normalization},
                {.format = ir::Format::Keras,
                 .name = "LayerNormalization",
                 .keys = {{"axis", "an axis or a list: the last ones"},
                          {"epsilon", "`epsilon`"},
                          {"scale", "whether there is a gamma"},
                          {"center", "whether there is a beta"},
                          {"rms_scaling", "the input divided by its deviation, times gamma"}},
                 .build = read_keras_layer_normalization}};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_layer_normalization() {
    return std::make_unique<LayerNormalization>();
}

}  // namespace systole::operators
