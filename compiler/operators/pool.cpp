#include "compiler/operators/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/quantizer.h"

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
            const auto y = static_cast<std::size_t>(rows.origin + row);
            const auto x = static_cast<std::size_t>(columns.origin + column);
            visit(image + (y * map.width + x) * map.channels);
        }
    }
}

isa::VectorOperation operation_of(PoolKind kind) {
    switch (kind) {
        case PoolKind::Max:
            return isa::VectorOperation::MaxPool;
        case PoolKind::Average:
            return isa::VectorOperation::AveragePool;
    }
    throw std::logic_error("a kind of pooling without an operation");
}

ir::Window whole_image(const ir::FeatureMap& map) {
    return {.kernel_height = map.height, .kernel_width = map.width};
}

}  // namespace

const std::vector<ir::AttributeDeclaration>& Pool::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations = ir::window_attributes();
    return declarations;
}

std::vector<ir::LayerKind> Pool::layer_kinds() const {
    const std::string op(name());
    const auto append = [op](ir::LayerReader& layer, const ir::Window& window) {
        return layer.append(op, ir::attributes_of(window), {layer.input()});
    };
    const auto keras = [append](ir::LayerReader& layer) {
        layer.require_text("data_format", "channels_last");
        const auto kernel = layer.positive_pair("pool_size");
        return append(layer, keras_window(layer, kernel, layer.positive_pair("strides", kernel)));
    };
    const auto keras_global = [append](ir::LayerReader& layer) {
        layer.require_text("data_format", "channels_last");
        return append(layer, whole_image(layer.input_map()));
    };
    const auto json = [append](ir::LayerReader& layer) {
        return append(layer, json_window(layer, std::nullopt));
    };
    const auto json_global = [append](ir::LayerReader& layer) {
        return append(layer, whole_image(layer.input_map()));
    };
    return {
        {ir::Format::Keras, keras_class_, keras_window_keys("pool_size"), keras},
        {ir::Format::Keras, keras_global_class_, {{"data_format", "only \"channels_last\""}}, keras_global},
        {ir::Format::GraphJson, op, json_window_keys(), json},
        {ir::Format::GraphJson, "global_" + op, {}, json_global}};
}

std::vector<ir::Shape> Pool::output_shapes(const ir::NodeView& node) const {
    node.require_inputs(1);
    const ir::FeatureMap input = node.input_map();
    const ir::Window window = ir::window_of(node.node());
    if (std::max(window.pad_top, window.pad_bottom) >= window.kernel_height ||
        std::max(window.pad_left, window.pad_right) >= window.kernel_width) {
        throw ModelError(
            fmt::format("it pools with {}; the padding must be smaller than the kernel", to_text(window)));
    }
    return {ir::image_shape(window_output(input, window, input.channels))};
}

bool Pool::is_identity(const ir::NodeView& node) const {
    return ir::window_of(node.node()) == ir::Window{};
}

Placement pooling_placement() {
    return {.where = "activation unit, as vector work", .formats = "float32; uint8 and int8"};
}

void check_pooled_types(const ir::NodeView& node) {
    if (!works_on_integers(node)) return;
    constexpr std::array types{DataType::Uint8, DataType::Int8};
    require_integers(node, types);
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

void Pool::lower(const ir::NodeView& node, Lowering& lowering) const {
    lowering.add_layer(node.node(), node.node().output(),
                       mapping::Pooling{operation_of(kind_), ir::window_of(node.node()), false});
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
