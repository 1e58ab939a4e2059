// A matrix product with the whole input, flattened in height, width, channel order; several inputs are
// concatenated.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/weighted.h"

namespace systole::operators {
namespace {

std::vector<ir::ValueId> with_matrix(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs,
                                     const ir::Shape& weights, std::uint32_t elements, std::uint32_t units,
                                     const char* bias_key) {
    return with_weights(layer, inputs,
                        {.kernel = {.roles = {"kernel"},
                                    .file_shape = {elements, units},
                                    .shape = weights,
                                    .limit = drawn_limit(layer, elements),
                                    .is_counted = true},
                         .channels = units,
                         .bias_key = bias_key});
}

/// A dense layer of Keras works on the last axis only: on an image it is a 1x1 convolution.
ir::ValueId read_keras_dense(ir::LayerReader& layer) {
    const ir::FeatureMap input = layer.input_map();
    const std::uint32_t units = layer.positive("units");
    const ir::Shape weights =
        input.is_vector() ? ir::Shape{input.channels, units} : ir::Shape{1, 1, input.channels, units};
    return layer.append_function("activation", layer.append(input.is_vector() ? "dense" : "convolution", {},
                                                            with_matrix(layer, {layer.input()}, weights,
                                                                        input.channels, units, "use_bias")));
}

ir::ValueId read_json_dense(ir::LayerReader& layer) {
    std::uint64_t elements = 0;
    for (const ir::ValueId input : layer.inputs()) elements += layer.map_of(input).elements();
    if (elements > ir::maximum_elements) {
        layer.fail(fmt::format("its inputs have {} elements together; there may be at most {}", elements,
                               ir::maximum_elements));
    }
    const auto rows = static_cast<std::uint32_t>(elements);
    const std::uint32_t units = layer.positive("units");
    return layer.append_function(
        "activation",
        layer.append("dense", {}, with_matrix(layer, layer.inputs(), {rows, units}, rows, units, "bias")));
}

class Dense final : public WeightedOperator {
public:
    std::string_view name() const override { return "dense"; }
    std::string_view summary() const override {
        return "A matrix product with the whole input, flattened; several inputs are concatenated. Weights: "
               "[input element][unit]; optional bias: [unit].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{clamp_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Dense",
                 .keys = {{"units", "the weights' last extent; over an image, the layer is a `convolution`"},
                          {"use_bias", "whether there is a bias"},
                          {"activation", "a function of the result"}},
                 .build = read_keras_dense},
                {.format = ir::Format::GraphJson,
                 .name = "dense",
                 .keys = {{"units", "the weights' last extent"},
                          {"bias", "whether there is a bias"},
                          {"activation", "a function of the result"}},
                 .build = read_json_dense}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t inputs = node.data_inputs();
        if (inputs == 0) throw ModelError("it has no input; it must have at least 1");
        const ir::Value* const weights = node.constant(0);
        if (weights == nullptr || weights->shape.rank() != 2) {
            throw ModelError("it must have weights of 2 extents");
        }
        std::uint64_t elements = 0;
        std::string shapes;
        for (std::size_t i = 0; i < inputs; ++i) {
            elements += node.input(i).shape.elements();
            shapes += fmt::format("{}{}", shapes.empty() ? "" : " and ", map_text(node.input(i).shape));
        }
        if (elements != weights->shape[0]) {
            throw ModelError(fmt::format("its input is {} = {} elements; its weights are for {}", shapes,
                                         elements, weights->shape[0]));
        }
        check_bias(node, weights->shape[1]);
        return {ir::vector_shape(weights->shape[1])};
    }
    std::uint64_t macs(const ir::NodeView& node) const override { return weight_count(node); }
    bool reads_elements() const override { return true; }

    void evaluate(const FloatCall& call) const override {
        const std::span<const float> weights = known_floats(*call.node.constant(0));
        const std::size_t inputs = call.node.data_inputs();
        const float* const bias = call.node.constant(1) == nullptr ? nullptr : call.inputs[inputs + 1];
        const std::size_t units = call.node.output_map().channels;
        std::size_t first = call.node.input(0).shape.elements();
        multiply(call.inputs[0], weights.data(), call.output, call.batch, units, first);
        std::vector<float> products(inputs > 1 ? call.batch * units : 0);
        for (std::size_t i = 1; i < inputs; ++i) {
            const std::size_t elements = call.node.input(i).shape.elements();
            multiply(call.inputs[i], weights.data() + first * units, products.data(), call.batch, units,
                     elements);
            std::transform(products.begin(), products.end(), call.output, call.output, std::plus<>());
            first += elements;
        }
        add_bias(call.output, bias, call.batch, units);
    }

    void execute(const IntegerCall& call) const override {
        const std::span<const std::int8_t> weights = known_weights(call.node);
        const SumRounding rounding(call.node);
        const std::size_t units = call.node.output_map().channels;
        std::vector<std::int32_t> sums;
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            rounding.begin(sums);
            const std::int8_t* weight = weights.data();
            for (std::size_t i = 0; i < call.inputs.size(); ++i) {
                const std::int32_t zero_point = encoding_of(call.node.input(i)).zero_point;
                const std::size_t elements = call.node.input(i).shape.elements();
                const std::int32_t* const values = call.inputs[i] + image * elements;
                for (std::size_t element = 0; element < elements; ++element, weight += units) {
                    multiply_add(values[element] - zero_point, weight, sums);
                }
            }
            rounding.store(sums, call.output + image * units);
        }
    }

    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        lower_product(node, std::nullopt, std::nullopt, lowering);
    }

protected:
    std::uint64_t met_elements(const ir::NodeView& node, std::size_t input) const override {
        return node.input(input).shape.elements();
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_dense() {
    return std::make_unique<Dense>();
}

}  // namespace systole::operators
