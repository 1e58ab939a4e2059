// Transposed convolution: each element of the input adds its multiple of the kernel to the result.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/onnx_images.h"
#include "compiler/operators/tflite_weights.h"
#include "compiler/operators/transposed_convolution/keras.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

/// One direction of the windows that the input's elements write.
struct WrittenAxis {
    std::int64_t input, kernel, stride, dilation, before, after;

    std::int64_t full() const { return (input - 1) * stride + (kernel - 1) * dilation + 1; }
    std::int64_t result() const { return full() - before - after; }
};

struct WrittenGeometry {
    WrittenAxis rows;
    WrittenAxis columns;
    std::int64_t groups = 1;
};

WrittenGeometry written_geometry(const ir::NodeView& view) {
    const ir::FeatureMap input = view.input_map();
    const ir::Node& node = view.node();
    const Integers& kernel = node.integers("kernel");
    const Integers& stride = node.integers("stride");
    const Integers& dilation = node.integers("dilation");
    const Integers& cut = node.integers("cut");
    return {{input.height, kernel[0], stride[0], dilation[0], cut[0], cut[2]},
            {input.width, kernel[1], stride[1], dilation[1], cut[1], cut[3]},
            node.integer("groups")};
}

/// The numbers cut off both ends of one direction, by the node's attributes.
struct Cut {
    std::int64_t before, after;
};

Cut onnx_cut(const WrittenAxis& axis, std::int64_t extra, std::optional<std::int64_t> wanted,
             const std::string& auto_pad) {
    const bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    if (!wanted && !is_same) return {axis.before, axis.after - extra};
    const std::int64_t result = wanted.value_or(axis.input * axis.stride);
    // Strides beyond the kernel would ask for more than there is; the runtime then adds nothing.
    const std::int64_t total =
        wanted ? axis.full() + extra - result : std::max<std::int64_t>(axis.full() + extra - result, 0);
    // A result wider than all products ends in zeros. Otherwise the total is halved, and the rest is cut from
    // the other end.
    const std::int64_t cut = std::max<std::int64_t>(total, 0);
    const std::int64_t before = auto_pad == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    return {before, total - before - extra};
}

/// Weights of ONNX, [input][filter of the group][height][width] or without height, as [height][width][input
/// of the group][filter].
ir::ValueId transposed_kernel(ir::LayerReader& layer, ir::ValueId weights, std::int64_t groups) {
    const ir::Shape shape = layer.value(weights).shape;
    if (shape[0] % groups != 0) {
        layer.fail("group", fmt::format("it must divide the {} input channels", shape[0]));
    }
    const bool is_line = shape.rank() == 3;
    const std::int64_t height = is_line ? 1 : shape[2];
    const std::int64_t width = is_line ? shape[2] : shape[3];
    const std::int64_t inputs = shape[0] / groups;
    const std::int64_t filters = shape[1];
    const ir::ValueId apart =
        layer.append("reshape", {{"shape", Integers{groups, inputs, filters, height, width}}}, {weights});
    const ir::ValueId moved = layer.append("transpose", {{"permutation", Integers{3, 4, 1, 0, 2}}}, {apart});
    return layer.append("reshape", {{"shape", Integers{height, width, inputs, groups * filters}}}, {moved});
}

ir::Results read_onnx_transposed(ir::LayerReader& layer) {
    const ir::ValueId input = layer.inputs().empty() ? ir::no_value : layer.inputs().front();
    if (input == ir::no_value) layer.fail("its first input is absent; it must be given");
    const ir::ValueId weights = constant_input(layer, 1, "weights");
    const std::size_t rank = layer.value(input).shape.rank();
    const ir::ValueId image = channels_last(layer, input);
    const ir::Shape shape = layer.value(weights).shape;
    if (shape.rank() != rank) {
        layer.fail(
            fmt::format("its weights are {}; they must have {} extents, as its input", to_text(shape), rank));
    }
    const std::size_t spatial = rank - 2;
    const auto strides = onnx_extents(layer, "strides", spatial, 1, 1);
    const auto dilations = onnx_extents(layer, "dilations", spatial, 1, 1);
    const auto extra = onnx_extents(layer, "output_padding", spatial, 0, 0);
    const std::string auto_pad = layer.text("auto_pad", "NOTSET");
    const bool has_pads = auto_pad == "NOTSET" || auto_pad.empty();
    const auto pads = has_pads ? onnx_extents(layer, "pads", 2 * spatial, 0, 0)
                               : std::vector<std::uint32_t>(2 * spatial, 0);
    std::vector<std::uint32_t> wanted;
    if (layer.has("output_shape")) {
        auto extents = layer.integers("output_shape");
        wanted = onnx_extents(layer, "output_shape", extents->size(), 0, 1);
        if (wanted.size() != spatial) {
            layer.fail("output_shape", fmt::format("it must be {} integers", spatial));
        }
    }
    if (!has_pads && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") {
        layer.fail("auto_pad", "it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
    }
    const ir::FeatureMap map = layer.map_of(image);
    Integers kernel{1, 1};
    Integers stride{1, 1};
    Integers dilation{1, 1};
    Integers cut{0, 0, 0, 0};
    for (std::size_t i = 0; i < spatial; ++i) {
        const std::size_t axis = 2 - spatial + i;
        const WrittenAxis written{axis == 0 ? map.height : map.width,
                                  shape[2 + i],
                                  strides[i],
                                  dilations[i],
                                  pads[i],
                                  pads[spatial + i]};
        const Cut sides =
            onnx_cut(written, extra[i],
                     wanted.empty() ? std::nullopt : std::optional<std::int64_t>(wanted[i]), auto_pad);
        kernel[axis] = shape[2 + i];
        stride[axis] = strides[i];
        dilation[axis] = dilations[i];
        cut[axis] = sides.before;
        cut[axis + 2] = sides.after;
    }
    if (layer.has("kernel_shape") &&
        !std::ranges::equal(onnx_kernel(layer, spatial), shape.extents().subspan(2))) {
        layer.fail("kernel_shape", fmt::format("its weights are {}", to_text(shape)));
    }
    const std::int64_t groups = onnx_extents(layer, "group", 1, 1, 1).front();
    const ir::ValueId last = transposed_kernel(layer, weights, groups);
    std::vector<ir::ValueId> inputs{image, last};
    if (layer.input_if_any(2)) inputs.push_back(constant_input(layer, 2, "bias"));
    const ir::ValueId result = layer.append(
        "transposed_convolution",
        {{"kernel", kernel}, {"stride", stride}, {"dilation", dilation}, {"cut", cut}, {"groups", groups}},
        std::move(inputs));
    return channels_first(layer, result, rank);
}

/// The rows (or columns) `phase`, `phase` + stride, ... of the result as those of a convolution: which
/// elements of the kernel take part, and the window over the input.
struct Phase {
    std::vector<std::int64_t> taps;  ///< in the order of the input
    std::int64_t dilation = 1;
    std::int64_t before = 0;  ///< padding; negative where rows of the input are left out
    std::int64_t after = 0;

    bool operator==(const Phase&) const = default;
};

/// `count`: rows of the phase, of which the last may lie behind those of the result.
Phase phase_of(const WrittenAxis& axis, std::int64_t phase, std::int64_t count) {
    // Row a of the phase is row stride * a + phase + before of all sums, and input row i adds to it by
    // element k if i = (stride * a + phase + before - k * dilation) / stride.
    const auto floor_divide = [](std::int64_t x, std::int64_t by) {
        return x >= 0 ? x / by : -((by - 1 - x) / by);
    };
    const std::int64_t first = floor_divide(phase + axis.before, axis.stride);
    const std::int64_t rest = phase + axis.before - first * axis.stride;
    Phase result;
    std::vector<std::int64_t> lags;  // how far behind row a the input row is
    for (std::int64_t k = axis.kernel; k-- > 0;) {
        if ((k * axis.dilation - rest) % axis.stride != 0) continue;
        result.taps.push_back(k);
        lags.push_back((k * axis.dilation - rest) / axis.stride - first);
    }
    if (result.taps.empty()) return result;
    if (lags.size() > 1) result.dilation = lags[0] - lags[1];
    result.before = lags.front();
    result.after = count - 1 - lags.back() - (axis.input - 1);
    // Windows that lie outside the input have no products.
    if (-result.before >= axis.input || -result.after >= axis.input) return {};
    return result;
}

/// Weights of the taps of a phase, in their order, with unknown elements if those of the kernel are.
std::vector<float> weights_of_phase(const ir::Value& kernel, const Phase& rows, const Phase& columns) {
    const std::span<const float> all = kernel.constant->values<float>();
    const std::size_t tap_elements = std::size_t{kernel.shape[2]} * kernel.shape[3];
    std::vector<float> weights;
    for (const std::int64_t row : rows.taps) {
        for (const std::int64_t column : columns.taps) {
            const std::size_t tap =
                static_cast<std::size_t>(row) * kernel.shape[1] + static_cast<std::size_t>(column);
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(tap * tap_elements);
            weights.insert(weights.end(), first, first + static_cast<std::ptrdiff_t>(tap_elements));
        }
    }
    return weights;
}

/// The convolution of a phase, or of several with the same window whose weights are given side by side.
ir::ValueId append_phase(WordsBuilder& builder, ir::ValueId x, ir::ValueId weights, const Phase& rows,
                         const Phase& columns, std::int64_t groups) {
    const ir::Shape shape = builder.shape_of(x);
    const auto left_out = [](std::int64_t padding) { return std::max<std::int64_t>(-padding, 0); };
    const ir::ValueId inside =
        builder.slice(x, {0, left_out(rows.before), left_out(columns.before), 0},
                      {1, shape[1] - left_out(rows.before) - left_out(rows.after),
                       shape[2] - left_out(columns.before) - left_out(columns.after), shape[3]});
    const auto padding = [](std::int64_t side) {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(side, 0));
    };
    const ir::Window window{.kernel_height = static_cast<std::uint32_t>(rows.taps.size()),
                            .kernel_width = static_cast<std::uint32_t>(columns.taps.size()),
                            .pad_top = padding(rows.before),
                            .pad_left = padding(columns.before),
                            .pad_bottom = padding(rows.after),
                            .pad_right = padding(columns.after),
                            .dilation_y = static_cast<std::uint32_t>(rows.dilation),
                            .dilation_x = static_cast<std::uint32_t>(columns.dilation)};
    std::vector<ir::NamedAttribute> attributes = order_attributes(builder);
    for (ir::NamedAttribute& attribute : ir::attributes_of(window))
        attributes.push_back(std::move(attribute));
    attributes.emplace_back("groups", groups);
    return append_words_product(builder, "convolution", std::move(attributes), inside, weights);
}

/// Blocks of `height` x `width` pixels from channels: channel (row * width + column) * channels + c of a
/// pixel becomes channel c of a pixel of its block.
ir::ValueId append_interleaving(WordsBuilder& builder, ir::ValueId blocks, std::int64_t height,
                                std::int64_t width) {
    if (height == 1 && width == 1) return blocks;
    if (height == width) return builder.append("depth_to_space", {{"block", height}}, {blocks});
    const ir::Shape shape = builder.shape_of(blocks);
    const auto extent = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
    const auto channels = extent(shape[3] / (height * width));
    const ir::ValueId apart =
        builder.reshape(blocks, {1, shape[1], shape[2], extent(height), extent(width), channels});
    const ir::ValueId moved =
        builder.append("transpose", {{"permutation", Integers{0, 1, 3, 2, 4, 5}}}, {apart});
    return builder.reshape(moved, {1, extent(shape[1] * height), extent(shape[2] * width), channels});
}

/// A convolution for each phase, and their interleaving.
ir::ValueId append_phases(const ir::Node& node, WordsBuilder& builder) {
    const ir::NodeView view = builder.view(node);
    const auto [rows, columns, groups] = written_geometry(view);
    const ir::FeatureMap result = view.output_map();
    const std::int64_t height = (result.height + rows.stride - 1) / rows.stride;
    const std::int64_t width = (result.width + columns.stride - 1) / columns.stride;
    const ir::ValueId given = builder.input_of(node, 0);
    const ir::ValueId x = builder.reshape(given, ir::image_shape(ir::feature_map(builder.shape_of(given))));
    const ir::Value kernel = builder.value(builder.input_of(node, 1));
    std::vector<std::pair<Phase, Phase>> phases;
    for (std::int64_t y = 0; y < rows.stride; ++y) {
        for (std::int64_t column = 0; column < columns.stride; ++column) {
            phases.emplace_back(phase_of(rows, y, height), phase_of(columns, column, width));
        }
    }
    const auto window_of = [](Phase phase) {
        for (std::int64_t& tap : phase.taps) tap = 0;
        return phase;
    };
    const auto constant = [&](const char* role, const ir::Shape& shape, std::vector<float> elements) {
        if (!kernel.constant->is_known()) return builder.unknown_constant(role, shape);
        return builder.constant(role, shape, std::move(elements));
    };
    const auto shape_with = [&](const std::pair<Phase, Phase>& phase, std::size_t filters) {
        return ir::Shape{static_cast<std::uint32_t>(phase.first.taps.size()),
                         static_cast<std::uint32_t>(phase.second.taps.size()), kernel.shape[2],
                         static_cast<std::uint32_t>(filters)};
    };
    const bool have_one_window = std::ranges::all_of(phases, [&](const auto& phase) {
        return window_of(phase.first) == window_of(phases.front().first) &&
               window_of(phase.second) == window_of(phases.front().second);
    });
    const std::size_t filters = kernel.shape[3];
    ir::ValueId blocks = 0;
    if (have_one_window && groups == 1) {
        // Filters of all phases side by side.
        std::vector<float> weights;
        if (kernel.constant->is_known()) {
            std::vector<std::vector<float>> parts;
            parts.reserve(phases.size());
            for (const auto& [y, column] : phases) parts.push_back(weights_of_phase(kernel, y, column));
            for (std::size_t row = 0; row < parts.front().size(); row += filters) {
                for (const std::vector<float>& part : parts) {
                    const auto first = part.begin() + static_cast<std::ptrdiff_t>(row);
                    weights.insert(weights.end(), first, first + static_cast<std::ptrdiff_t>(filters));
                }
            }
        }
        blocks = append_phase(
            builder, x, constant("weights", shape_with(phases.front(), filters * phases.size()), weights),
            phases.front().first, phases.front().second, 1);
    } else {
        std::vector<ir::ValueId> parts;
        for (const auto& phase : phases) {
            if (phase.first.taps.empty() || phase.second.taps.empty()) {
                const ir::Shape shape = ir::image_shape(
                    {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width), kernel.shape[3]});
                parts.push_back(builder.constant("zeros", shape, std::vector<float>(shape.elements(), 0.0F)));
                continue;
            }
            std::vector<float> weights;
            if (kernel.constant->is_known()) weights = weights_of_phase(kernel, phase.first, phase.second);
            parts.push_back(append_phase(builder, x, constant("weights", shape_with(phase, filters), weights),
                                         phase.first, phase.second, groups));
        }
        blocks =
            parts.size() == 1 ? parts.front() : builder.append("concat", {{"axis", std::int64_t{3}}}, parts);
    }
    const ir::ValueId all = append_interleaving(builder, blocks, rows.stride, columns.stride);
    return builder.slice(all, {0, 0, 0, 0}, {1, result.height, result.width, result.channels});
}

class TransposedConvolution final : public WeightedOperator {
public:
    std::string_view name() const override { return "transposed_convolution"; }
    std::string_view summary() const override {
        return "Transposed convolution: each element of the input adds its multiple of the kernel to the "
               "result, `stride` apart. Weights: [kernel row][kernel column][input channel of the "
               "group][filter]; optional bias: [filter].";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        constexpr double most = std::numeric_limits<std::int32_t>::max();
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "kernel",
             .meaning = "height and width of the window that an element writes",
             .absent = Integers{1, 1},
             .minimum = 1,
             .maximum = most,
             .size = 2},
            {.name = "stride",
             .meaning = "rows and columns from one window to the next",
             .absent = Integers{1, 1},
             .minimum = 1,
             .maximum = most,
             .size = 2},
            {.name = "dilation",
             .meaning = "rows and columns from one element of the kernel to the next",
             .absent = Integers{1, 1},
             .minimum = 1,
             .maximum = most,
             .size = 2},
            {.name = "cut",
             .meaning = "rows and columns cut off the sums: top, left, bottom, right; where negative, rows "
                        "and columns without sums are added",
             .absent = Integers{0, 0, 0, 0},
             .minimum = -most,
             .maximum = most,
             .size = 4},
            {.name = "groups",
             .meaning = "parts into which the input channels, and the filters, are divided",
             .absent = std::int64_t{1},
             .minimum = 1,
             .maximum = most},
            clamp_attribute(),
            wide_sums_attribute(),
            rounding_attribute(),
            real_multiplier_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKey> keys = onnx_window_keys();
        keys.insert(keys.end(), {{"output_padding", "`cut`, at the bottom and on the right"},
                                 {"output_shape", "`cut`"},
                                 {"group", "`groups`"}});
        std::vector<ir::LayerKind> kinds{{ir::Format::Onnx, "ConvTranspose", keys, read_onnx_transposed},
                                         tflite_transposed_convolution()};
        for (ir::LayerKind& kind : keras_transposed_convolutions()) kinds.push_back(std::move(kind));
        return kinds;
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.data_inputs() != 1) node.require_inputs(1);
        const ir::Value* const weights = node.parameter(0);
        constexpr std::size_t weights_rank = 4;
        if (weights == nullptr || weights->shape.rank() != weights_rank) {
            throw ModelError("it must have weights of 4 extents");
        }
        const ir::Shape& kernel = weights->shape;
        const WrittenGeometry geometry = written_geometry(node);
        if (kernel[0] != geometry.rows.kernel || kernel[1] != geometry.columns.kernel) {
            throw ModelError(fmt::format("its weights are {}; its kernel is {}x{}", to_text(kernel),
                                         geometry.rows.kernel, geometry.columns.kernel));
        }
        const std::uint32_t channels = node.input_map().channels;
        const auto groups = static_cast<std::uint64_t>(geometry.groups);
        if (kernel[2] * groups != channels || kernel[3] % groups != 0) {
            throw ModelError(fmt::format("its input has {} channels; its weights are {}, in {} groups",
                                         channels, to_text(kernel), groups));
        }
        const std::uint64_t filters = kernel[3];
        check_bias(node, filters);
        constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
        const std::array<std::int64_t, 3> extents{geometry.rows.result(), geometry.columns.result(),
                                                  static_cast<std::int64_t>(filters)};
        for (const std::int64_t extent : extents) {
            if (extent >= 1 && extent <= most) continue;
            throw ModelError(
                fmt::format("its result is {} by {} with {} channels; each must be at least 1 "
                            "and less than 2^32",
                            extents[0], extents[1], extents[2]));
        }
        return {
            ir::image_shape({static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
                             static_cast<std::uint32_t>(extents[2])},
                            node.batch())};
    }
    std::uint64_t macs(const ir::NodeView& node) const override {
        const ir::FeatureMap input = node.input_map();
        return std::uint64_t{input.height} * input.width * weight_count(node);
    }
    Placement placement() const override {
        return {.where = "host", .formats = "float32; uint8, int8 or int16, with int8 weights"};
    }
    /// The host computes it in float32.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }

    void execute(const IntegerCall& call) const override {
        const WrittenGeometry geometry = written_geometry(call.node);
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const SumRounding rounding(call.node);
        const bool is_wide = has_wide_sums(call.node.node());
        const std::int32_t zero_point = encoding_of(call.node.input()).zero_point;
        const std::size_t channels = result.channels;
        std::vector<std::int32_t> bias;
        rounding.begin(bias);
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const std::int32_t* const pixels = call.inputs[0] + image * input.elements();
            std::int32_t* const output = call.output + image * result.elements();
            std::vector<std::int32_t> numbers(pixels, pixels + input.elements());
            for (std::int32_t& number : numbers) number -= zero_point;
            if (is_wide) {
                const SplitNumbers parts = split(numbers);
                const std::vector<std::int32_t> upper = sums_of(call.node, geometry, parts.upper);
                const std::vector<std::int32_t> lower = sums_of(call.node, geometry, parts.lower);
                for (std::size_t first = 0; first < upper.size(); first += channels) {
                    rounding.store_wide(slice_of(upper, first, channels), slice_of(lower, first, channels),
                                        output + first);
                }
                continue;
            }
            const std::vector<std::int32_t> sums = sums_of(call.node, geometry, numbers);
            for (std::size_t first = 0; first < sums.size(); first += channels) {
                std::vector<std::int32_t> pixel = slice_of(sums, first, channels);
                for (std::size_t c = 0; c < channels; ++c) pixel[c] = wrapping_add(pixel[c], bias[c]);
                rounding.store(pixel, output + first);
            }
        }
    }

protected:
    ir::ValueId words_product(const ir::Node& node, WordsBuilder& builder) const override {
        if (!builder.view(node).parameter(0)->constant) {
            WordsBuilder::fail(node, "another layer computes its weights; a tensor core needs constant ones");
        }
        return append_phases(node, builder);
    }

    void evaluate_products(const FloatCall& call) const override {
        const WrittenGeometry geometry = written_geometry(call.node);
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Shape& kernel = call.node.parameter(0)->shape;
        const float* const weights = call.parameter(0);
        const float* const bias = call.parameter(1);
        const auto groups = static_cast<std::size_t>(geometry.groups);
        const std::size_t own_channels = input.channels / groups;
        const std::size_t own_filters = kernel[3] / groups;
        const std::size_t pixels = std::size_t{input.height} * input.width;
        // The products of all pixels of an image with one element of the kernel, one group at a time.
        std::vector<float> own(pixels * own_channels);
        std::vector<float> own_weights(own_channels * own_filters);
        std::vector<float> products(pixels * own_filters);
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const float* const from = call.inputs[0] + image * input.elements();
            float* const to = call.output + image * result.elements();
            std::fill_n(to, result.elements(), 0.0F);
            for (std::size_t group = 0; group < groups; ++group) {
                for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
                    std::copy_n(from + pixel * input.channels + group * own_channels, own_channels,
                                own.data() + pixel * own_channels);
                }
                for (std::size_t tap = 0; tap < std::size_t{kernel[0]} * kernel[1]; ++tap) {
                    for (std::size_t c = 0; c < own_channels; ++c) {
                        std::copy_n(weights + (tap * own_channels + c) * kernel[3] + group * own_filters,
                                    own_filters, own_weights.data() + c * own_filters);
                    }
                    multiply(own.data(), own_weights.data(), products.data(), pixels, own_filters,
                             own_channels);
                    add_products(geometry, result, tap, products.data(), to + group * own_filters,
                                 own_filters);
                }
            }
            add_bias(to, bias, std::size_t{result.height} * result.width, result.channels);
        }
    }

    std::uint64_t met_elements(const ir::NodeView& /*node*/, std::size_t /*input*/) const override {
        throw std::logic_error("the chip computes no transposed convolution");
    }

private:
    static std::vector<std::int32_t> slice_of(const std::vector<std::int32_t>& sums, std::size_t first,
                                              std::size_t count) {
        const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(first);
        return {begin, begin + static_cast<std::ptrdiff_t>(count)};
    }

    /// The sums of an image, without the bias.
    static std::vector<std::int32_t> sums_of(const ir::NodeView& node, const WrittenGeometry& geometry,
                                             const std::vector<std::int32_t>& numbers) {
        const ir::FeatureMap input = node.input_map();
        const ir::FeatureMap result = node.output_map();
        const std::span<const std::int8_t> weights = known_weights(node);
        const std::int32_t of_weights = weight_zero_point(node);
        const auto groups = static_cast<std::size_t>(geometry.groups);
        const std::size_t own_channels = input.channels / groups;
        const std::size_t filters = result.channels;
        std::vector<std::int32_t> sums(result.elements(), 0);
        for (std::int64_t y = 0; y < input.height; ++y) {
            for (std::int64_t x = 0; x < input.width; ++x) {
                const std::int32_t* const pixel =
                    numbers.data() + static_cast<std::size_t>(y * input.width + x) * input.channels;
                for_each_written(geometry, result, y, x, [&](std::size_t tap, std::size_t written) {
                    for (std::size_t f = 0; f < filters; ++f) {
                        const std::size_t first = f / (filters / groups) * own_channels;
                        std::int32_t& sum = sums[written * filters + f];
                        for (std::size_t c = 0; c < own_channels; ++c) {
                            const std::int8_t weight = weights[(tap * own_channels + c) * filters + f];
                            sum = wrap(sum + std::int64_t{pixel[first + c]} * (weight - of_weights));
                        }
                    }
                });
            }
        }
        return sums;
    }

    /// Calls visit(element of the kernel, pixel of the result) for each pixel that a pixel of the input adds
    /// to.
    template <typename Visit>
    static void for_each_written(const WrittenGeometry& geometry, const ir::FeatureMap& result,
                                 std::int64_t y, std::int64_t x, const Visit& visit) {
        for (std::int64_t i = 0; i < geometry.rows.kernel; ++i) {
            const std::int64_t row =
                y * geometry.rows.stride + i * geometry.rows.dilation - geometry.rows.before;
            if (row < 0 || row >= result.height) continue;
            for (std::int64_t j = 0; j < geometry.columns.kernel; ++j) {
                const std::int64_t column =
                    x * geometry.columns.stride + j * geometry.columns.dilation - geometry.columns.before;
                if (column < 0 || column >= result.width) continue;
                visit(static_cast<std::size_t>(i * geometry.columns.kernel + j),
                      static_cast<std::size_t>(row * result.width + column));
            }
        }
    }

    /// Adds the products with one element of the kernel where they belong.
    static void add_products(const WrittenGeometry& geometry, const ir::FeatureMap& result, std::size_t tap,
                             const float* products, float* to, std::size_t filters) {
        const auto kernel_row = static_cast<std::int64_t>(tap) / geometry.columns.kernel;
        const auto kernel_column = static_cast<std::int64_t>(tap) % geometry.columns.kernel;
        for (std::int64_t y = 0; y < geometry.rows.input; ++y) {
            const std::int64_t row =
                y * geometry.rows.stride + kernel_row * geometry.rows.dilation - geometry.rows.before;
            for (std::int64_t x = 0; x < geometry.columns.input; ++x, products += filters) {
                const std::int64_t column = x * geometry.columns.stride +
                                            kernel_column * geometry.columns.dilation -
                                            geometry.columns.before;
                if (row < 0 || row >= result.height || column < 0 || column >= result.width) continue;
                float* const sums =
                    to + static_cast<std::size_t>(row * result.width + column) * result.channels;
                for (std::size_t f = 0; f < filters; ++f) sums[f] += products[f];
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_transposed_convolution() {
    return std::make_unique<TransposedConvolution>();
}

}  // namespace systole::operators
