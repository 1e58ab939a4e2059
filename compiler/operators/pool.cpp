#include "compiler/operators/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/pool_onnx.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/tflite_functions.h"
#include "compiler/operators/tflite_weights.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// The mean of `count` stored values with this sum, rounded to nearest, halves away from zero.
std::int32_t rounded_mean(std::int64_t sum, std::int64_t count) {
    const std::int64_t half = count / 2;
    return static_cast<std::int32_t>(sum >= 0 ? (sum + half) / count : (sum - half) / count);
}

/// Calls `visit` with each pixel of the image under a window.
template <typename Visit>
void for_each_window_pixel(const float* image, const ir::FeatureMap& map, const ir::WindowSpan& rows,
                           const ir::WindowSpan& columns, const Visit& visit) {
    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
        for (std::uint32_t column = columns.first; column < columns.last; ++column) {
            visit(image + (rows.under(row) * map.width + columns.under(column)) * map.channels);
        }
    }
}

std::vector<ir::LayerKey> tflite_pool_keys() {
    std::vector<ir::LayerKey> keys = tflite_window_keys();
    keys.insert(keys.end(),
                {{"filter_height", "`kernel`, height"},
                 {"filter_width", "and width"},
                 {"fused_activation_function", "a function of the result, or limits of a table"}});
    return keys;
}

/// The runtime pools stored numbers and does not look at the result's scale; where it is not the input's, a
/// table that changes no number gives the result its own.
ir::Results read_tflite_pool(ir::LayerReader& layer, std::string_view op) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Window window =
        tflite_window(layer, {layer.positive("filter_height"), layer.positive("filter_width")});
    const ir::ResultType result = layer.declared_result(0);
    if (result.type == DataType::Float32) {
        return append_fused_function(layer, layer.append(op, ir::attributes_of(window), {input}));
    }
    const ir::ValueId pooled = append_same(layer, op, ir::attributes_of(window), {input});
    if (!result.quantization) layer.fail("its result is of integers without a scale; it must have one");
    const std::vector<std::int64_t> clamp = fused_clamp(layer, result);
    if (clamp.empty() && result.quantization == layer.value(pooled).quantization) return pooled;
    const bool keeps_scale = result.quantization == layer.value(pooled).quantization;
    if (result.type == DataType::Int16 && keeps_scale) {
        return layer.append_as(result, "requantize", {{"clamp", clamp}}, {pooled});
    }
    if (bytes_of(result.type) != 1 || result.type != layer.value(pooled).type) {
        layer.fail(fmt::format("it turns {} into {} of another scale; only bytes may have another",
                               name_of(layer.value(pooled).type), name_of(result.type)));
    }
    return append_table(layer, pooled, result, [&](std::int32_t stored) {
        if (clamp.empty()) return stored;
        return std::clamp(stored, static_cast<std::int32_t>(clamp[0]), static_cast<std::int32_t>(clamp[1]));
    });
}

ir::Window whole_image(const ir::FeatureMap& map) {
    return {.kernel_height = map.height, .kernel_width = map.width};
}

/// TFLite's L2_POOL_2D: the root of the average of the squares.
ir::Results read_tflite_l2_pool(ir::LayerReader& layer) {
    const ir::Window window =
        tflite_window(layer, {layer.positive("filter_height"), layer.positive("filter_width")});
    if (layer.declared_result(0).type != DataType::Float32) layer.fail("it works on float32 alone");
    const ir::ValueId squares = layer.append("square", {}, {input_of(layer, 0)});
    const ir::ValueId mean = layer.append("average_pool", ir::attributes_of(window), {squares});
    return append_fused_function(layer, layer.append("sqrt", {}, {mean}));
}

/// The means of windows from their sums. Windows at the border have fewer elements.
ir::ValueId divide_by_counts(WordsBuilder& builder, const ir::NodeView& node, ir::ValueId sums) {
    const ir::FeatureMap input = node.input_map();
    const ir::FeatureMap result = node.output_map();
    const ir::Window window = ir::window_of(node.node());
    std::vector<float> counts;
    for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t /*element*/) {
        const ir::WindowSpan rows = vertical_span(input, window, y);
        const ir::WindowSpan columns = horizontal_span(input, window, x);
        counts.push_back(static_cast<float>(rows.last - rows.first) *
                         static_cast<float>(columns.last - columns.first));
    });
    const auto [least, most] = std::ranges::minmax(counts);
    if (least == most) return builder.divide(sums, static_cast<std::uint64_t>(least));
    const ir::ValueId constant =
        builder.constant("counts", {1, result.height, result.width, 1}, std::move(counts));
    return builder.chain({sums, constant}, [](std::span<const Word> in) { return in[0] / in[1]; });
}

}  // namespace

const std::vector<ir::AttributeDeclaration>& Pool::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations = ir::window_attributes();
    return declarations;
}

std::vector<ir::LayerKind> Pool::layer_kinds() const {
    const std::string op(name());
    const std::string keras_class = keras_class_;
    const std::vector<ir::LayerKey> global_keys{{"data_format", keras_data_format},
                                                {"keepdims", "whether the result keeps its axes of 1"}};
    const auto append = [op](ir::LayerReader& layer, const ir::Window& window) {
        return layer.append(op, ir::attributes_of(window), {layer.input()});
    };
    const auto keras = [append](ir::LayerReader& layer) {
        layer.require_text("data_format", "channels_last");
        const auto kernel = layer.positive_pair("pool_size");
        return append(layer, keras_window(layer, kernel, layer.positive_pair("strides", kernel)));
    };
    const auto keras_sequence = [append](ir::LayerReader& layer) {
        layer.require_text("data_format", "channels_last");
        const std::uint32_t kernel = keras_length(layer, "pool_size");
        const std::uint32_t stride = keras_length(layer, "strides", kernel);
        return as_sequence(layer, append(layer, keras_sequence_window(layer, kernel, stride)));
    };
    const auto keras_global = [append](ir::LayerReader& layer) {
        layer.require_text("data_format", "channels_last");
        const ir::FeatureMap map = layer.input_map();
        const ir::ValueId pooled = append(layer, whole_image(map));
        return layer.boolean("keepdims", false) ? pooled
                                                : append_shape(layer, pooled, ir::vector_shape(map.channels));
    };
    const auto keras_global_sequence = [keras_global](ir::LayerReader& layer) {
        require_sequence(layer);
        const ir::ValueId pooled = keras_global(layer);
        return layer.boolean("keepdims", false) ? as_sequence(layer, pooled) : pooled;
    };
    const auto json = [append](ir::LayerReader& layer) {
        return append(layer, json_window(layer, std::nullopt));
    };
    const auto json_global = [append](ir::LayerReader& layer) {
        return append(layer, whole_image(layer.input_map()));
    };
    std::vector<ir::LayerKind> kinds{
        {ir::Format::Keras, keras_class + "2D", keras_window_keys("pool_size"), keras},
        {ir::Format::Keras, keras_class + "1D", keras_window_keys("pool_size"), keras_sequence},
        {ir::Format::Keras, "Global" + keras_class + "2D", global_keys, keras_global},
        {ir::Format::Keras, "Global" + keras_class + "1D", global_keys, keras_global_sequence},
        {ir::Format::GraphJson, op, json_window_keys(), json},
        {ir::Format::GraphJson, "global_" + op, {}, json_global},
        {ir::Format::Tflite, kind_ == PoolKind::Max ? "MAX_POOL_2D" : "AVERAGE_POOL_2D", tflite_pool_keys(),
         [op](ir::LayerReader& layer) { return read_tflite_pool(layer, op); }}};
    if (kind_ == PoolKind::Average) {
        kinds.push_back({ir::Format::Tflite, "L2_POOL_2D", tflite_pool_keys(), read_tflite_l2_pool});
    }
    for (ir::LayerKind& kind : kind_ == PoolKind::Max ? onnx_max_pools() : onnx_average_pools()) {
        kinds.push_back(std::move(kind));
    }
    return kinds;
}

ir::Shape pooled_shape(const ir::NodeView& node) {
    node.require_inputs(1);
    const ir::FeatureMap input = node.input_map();
    const ir::Window window = ir::window_of(node.node());
    if (std::max(window.pad_top, window.pad_bottom) >=
            ir::covered_extent(window.kernel_height, window.dilation_y) ||
        std::max(window.pad_left, window.pad_right) >=
            ir::covered_extent(window.kernel_width, window.dilation_x)) {
        throw ModelError(
            fmt::format("it pools with {}; the padding must be smaller than the kernel", to_text(window)));
    }
    return ir::image_shape(window_output(input, window, input.channels), node.batch());
}

std::vector<ir::Shape> Pool::output_shapes(const ir::NodeView& node) const {
    return {pooled_shape(node)};
}

bool Pool::is_identity(const ir::NodeView& node) const {
    ir::Window window = ir::window_of(node.node());
    window.dilation_y = window.dilation_x = 1;
    return window == ir::Window{};
}

Placement pooling_placement() {
    return {.where = "activation unit, as vector work; int16: host",
            .formats = "float32; uint8, int8, int16"};
}

void check_pooled_types(const ir::NodeView& node) {
    if (!works_on_integers(node)) return;
    require_integers(node);
    require_one_encoding(node);
}

void quantize_pooled(const ir::Node& node, Quantizer& quantizer) {
    quantizer.require_one_width(node);
    if (bytes_of(quantizer.type(node.output())) == 2) {
        quantizer.fail(node.output(),
                       fmt::format("it is a {} of 16 bits; it must be of 8, as the chip pools no others",
                                   node.op->name()));
    }
    quantizer.add_like(node, quantizer.stored_encoding(node.inputs.front()));
}

Placement Pool::placement() const {
    return pooling_placement();
}

void Pool::check_types(const ir::NodeView& node) const {
    check_pooled_types(node);
}

void Pool::quantize(const ir::Node& node, Quantizer& quantizer) const {
    quantize_pooled(node, quantizer);
}

void Pool::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const ir::Window window = ir::window_of(node);
    const ir::ValueId x = builder.input_of(node);
    switch (kind_) {
        case PoolKind::Max:
            return builder.set(node.output(), builder.windows(systole::Reduction::Maximum, x, window));
        case PoolKind::Average: {
            const ir::ValueId sums = builder.windows(systole::Reduction::Sum, x, window);
            return builder.set(node.output(), divide_by_counts(builder, builder.view(node), sums));
        }
    }
    throw std::logic_error("a pooling of no kind");
}

void Pool::execute(const IntegerCall& call) const {
    const ir::FeatureMap input = call.node.input_map();
    const ir::FeatureMap result = call.node.output_map();
    const ir::Window window = ir::window_of(call.node.node());
    const std::size_t channels = input.channels;
    for (std::uint32_t image = 0; image < call.batch; ++image) {
        const std::int32_t* const pixels = call.inputs[0] + image * input.elements();
        std::int32_t* const output = call.output + image * result.elements();
        for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
            for (std::size_t c = 0; c < channels; ++c) {
                std::int32_t largest = std::numeric_limits<std::int32_t>::lowest();
                std::int64_t sum = 0;
                std::int64_t count = 0;
                for_each_in_window(input, window, y, x, [&](std::size_t pixel, std::size_t /*tap*/) {
                    largest = std::max(largest, pixels[pixel * channels + c]);
                    sum += pixels[pixel * channels + c];
                    ++count;
                });
                switch (kind_) {
                    case PoolKind::Max:
                        output[element + c] = largest;
                        break;
                    case PoolKind::Average:
                        output[element + c] = rounded_mean(sum, count);
                        break;
                }
            }
        });
    }
}

void Pool::evaluate(const FloatCall& call) const {
    const ir::FeatureMap input = call.node.input_map();
    const ir::FeatureMap result = call.node.output_map();
    const ir::Window window = ir::window_of(call.node.node());
    const std::size_t channels = input.channels;
    float* output = call.output;
    for (std::uint32_t image = 0; image < call.batch; ++image) {
        const float* const pixels = call.inputs[0] + image * input.elements();
        for (std::uint32_t y = 0; y < result.height; ++y) {
            const ir::WindowSpan rows = vertical_span(input, window, y);
            for (std::uint32_t x = 0; x < result.width; ++x, output += channels) {
                const ir::WindowSpan columns = horizontal_span(input, window, x);
                const auto count = static_cast<float>(rows.last - rows.first) *
                                   static_cast<float>(columns.last - columns.first);
                switch (kind_) {
                    case PoolKind::Max:
                        std::fill_n(output, channels, std::numeric_limits<float>::lowest());
                        for_each_window_pixel(pixels, input, rows, columns, [&](const float* pixel) {
                            for (std::size_t c = 0; c < channels; ++c)
                                output[c] = std::max(output[c], pixel[c]);
                        });
                        break;
                    case PoolKind::Average:
                        std::fill_n(output, channels, 0.0F);
                        for_each_window_pixel(pixels, input, rows, columns, [&](const float* pixel) {
                            for (std::size_t c = 0; c < channels; ++c) output[c] += pixel[c];
                        });
                        for (std::size_t c = 0; c < channels; ++c) output[c] /= count;
                        break;
                }
            }
        }
    }
}

}  // namespace systole::operators
