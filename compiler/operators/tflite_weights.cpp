#include "compiler/operators/tflite_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/known_product.h"
#include "compiler/operators/matrix_product/matrix_product.h"

namespace systole::operators {
namespace {

constexpr std::int32_t byte_offset = 128;

/// The kernel of a convolution in a file: how the numbers become those of the graph.
struct KernelLayout {
    std::uint32_t height = 1;
    std::uint32_t width = 1;
    std::uint32_t inputs = 1;   ///< input channels of a filter; 1 if it is depthwise
    std::uint32_t outputs = 1;  ///< output channels
    bool outputs_are_last = false;

    ir::Shape shape() const { return {height, width, inputs, outputs}; }
};

/// The weights in the graph's order.
template <typename From, typename To, typename Convert>
std::vector<To> reordered(std::span<const From> weights, const KernelLayout& layout, const Convert& convert) {
    std::vector<To> result(weights.size());
    if (layout.outputs_are_last) {
        std::ranges::transform(weights, result.begin(), convert);
        return result;
    }
    // A transposition of the matrix of output channels and elements, in blocks that fit in the cache.
    constexpr std::size_t block = 64;
    const std::size_t outputs = layout.outputs;
    const std::size_t elements = weights.size() / outputs;
    for (std::size_t first = 0; first < elements; first += block) {
        const std::size_t end = std::min(first + block, elements);
        for (std::size_t out = 0; out < outputs; ++out) {
            for (std::size_t element = first; element < end; ++element) {
                result[element * outputs + out] = convert(weights[out * elements + element]);
            }
        }
    }
    return result;
}

/// A tensor of weights: the numbers for the graph, and their quantization.
struct Weights {
    ir::Constant numbers;
    DataType type = DataType::Float32;
    std::optional<ir::Quantization> quantization = {};
};

Weights read_weights(const ir::LayerReader& layer, const ir::Value& given, const KernelLayout& layout) {
    Weights weights{.numbers = {}, .type = given.type, .quantization = given.quantization};
    const ir::Constant& numbers = *given.constant;
    if (given.type == DataType::Float32) {
        weights.numbers = ir::Constant::of(
            reordered<float, float>(numbers.values<float>(), layout, [](float number) { return number; }));
        return weights;
    }
    if (!weights.quantization) layer.fail("its weights are integers without a scale; they must have one");
    if (given.type == DataType::Int8) {
        weights.numbers = ir::Constant::of(reordered<std::int8_t, std::int8_t>(
            numbers.values<std::int8_t>(), layout, [](std::int8_t number) { return number; }));
    } else if (given.type == DataType::Uint8) {
        for (std::int32_t& zero_point : weights.quantization->zero_points) zero_point -= byte_offset;
        weights.numbers = ir::Constant::of(reordered<std::uint8_t, std::int8_t>(
            numbers.values<std::uint8_t>(), layout, [](std::uint8_t number) {
                return static_cast<std::int8_t>(std::int32_t{number} - byte_offset);
            }));
        weights.type = DataType::Int8;
    } else {
        layer.fail(
            fmt::format("its weights are {}; they must be float32, int8 or uint8", name_of(given.type)));
    }
    return weights;
}

const ir::Value& constant_input(const ir::LayerReader& layer, std::size_t index, const char* what) {
    const ir::Value& value = layer.value(input_of(layer, index));
    if (!value.constant || !value.constant->is_known()) {
        layer.fail(fmt::format("its {} are computed by the network; they must be constants", what));
    }
    return value;
}

/// Fails unless one scale, or one for each output channel.
void check_scales(const ir::LayerReader& layer, const ir::Value& weights, std::size_t output_axis) {
    if (!weights.quantization || !weights.quantization->axis) return;
    if (*weights.quantization->axis == output_axis) return;
    layer.fail(
        fmt::format("its weights have scales along axis {}; only axis {}, the output channels, is "
                    "supported",
                    *weights.quantization->axis, output_axis));
}

/// The inputs of the graph's node: x, weights, and the bias, if any.
std::vector<ir::ValueId> node_inputs(ir::LayerReader& layer, ir::ValueId x, Weights weights,
                                     const ir::Shape& shape, std::size_t bias_input = 2) {
    ir::ValueId kernel = layer.add_constant("weights", shape, weights.type, std::move(weights.numbers));
    if (weights.quantization) kernel = layer.as_quantized(kernel, *weights.quantization);
    std::vector<ir::ValueId> inputs{x, kernel};
    const auto bias = layer.input_if_any(bias_input);
    if (!bias) return inputs;
    const ir::Value& given = constant_input(layer, bias_input, "biases");
    const std::uint32_t channels = shape[shape.rank() - 1];
    if (given.shape.elements() != channels) {
        layer.fail(fmt::format("its bias has {} numbers; it must have {}", given.shape.elements(), channels));
    }
    if (given.type != DataType::Float32 && given.type != DataType::Int32) {
        layer.fail(fmt::format("its bias is {}; it must be float32 or int32", name_of(given.type)));
    }
    inputs.push_back(layer.add_constant("bias", {channels}, given.type, *given.constant));
    return inputs;
}

/// Appends the node with the type that the file declares for its result, and the fused function if the file
/// may name one.
ir::ValueId append_product(ir::LayerReader& layer, std::string_view op,
                           std::vector<ir::NamedAttribute> attributes, std::vector<ir::ValueId> inputs,
                           bool has_function = true) {
    const ir::ResultType result = layer.declared_result(0);
    const bool is_known = layer.value(inputs.front()).constant.has_value();
    if (result.type == DataType::Float32) {
        const ir::ValueId product =
            is_known ? append_known_product(layer, op, std::move(attributes), inputs, std::nullopt)
                     : layer.append(op, std::move(attributes), std::move(inputs));
        return has_function ? append_fused_function(layer, product) : product;
    }
    if (!result.quantization) layer.fail("its result is of integers without a scale; it must have one");
    if (has_function) attributes.emplace_back("clamp", fused_clamp(layer, result));
    // The runtime adds in 64 bits unless the file gives the bias, or without one its type, 32.
    if (layer.value(inputs.front()).type == DataType::Int16 && layer.text("bias_type", "INT64") == "INT64") {
        attributes.emplace_back("wide_sums", std::int64_t{1});
    }
    if (is_known) return append_known_product(layer, op, std::move(attributes), inputs, result);
    return layer.append_as(result, op, std::move(attributes), std::move(inputs));
}

std::vector<ir::LayerKey> convolution_keys() {
    std::vector<ir::LayerKey> keys = tflite_window_keys();
    keys.insert(keys.end(),
                {{"dilation_h_factor", "`dilation`, vertical"},
                 {"dilation_w_factor", "and horizontal"},
                 {"blocks_padding",
                  "`padding` and `dilation`, if SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND are around it"},
                 {"fused_activation_function", "a function of the result, or its `clamp`"},
                 {"bias_type", "for int16: `wide_sums` unless it is INT32"}});
    return keys;
}

/// The layout of the weights, which `given` has as 4 extents.
KernelLayout layout_of(const ir::LayerReader& layer, const ir::Value& given) {
    constexpr std::size_t rank = 4;
    if (given.shape.rank() != rank) {
        layer.fail(fmt::format("its weights are {}; they must have 4 extents", ir::to_text(given.shape)));
    }
    return {.height = given.shape[1], .width = given.shape[2]};
}

ir::Window window_of_layout(const ir::LayerReader& layer, const KernelLayout& layout) {
    ir::Window window =
        tflite_window(layer, {layout.height, layout.width},
                      {layer.positive("dilation_h_factor", 1), layer.positive("dilation_w_factor", 1)});
    if (const auto padding = integers_of(layer, "blocks_padding")) {
        window.pad_top = static_cast<std::uint32_t>(padding->at(0));
        window.pad_left = static_cast<std::uint32_t>(padding->at(1));
        window.pad_bottom = static_cast<std::uint32_t>(padding->at(2));
        window.pad_right = static_cast<std::uint32_t>(padding->at(3));
    }
    return window;
}

ir::Results read_convolution(ir::LayerReader& layer) {
    const ir::ValueId x = input_of(layer, 0);
    const ir::Value& given = constant_input(layer, 1, "weights");
    KernelLayout layout = layout_of(layer, given);
    layout.inputs = given.shape[3];
    layout.outputs = given.shape[0];
    const std::uint32_t channels = layer.map_of(x).channels;
    if (channels % layout.inputs != 0) {
        layer.fail(
            fmt::format("its input has {} channels; its weights are {}", channels, ir::to_text(given.shape)));
    }
    check_scales(layer, given, 0);
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window_of_layout(layer, layout));
    attributes.emplace_back("groups", std::int64_t{channels / layout.inputs});
    Weights weights = read_weights(layer, given, layout);
    if (weights.quantization && weights.quantization->axis) weights.quantization->axis = 3;
    return append_product(layer, "convolution", std::move(attributes),
                          node_inputs(layer, x, std::move(weights), layout.shape()));
}

ir::Results read_depthwise(ir::LayerReader& layer) {
    const ir::ValueId x = input_of(layer, 0);
    const ir::Value& given = constant_input(layer, 1, "weights");
    KernelLayout layout = layout_of(layer, given);
    layout.outputs = given.shape[3];
    layout.outputs_are_last = true;
    const std::uint32_t channels = layer.map_of(x).channels;
    if (given.shape[0] != 1 || layout.outputs % channels != 0) {
        layer.fail(
            fmt::format("its input has {} channels; its weights are {}", channels, ir::to_text(given.shape)));
    }
    check_scales(layer, given, 3);
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window_of_layout(layer, layout));
    attributes.emplace_back("multiplier", std::int64_t{layout.outputs / channels});
    return append_product(layer, "depthwise_convolution", std::move(attributes),
                          node_inputs(layer, x, read_weights(layer, given, layout), layout.shape()));
}

/// As runtimes before 2.20, multiplies the scales of input and weights in float32, where a convolution of the
/// same weights does it in float64: the weights get the scale that gives the same product.
void round_product(const ir::Value& input, Weights& weights) {
    if (!weights.quantization || weights.quantization->axis || !input.quantization) return;
    const double input_scale = input.quantization->scales.front();
    double& scale = weights.quantization->scales.front();
    scale = double{static_cast<float>(input_scale) * static_cast<float>(scale)} / input_scale;
}

/// The product of each row of an input with the same matrix.
struct RowProduct {
    std::uint32_t depth = 1;
    std::uint32_t units = 1;
    bool is_real = false;      ///< with a real multiplier
    bool has_function = true;  ///< whether the file may name a function of the result
};

/// Appends it. The result has the axes that are the easiest.
ir::ValueId append_rows(ir::LayerReader& layer, ir::ValueId x, Weights weights, const RowProduct& product) {
    const ir::Shape input_shape = layer.value(x).shape;
    const std::uint32_t depth = product.depth;
    const std::uint32_t units = product.units;
    const std::uint32_t batch = layer.value(x).constant ? 1 : layer.batch();
    // Of each image of the batch, if its rows are its own.
    const auto rows = static_cast<std::uint32_t>(input_shape.elements() / depth / batch);
    if (batch > 1 && (input_shape.rank() < 2 || input_shape[0] != batch ||
                      input_shape.elements() != std::uint64_t{rows} * depth * batch)) {
        layer.fail(fmt::format("its input is {}; it must have a first axis of {}, the batch",
                               to_text(input_shape), batch));
    }
    std::vector<ir::NamedAttribute> attributes;
    if (product.is_real) attributes.emplace_back("real_multiplier", std::int64_t{1});
    if (rows == 1) {
        if (weights.quantization && weights.quantization->axis) weights.quantization->axis = 1;
        return append_product(layer, "dense", std::move(attributes),
                              node_inputs(layer, x, std::move(weights), {depth, units}),
                              product.has_function);
    }
    // A row is a pixel.
    if (weights.quantization && weights.quantization->axis) weights.quantization->axis = 3;
    if (!product.is_real) round_product(layer.value(x), weights);
    const ir::ValueId image = append_shape(layer, x, {batch, rows, 1, depth});
    const std::vector<ir::NamedAttribute> window = ir::attributes_of(ir::Window{});
    attributes.insert(attributes.begin(), window.begin(), window.end());
    return append_product(layer, "convolution", std::move(attributes),
                          node_inputs(layer, image, std::move(weights), {1, 1, depth, units}),
                          product.has_function);
}

ir::Results read_dense(ir::LayerReader& layer) {
    const ir::ValueId x = input_of(layer, 0);
    const ir::Value& given = constant_input(layer, 1, "weights");
    layer.require_text("weights_format", "DEFAULT");
    if (given.shape.rank() != 2) {
        layer.fail(fmt::format("its weights are {}; they must have 2 extents", ir::to_text(given.shape)));
    }
    const std::uint32_t units = given.shape[0];
    const std::uint32_t depth = given.shape[1];
    const ir::Shape input_shape = layer.value(x).shape;
    if (input_shape.elements() % depth != 0) {
        layer.fail(
            fmt::format("its input is {}; its weights are for rows of {}", ir::to_text(input_shape), depth));
    }
    check_scales(layer, given, 0);
    std::vector<std::int64_t> extents{static_cast<std::int64_t>(input_shape.elements() / depth), units};
    if (layer.boolean("keep_num_dims", false)) {
        extents = extents_of(input_shape);
        if (extents.empty() || extents.back() != depth) {
            layer.fail("keep_num_dims", fmt::format("its input is {}; its last axis must have {} elements",
                                                    ir::to_text(input_shape), depth));
        }
        extents.back() = units;
    }
    Weights weights = read_weights(layer, given, {.inputs = depth, .outputs = units});
    const bool is_real =
        layer.boolean("real_multiplier", false) && layer.declared_result(0).type != DataType::Float32;
    const ir::ValueId result =
        append_rows(layer, x, std::move(weights), {.depth = depth, .units = units, .is_real = is_real});
    return append_shape(layer, result, shape_from(layer, extents));
}

/// The last two axes of a tensor exchanged.
ir::ValueId append_exchanged(ir::LayerReader& layer, ir::ValueId value) {
    const std::size_t rank = layer.value(value).shape.rank();
    std::vector<std::int64_t> permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::swap(permutation[rank - 1], permutation[rank - 2]);
    return append_same(layer, "transpose", {{"permutation", std::move(permutation)}}, {value});
}

/// The matrices of a constant, of which the last two axes are those of each.
struct Matrices {
    ir::Value given;
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;

    std::size_t count() const { return given.shape.elements() / rows / columns; }
    /// One of them as weights of a dense layer.
    Weights weights(const ir::LayerReader& layer, std::size_t index, bool outputs_are_last) const {
        const auto bytes = given.constant->bytes();
        const std::size_t size = bytes.size() / count();
        const auto own = bytes.subspan(index * size, size);
        ir::Value one = given;
        one.shape = {rows, columns};
        one.constant = ir::Constant::of(std::vector<std::uint8_t>(own.begin(), own.end()));
        return read_weights(layer, one,
                            {.inputs = outputs_are_last ? rows : columns,
                             .outputs = outputs_are_last ? columns : rows,
                             .outputs_are_last = outputs_are_last});
    }
};

/// The constant of a product of matrices. Fails if it has several scales.
Matrices known_matrices(const ir::LayerReader& layer, std::size_t place) {
    Matrices known{.given = constant_input(layer, place, "two matrices")};
    const std::size_t rank = known.given.shape.rank();
    if (rank < 2 || shape_of(layer, 1 - place).rank() < 2) {
        layer.fail(fmt::format("it multiplies {} and {}; both must have at least 2 extents",
                               to_text(shape_of(layer, 0)), to_text(shape_of(layer, 1))));
    }
    if (known.given.type != DataType::Float32 && known.given.quantization && known.given.quantization->axis) {
        layer.fail("its constant has several scales; it must have one");
    }
    known.rows = known.given.shape[rank - 2];
    known.columns = known.given.shape[rank - 1];
    return known;
}

/// The products of the matrices of x and of a constant that has as many: each is a product of its own.
ir::ValueId append_products(ir::LayerReader& layer, ir::ValueId x, const Matrices& known,
                            bool outputs_are_last, const RowProduct& product) {
    if (known.count() == 1) return append_rows(layer, x, known.weights(layer, 0, outputs_are_last), product);
    const ir::Shape shape = layer.value(x).shape;
    const auto count = static_cast<std::int64_t>(known.count());
    const std::int64_t rows = shape[shape.rank() - 2];
    const auto leading = shape.extents().first(shape.rank() - 2);
    const auto others = known.given.shape.extents().first(known.given.shape.rank() - 2);
    if (!std::ranges::equal(leading, others)) {
        layer.fail(
            fmt::format("it multiplies the matrices of {} and {}; they must be as many, along the same axes",
                        to_text(shape_of(layer, 0)), to_text(shape_of(layer, 1))));
    }
    const ir::ValueId list =
        append_shape(layer, x, shape_from(layer, {count, rows, std::int64_t{product.depth}}));
    std::vector<ir::ValueId> results;
    for (std::int64_t i = 0; i < count; ++i) {
        const ir::ValueId part = append_same(layer, "strided_slice",
                                             {{"first", std::vector<std::int64_t>{i, 0, 0}},
                                              {"step", std::vector<std::int64_t>{1, 1, 1}},
                                              {"count", std::vector<std::int64_t>{1, rows, product.depth}}},
                                             {list});
        const ir::ValueId one = append_rows(
            layer, part, known.weights(layer, static_cast<std::size_t>(i), outputs_are_last), product);
        results.push_back(
            append_shape(layer, one, shape_from(layer, {1, rows, std::int64_t{product.units}})));
    }
    return layer.append_as(layer.declared_result(0), "concat", {{"axis", std::int64_t{0}}},
                           std::move(results));
}

/// Throws unless both matrices and the result are float32 or int8.
void check_matrix_types(const ir::LayerReader& layer, ir::ValueId x) {
    const DataType type = layer.declared_result(0).type;
    if (layer.value(x).type == type && type != DataType::Int16) return;
    layer.fail(fmt::format("it turns {} into {}; both must be float32 or int8, others are not supported",
                           name_of(layer.value(x).type), name_of(type)));
}

/// The product of two computed inputs.
ir::ValueId read_computed_product(ir::LayerReader& layer) {
    const ir::ResultType result = layer.declared_result(0);
    std::vector<ir::NamedAttribute> attributes;
    for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
        check_matrix_types(layer, input_of(layer, index));
        const bool is_exchanged = layer.boolean(index == 0 ? "adj_x" : "adj_y", false);
        attributes.emplace_back(index == 0 ? "transposed_a" : "transposed_b",
                                std::int64_t{is_exchanged ? 1 : 0});
    }
    return append_matrix_product(layer, {input_of(layer, 0), input_of(layer, 1)}, std::move(attributes),
                                 result);
}

/// Products of matrices. Of a constant on the left, the product of both matrices transposed has the
/// transposed result.
ir::Results read_matrix_product(ir::LayerReader& layer) {
    if (!layer.value(input_of(layer, 0)).constant && !layer.value(input_of(layer, 1)).constant)
        return read_computed_product(layer);
    const bool is_left = !layer.value(input_of(layer, 1)).constant;
    const std::size_t place = is_left ? 0 : 1;
    const Matrices known = known_matrices(layer, place);
    ir::ValueId x = input_of(layer, 1 - place);
    const bool is_exchanged = layer.boolean(is_left ? "adj_x" : "adj_y", false);
    const bool exchanges_x = layer.boolean(is_left ? "adj_y" : "adj_x", false);
    // The weights of a dense layer have the sums along their inputs.
    const bool outputs_are_last = is_left == is_exchanged;
    const RowProduct product{.depth = outputs_are_last ? known.rows : known.columns,
                             .units = outputs_are_last ? known.columns : known.rows,
                             .has_function = false};
    if (is_left != exchanges_x) x = append_exchanged(layer, x);
    const ir::Shape input_shape = layer.value(x).shape;
    if (input_shape[input_shape.rank() - 1] != product.depth) {
        layer.fail(fmt::format("it multiplies {} and {}; they do not fit", to_text(shape_of(layer, 0)),
                               to_text(shape_of(layer, 1))));
    }
    check_matrix_types(layer, x);
    std::vector<std::int64_t> extents = extents_of(input_shape);
    extents.back() = product.units;
    const std::size_t rank = known.given.shape.rank();
    if (rank > extents.size()) extents.insert(extents.begin(), rank - extents.size(), 1);
    const ir::ValueId products = append_products(layer, x, known, outputs_are_last, product);
    const ir::ValueId result = append_shape(layer, products, shape_from(layer, extents));
    return is_left ? append_exchanged(layer, result) : result;
}

/// The rows cut off before and behind the sums of one direction, which has `result` rows in the end.
std::array<std::int64_t, 2> written_cut(std::int64_t input, std::uint32_t kernel, std::uint32_t stride,
                                        std::uint32_t result, bool is_same) {
    const std::int64_t full = (input - 1) * stride + kernel;
    // The padding of the convolution that this one transposes.
    const std::int64_t before = is_same ? ir::same_padding(result, kernel, stride).before : 0;
    return {before, full - before - result};
}

/// The inputs are the shape of the result, the weights, the image and the bias.
ir::Results read_transposed(ir::LayerReader& layer) {
    const std::vector<std::int64_t> shape = constant_integers(layer, 0);
    const ir::Value& given = constant_input(layer, 1, "weights");
    const ir::ValueId x = input_of(layer, 2);
    KernelLayout layout = layout_of(layer, given);
    layout.inputs = given.shape[3];
    layout.outputs = given.shape[0];
    const ir::FeatureMap map = layer.map_of(x);
    constexpr std::size_t rank = 4;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (shape.size() != rank || shape[0] != layer.batch() || shape[1] < 1 || shape[2] < 1 ||
        std::max(shape[1], shape[2]) > most || shape[3] != layout.outputs || map.channels != layout.inputs) {
        layer.fail(fmt::format("its input is {}, its weights are {} and its result {}; they do not fit",
                               ir::to_text(map), ir::to_text(given.shape), joined(shape)));
    }
    check_scales(layer, given, 0);
    const std::array<std::uint32_t, 2> stride{layer.positive("stride_h"), layer.positive("stride_w")};
    const std::string padding = layer.text("padding", "SAME");
    const bool is_same = padding == "SAME";
    const auto rows =
        written_cut(map.height, layout.height, stride[0], static_cast<std::uint32_t>(shape[1]), is_same);
    const auto columns =
        written_cut(map.width, layout.width, stride[1], static_cast<std::uint32_t>(shape[2]), is_same);
    std::vector<ir::NamedAttribute> attributes{
        {"kernel", std::vector<std::int64_t>{layout.height, layout.width}},
        {"stride", std::vector<std::int64_t>{stride[0], stride[1]}},
        {"cut", std::vector<std::int64_t>{rows[0], columns[0], rows[1], columns[1]}}};
    Weights weights = read_weights(layer, given, layout);
    if (weights.quantization && weights.quantization->axis) weights.quantization->axis = 3;
    constexpr std::size_t bias = 3;
    return append_product(layer, "transposed_convolution", std::move(attributes),
                          node_inputs(layer, x, std::move(weights), layout.shape(), bias));
}

}  // namespace

ir::LayerKind tflite_transposed_convolution() {
    std::vector<ir::LayerKey> keys = tflite_window_keys();
    keys.insert(keys.end(), {{"fused_activation_function", "a function of the result, or its `clamp`"},
                             {"bias_type", "for int16: `wide_sums` unless it is INT32"},
                             {"quantized_bias_type", "`bias_type` of an operator without a bias"}});
    return {.format = ir::Format::Tflite,
            .name = "TRANSPOSE_CONV",
            .keys = std::move(keys),
            .build = read_transposed};
}

ir::LayerKind tflite_convolution() {
    std::vector<ir::LayerKey> keys = convolution_keys();
    keys.push_back({"quantized_bias_type", "`bias_type` of an operator without a bias"});
    return {
        .format = ir::Format::Tflite, .name = "CONV_2D", .keys = std::move(keys), .build = read_convolution};
}

ir::LayerKind tflite_depthwise_convolution() {
    return {.format = ir::Format::Tflite,
            .name = "DEPTHWISE_CONV_2D",
            .keys = convolution_keys(),
            .build = read_depthwise};
}

ir::LayerKind tflite_dense() {
    return {
        .format = ir::Format::Tflite,
        .name = "FULLY_CONNECTED",
        .keys = {{"fused_activation_function", "a function of the result, or its `clamp`"},
                 {"keep_num_dims", "the result has the input's other axes"},
                 {"weights_format", "only \"DEFAULT\""},
                 {"bias_type", "for int16: `wide_sums` unless it is INT32"},
                 {"quantized_bias_type", "`bias_type` of an operator without a bias"},
                 {"real_multiplier", "on integers: `real_multiplier`, unless `--tflite-runtime` is 2.19"}},
        .build = read_dense};
}

ir::LayerKind tflite_matrix_product() {
    return {.format = ir::Format::Tflite,
            .name = "BATCH_MATMUL",
            .keys = {{"adj_x", "the last two axes of the first matrix are exchanged"},
                     {"adj_y", "those of the second"}},
            .build = read_matrix_product};
}

std::vector<ir::LayerKey> tflite_window_keys() {
    return {{"padding", "`padding`"}, {"stride_h", "`stride`, vertical"}, {"stride_w", "and horizontal"}};
}

ir::Window tflite_window(const ir::LayerReader& layer, const std::array<std::uint32_t, 2>& kernel,
                         const std::array<std::uint32_t, 2>& dilation) {
    const std::array<std::uint32_t, 2> stride{layer.positive("stride_h"), layer.positive("stride_w")};
    const std::string padding = layer.text("padding", "SAME");
    ir::Window window{.kernel_height = kernel[0],
                      .kernel_width = kernel[1],
                      .stride_y = stride[0],
                      .stride_x = stride[1],
                      .dilation_y = dilation[0],
                      .dilation_x = dilation[1]};
    if (padding == "VALID") return window;
    if (padding != "SAME") layer.fail("padding", "it must be \"SAME\" or \"VALID\"");
    const std::uint64_t height = ir::covered_extent(kernel[0], dilation[0]);
    const std::uint64_t width = ir::covered_extent(kernel[1], dilation[1]);
    if (std::max(height, width) > std::numeric_limits<std::uint32_t>::max()) {
        layer.fail("with dilation, its kernel covers more than 4294967295 rows or columns");
    }
    const ir::FeatureMap input = layer.map_of(input_of(layer, 0));
    const ir::Padding vertical =
        ir::same_padding(input.height, static_cast<std::uint32_t>(height), stride[0]);
    const ir::Padding horizontal =
        ir::same_padding(input.width, static_cast<std::uint32_t>(width), stride[1]);
    window.pad_top = vertical.before;
    window.pad_bottom = vertical.after;
    window.pad_left = horizontal.before;
    window.pad_right = horizontal.after;
    return window;
}

}  // namespace systole::operators
