// A matrix product with the whole input, flattened in height, width, channel order; several inputs are
// concatenated.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/dense/onnx.h"
#include "compiler/operators/dense/recurrence.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/tflite_weights.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/words_builder.h"

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

/// A dense layer of Keras works on the last axis only: on an image it is a 1x1 convolution. The other axes
/// stay, also those of extent 1.
ir::ValueId read_keras_dense(ir::LayerReader& layer) {
    const std::uint32_t units = layer.positive("units");
    const ir::Shape weights = last_axis_weights(layer, layer.input(), units);
    return append_last_axis_product(
        layer, with_matrix(layer, {layer.input()}, weights, layer.input_map().channels, units, "use_bias"),
        "activation");
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
        static const std::vector<ir::AttributeDeclaration> declarations{
            clamp_attribute(),           wide_sums_attribute(), rounding_attribute(),
            real_multiplier_attribute(), sum_tile_attribute(),  precision_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKind> kinds{
            {.format = ir::Format::Keras,
             .name = "Dense",
             .keys = {{"units", "the weights' last extent; over an image, the layer is a `convolution`"},
                      {"use_bias", "whether there is a bias"},
                      {"activation", "a function of the result"},
                      {"dtype",
                       "if Keras has quantized the layer to int8 or int4, the kernel is the real numbers "
                       "that its integers stand for"}},
             .build = read_keras_dense},
            {.format = ir::Format::GraphJson,
             .name = "dense",
             .keys = {{"units", "the weights' last extent"},
                      {"bias", "whether there is a bias"},
                      {"activation", "a function of the result"}},
             .build = read_json_dense},
            tflite_dense(),
            tflite_matrix_product()};
        for (ir::LayerKind& kind : onnx_products()) kinds.push_back(std::move(kind));
        for (ir::LayerKind& kind : onnx_recurrences()) kinds.push_back(std::move(kind));
        for (ir::LayerKind& kind : keras_recurrences()) kinds.push_back(std::move(kind));
        return kinds;
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t inputs = node.data_inputs();
        if (inputs == 0) throw ModelError("it has no input; it must have at least 1");
        const ir::Value* const weights = node.parameter(0);
        if (weights == nullptr || weights->shape.rank() != 2) {
            throw ModelError("it must have weights of 2 extents");
        }
        std::uint64_t elements = 0;
        std::string shapes;
        for (std::size_t i = 0; i < inputs; ++i) {
            const ir::Shape& shape = node.input(i).shape;
            if (node.batch() > 1 && (shape.rank() < 2 || shape[0] != node.batch())) {
                throw ModelError(fmt::format("its input is {}; its first axis must be the batch of {}",
                                             to_text(shape), node.batch()));
            }
            elements += shape.elements() / node.batch();
            shapes += fmt::format("{}{}", shapes.empty() ? "" : " and ", map_text(node.input(i).shape));
        }
        if (elements != weights->shape[0]) {
            throw ModelError(fmt::format("its input is {} = {} elements; its weights are for {}", shapes,
                                         elements, weights->shape[0]));
        }
        check_bias(node, weights->shape[1]);
        return {ir::vector_shape(weights->shape[1], node.batch())};
    }
    std::uint64_t macs(const ir::NodeView& node) const override { return weight_count(node); }
    bool reads_elements() const override { return true; }

    void execute(const IntegerCall& call) const override {
        const SumRounding rounding(call.node);
        const bool is_wide = has_wide_sums(call.node.node());
        const std::size_t units = call.node.output_map().channels;
        std::vector<std::int32_t> sums;
        std::vector<std::int32_t> lower_sums;
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            std::int32_t* const output = call.output + image * units;
            if (is_wide) {
                sums.assign(units, 0);
                lower_sums.assign(units, 0);
                add_inputs(
                    call, image, [](std::int32_t number) { return number >> 8; }, sums);
                add_inputs(
                    call, image, [](std::int32_t number) { return number & 0xff; }, lower_sums);
                rounding.store_wide(sums, lower_sums, output);
                continue;
            }
            rounding.begin(sums);
            add_inputs(
                call, image, [](std::int32_t number) { return number; }, sums);
            rounding.store(sums, output);
        }
    }

protected:
    ir::ValueId words_product(const ir::Node& node, WordsBuilder& builder) const override {
        const std::size_t count = builder.view(node).data_inputs();
        std::vector<ir::ValueId> vectors;
        for (std::size_t i = 0; i < count; ++i) {
            const ir::ValueId input = builder.input_of(node, i);
            const auto elements = static_cast<std::uint32_t>(builder.shape_of(input).elements());
            vectors.push_back(builder.reshape(input, ir::vector_shape(elements)));
        }
        const ir::ValueId whole =
            count == 1 ? vectors.front() : builder.append("concat", {{"axis", std::int64_t{1}}}, vectors);
        return append_words_product(builder, name(), order_attributes(builder), whole,
                                    builder.input_of(node, count));
    }

    void evaluate_products(const FloatCall& call) const override {
        const float* const weights = call.parameter(0);
        const float* const bias = call.parameter(1);
        const std::size_t inputs = call.node.data_inputs();
        const std::size_t units = call.node.output_map().channels;
        if (const SumOrder order = sum_order(call.node.node()); order.tile != 0) {
            // A part of a sum may be of several inputs.
            const std::size_t elements = call.node.parameter(0)->shape[0];
            const std::vector<float> whole = joined_inputs(call, elements);
            OrderedWeights(weights, elements, units, order).multiply(whole.data(), call.output, call.batch);
            add_settled_bias(call.output, bias, call.batch, units);
            return;
        }
        std::size_t first = call.node.input(0).shape.elements();
        multiply(call.inputs[0], weights, call.output, call.batch, units, first);
        std::vector<float> products(inputs > 1 ? call.batch * units : 0);
        for (std::size_t i = 1; i < inputs; ++i) {
            const std::size_t elements = call.node.input(i).shape.elements();
            multiply(call.inputs[i], weights + first * units, products.data(), call.batch, units, elements);
            std::transform(products.begin(), products.end(), call.output, call.output, std::plus<>());
            first += elements;
        }
        add_bias(call.output, bias, call.batch, units);
    }

    std::uint64_t met_elements(const ir::NodeView& node, std::size_t input) const override {
        return node.input(input).shape.elements();
    }

private:
    /// The elements of all inputs, one inference after the other.
    static std::vector<float> joined_inputs(const FloatCall& call, std::size_t elements) {
        std::vector<float> whole;
        whole.reserve(call.batch * elements);
        for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
            for (std::size_t i = 0, count = call.node.data_inputs(); i < count; ++i) {
                const std::size_t own = call.node.input(i).shape.elements();
                const float* const from = call.inputs[i] + inference * own;
                whole.insert(whole.end(), from, from + own);
            }
        }
        return whole;
    }

    /// Adds the products of all inputs of an image, or of a part of each number, to the sums.
    template <typename Part>
    static void add_inputs(const IntegerCall& call, std::uint32_t image, const Part& part,
                           std::vector<std::int32_t>& sums) {
        const std::span<const std::int8_t> weights = known_weights(call.node);
        const std::int32_t of_weights = weight_zero_point(call.node);
        const std::int8_t* weight = weights.data();
        for (std::size_t i = 0, count = call.node.data_inputs(); i < count; ++i) {
            const std::int32_t zero_point = encoding_of(call.node.input(i)).zero_point;
            const std::size_t elements = call.node.input(i).shape.elements();
            const std::int32_t* const values = call.inputs[i] + image * elements;
            std::int32_t whole = 0;
            for (std::size_t element = 0; element < elements; ++element, weight += sums.size()) {
                const std::int32_t value = part(values[element]) - zero_point;
                multiply_add(value, weight, sums);
                whole = wrapping_add(whole, value);
            }
            // The weights' zero point meets the sum of all inputs.
            const std::int32_t offset = wrapping_multiply(of_weights, whole);
            for (std::int32_t& sum : sums) sum = wrapping_subtract(sum, offset);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_dense() {
    return std::make_unique<Dense>();
}

}  // namespace systole::operators
