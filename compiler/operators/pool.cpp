#include "compiler/operators/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/layer_formats.h"

namespace systole::operators {
namespace {

/// Calls `visit` with each pixel of the image under a window.
template <typename Visit>
void for_each_pixel(const float* image, const ir::FeatureMap& map, const ir::WindowSpan& rows,
                    const ir::WindowSpan& columns, const Visit& visit) {
    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
        for (std::uint32_t column = columns.first; column < columns.last; ++column) {
            const auto y = static_cast<std::size_t>(rows.origin + row);
            const auto x = static_cast<std::size_t>(columns.origin + column);
            visit(image + (y * map.width + x) * map.channels);
        }
    }
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
                if (kind_ == PoolKind::Max) {
                    std::fill_n(output, channels, std::numeric_limits<float>::lowest());
                    for_each_pixel(pixels, input, rows, columns, [&](const float* pixel) {
                        for (std::size_t c = 0; c < channels; ++c) output[c] = std::max(output[c], pixel[c]);
                    });
                } else {
                    std::fill_n(output, channels, 0.0F);
                    for_each_pixel(pixels, input, rows, columns, [&](const float* pixel) {
                        for (std::size_t c = 0; c < channels; ++c) output[c] += pixel[c];
                    });
                    const auto count = static_cast<float>(rows.last - rows.first) *
                                       static_cast<float>(columns.last - columns.first);
                    for (std::size_t c = 0; c < channels; ++c) output[c] /= count;
                }
            }
        }
    }
}

}  // namespace systole::operators
