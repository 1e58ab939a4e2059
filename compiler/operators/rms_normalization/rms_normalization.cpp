// The elements along the last axes with mean square 1, times a scale.
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/normalization.h"

namespace systole::operators {
namespace {

constexpr const char* rms_normalization = "rms_normalization";

ir::Results read_onnx_rms_normalization(ir::LayerReader& layer) {
    require_float_statistics(layer);
    return append_last_axes_node(layer, rms_normalization, onnx_first_axis(layer), onnx_epsilon(layer),
                                 {input_of(layer, 0), input_of(layer, 1)});
}

/// ONNX Runtime's operator has a second result: what the input is multiplied with.
ir::Results read_simplified_layer_normalization(ir::LayerReader& layer) {
    ir::Results results = read_onnx_rms_normalization(layer);
    if (layer.result_count() > 1) {
        const ir::ValueId squares = layer.append("square", {}, {input_of(layer, 0)});
        results.push_back(
            append_reciprocal_root(layer, squares, onnx_first_axis(layer), onnx_epsilon(layer)));
    }
    return results;
}

ir::Results read_skip_rms_normalization(ir::LayerReader& layer) {
    constexpr std::size_t bias = 3;
    const ir::ValueId scale = input_of(layer, 2);
    const ir::ValueId sum = append_skip_sum(layer, bias);
    const std::size_t last = axis_in(layer, -1, layer.value(sum).shape.rank());
    const ir::ValueId result =
        append_last_axes_node(layer, rms_normalization, last, skip_epsilon(layer), {sum, scale});
    return skip_results(layer, result, sum);
}

ir::Results read_keras_rms_normalization(ir::LayerReader& layer) {
    constexpr float default_epsilon_of_squares = 1e-6F;
    const ir::ValueId input = layer.input();
    const std::size_t first = keras_first_axis(layer);
    const ir::Shape shape = shape_from_axis(layer.value(input).shape, first);
    const double epsilon{layer.number("epsilon", default_epsilon_of_squares)};
    return append_last_axes_node(layer, rms_normalization, first, epsilon,
                                 {input, keras_weight(layer, "scale", shape)});
}

class RmsNormalization final : public LastAxesNormalization {
public:
    RmsNormalization()
        : LastAxesNormalization({.name = rms_normalization,
                                 .summary = "The elements along the last axes, divided by the square root of "
                                            "their mean square, times a scale. Inputs: the tensor; its "
                                            "scale, if there is one, which is repeated to its shape.",
                                 .subtracts_mean = false,
                                 .most_inputs = 2}) {}

    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "RMSNormalization",
                 .keys = onnx_last_axes_keys(),
                 .build = read_onnx_rms_normalization},
                {.format = ir::Format::Onnx,
                 .name = "SimplifiedLayerNormalization",
                 .keys = onnx_last_axes_keys(),
                 .build = read_simplified_layer_normalization},
                {.format = ir::Format::Onnx,
                 .name = "com.microsoft.SkipSimplifiedLayerNormalization",
                 .keys = {{"epsilon", "`epsilon`"}},
                 .build = read_skip_rms_normalization},
                {.format = ir::Format::Keras,
                 .name = "RMSNormalization",
                 .keys = {{"axis", "an axis or a list: the last ones"}, {"epsilon", "`epsilon`"}},
                 .build = read_keras_rms_normalization}};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_rms_normalization() {
    return std::make_unique<RmsNormalization>();
}

}  // namespace systole::operators
