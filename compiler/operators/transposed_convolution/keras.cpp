// The transposed convolutions of Keras: channels last, weights [height][width][filter][input channel].
#include "compiler/operators/transposed_convolution/keras.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/windowed_weights.h"

namespace systole::operators {
namespace {

using Pair = std::array<std::uint32_t, 2>;
using Integers = std::vector<std::int64_t>;

/// What a layer says about its windows, by direction: height and width.
struct KerasWindows {
    Pair kernel{1, 1};
    Pair stride{1, 1};
    Pair dilation{1, 1};
    std::array<std::optional<std::int64_t>, 2> extra = {};  ///< output_padding
};

/// The numbers of rows or columns that are cut off the sums before and after them; negative where some are
/// added.
struct KerasCut {
    std::int64_t before, after;
};

/// Keras' rule: TensorFlow's "same" padding of the convolution that has this one's result as its input.
KerasCut keras_cut(std::int64_t input, const KerasWindows& windows, std::size_t direction, bool is_same) {
    const std::int64_t stride = windows.stride.at(direction);
    const std::int64_t covered =
        std::int64_t{windows.kernel.at(direction) - 1} * windows.dilation.at(direction) + 1;
    const std::int64_t full = (input - 1) * stride + covered;
    const std::optional<std::int64_t> extra = windows.extra.at(direction);
    std::int64_t result = 0;
    if (is_same) {
        result = extra ? full - 2 * (covered / 2) + *extra : input * stride;
    } else {
        result = extra ? full + *extra : input * stride + std::max<std::int64_t>(covered - stride, 0);
    }
    const std::int64_t total = full - result;
    const std::int64_t before = is_same ? std::max<std::int64_t>(total, 0) / 2 : 0;
    return {before, total - before};
}

/// output_padding: a number for both directions, or one for each.
void read_extra(const ir::LayerReader& layer, std::size_t first, KerasWindows& windows) {
    const auto values = layer.integers("output_padding");
    if (!values) return;
    const std::size_t directions = windows.extra.size() - first;
    if (values->size() != 1 && values->size() != directions) {
        layer.fail("output_padding", fmt::format("it must have {}", counted(directions, "entry")));
    }
    for (std::size_t i = 0; i < directions; ++i) {
        const auto extra = (*values)[values->size() == 1 ? 0 : i];
        if (!extra || *extra < 0 || *extra >= windows.stride.at(first + i)) {
            layer.fail("output_padding", "each must be an integer, at least 0 and less than the stride");
        }
        windows.extra.at(first + i) = extra;
    }
}

/// Numbers of the operator's attributes.
void require_attributes(const ir::LayerReader& layer, const char* key, const Pair& numbers) {
    constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    if (numbers[0] > most || numbers[1] > most) layer.fail(key, fmt::format("it must be at most {}", most));
}

Integers as_integers(const Pair& numbers) {
    return {numbers[0], numbers[1]};
}

ir::ValueId append_transposed(ir::LayerReader& layer, const KerasWindows& windows, bool is_sequence) {
    require_attributes(layer, "kernel_size", windows.kernel);
    require_attributes(layer, "strides", windows.stride);
    require_attributes(layer, "dilation_rate", windows.dilation);
    const std::string padding = layer.text("padding", "valid");
    if (padding != "valid" && padding != "same") layer.fail("padding", "it must be \"valid\" or \"same\"");
    const ir::FeatureMap input = layer.input_map();
    const KerasCut rows = keras_cut(input.height, windows, 0, padding == "same");
    const KerasCut columns = keras_cut(input.width, windows, 1, padding == "same");
    const std::uint32_t filters = layer.positive("filters");
    const auto [height, width] = windows.kernel;
    const std::uint32_t channels = input.channels;
    LayerWeights weights{.kernel = {.roles = {"kernel"},
                                    .file_shape = {height, width, filters, channels},
                                    .shape = {height, width, filters, channels},
                                    .is_counted = true},
                         .channels = filters,
                         .bias_key = "use_bias"};
    if (is_sequence) weights.kernel.file_shape = {width, filters, channels};
    std::vector<ir::ValueId> inputs = with_weights(layer, {layer.input()}, weights);
    inputs[1] = layer.append("transpose", {{"permutation", Integers{0, 1, 3, 2}}}, {inputs[1]});
    const ir::ValueId result =
        layer.append("transposed_convolution",
                     {{"kernel", as_integers(windows.kernel)},
                      {"stride", as_integers(windows.stride)},
                      {"dilation", as_integers(windows.dilation)},
                      {"cut", Integers{rows.before, columns.before, rows.after, columns.after}}},
                     std::move(inputs));
    const ir::ValueId function = layer.append_function("activation", result);
    return is_sequence ? as_sequence(layer, function) : function;
}

ir::ValueId read_image(ir::LayerReader& layer) {
    layer.require_text("data_format", "channels_last");
    layer.require_number("groups", 1);
    KerasWindows windows{.kernel = layer.positive_pair("kernel_size"),
                         .stride = layer.positive_pair("strides", {{1, 1}}),
                         .dilation = layer.positive_pair("dilation_rate", {{1, 1}})};
    read_extra(layer, 0, windows);
    return append_transposed(layer, windows, false);
}

ir::ValueId read_sequence(ir::LayerReader& layer) {
    layer.require_text("data_format", "channels_last");
    layer.require_number("groups", 1);
    require_sequence(layer);
    KerasWindows windows{.kernel = {1, keras_length(layer, "kernel_size")},
                         .stride = {1, keras_length(layer, "strides", 1)},
                         .dilation = {1, keras_length(layer, "dilation_rate", 1)}};
    read_extra(layer, 1, windows);
    return append_transposed(layer, windows, true);
}

}  // namespace

std::vector<ir::LayerKind> keras_transposed_convolutions() {
    const std::vector<ir::LayerKey> keys = keras_convolution_keys(
        {{"filters", "the kernel's last extent"},
         {"output_padding", "`cut`: rows and columns added at the bottom and on the right"},
         {"groups", "only 1"}});
    return {{ir::Format::Keras, "Conv2DTranspose", keys, read_image},
            {ir::Format::Keras, "Conv1DTranspose", keys, read_sequence}};
}

}  // namespace systole::operators
