// The tensor with other extents: each element of the result is made of the nearest ones along each axis.
#include "compiler/operators/resize/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/message_text.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/resize/coordinates.h"
#include "compiler/operators/resize/layers.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;
using Taps = std::vector<std::vector<Tap>>;

/// Resizes one axis of a packed tensor.
template <typename Number, typename Combine>
std::vector<Number> resized_axis(const std::vector<Number>& from, std::size_t outer, std::size_t extent,
                                 std::size_t inner, const Taps& taps, const Combine& combine) {
    std::vector<Number> to(outer * taps.size() * inner);
    for (std::size_t i = 0; i < outer; ++i) {
        for (std::size_t k = 0; k < taps.size(); ++k) {
            combine(from.data() + i * extent * inner, taps[k], inner,
                    to.data() + (i * taps.size() + k) * inner);
        }
    }
    return to;
}

/// TFLite's interpolation of int8 and int16, with 10 fractional bits: the place and the elements around it.
struct FixedPlace {
    std::int32_t place = 0;
    std::int32_t lower = 0;
    std::int32_t upper = 0;
};

constexpr std::int32_t place_one = 1 << 10;

FixedPlace fixed_place(const AxisResize& axis, std::size_t element) {
    const auto input = static_cast<std::int32_t>(axis.input);
    const auto output = static_cast<std::int32_t>(axis.output);
    std::int32_t step = (place_one * input + output / 2) / output;
    if (axis.coordinates == "align_corners" && output > 1) {
        step = (place_one * (input - 1) + (output - 1) / 2) / (output - 1);
    }
    std::int32_t place = static_cast<std::int32_t>(element) * step;
    if (axis.coordinates == "half_pixel") place += step / 2 - place_one / 2;
    // A step that was rounded up may lead beyond the last element, where TFLite's kernel reads what lies
    // there.
    return {place, std::clamp(place / place_one, 0, input - 1),
            std::min((place + place_one - 1) / place_one, input - 1)};
}

/// The same in float32, of uint8 and float32.
struct FloatPlace {
    float place = 0.0F;
    std::int32_t lower = 0;
    std::int32_t upper = 0;
};

FloatPlace float_place(const AxisResize& axis, std::size_t element) {
    const auto input = static_cast<std::int32_t>(axis.input);
    float step = static_cast<float>(axis.input) / static_cast<float>(axis.output);
    if (axis.coordinates == "align_corners" && axis.output > 1) {
        step = static_cast<float>(axis.input - 1) / static_cast<float>(axis.output - 1);
    }
    const auto x = static_cast<float>(element);
    const float place = axis.coordinates == "half_pixel" ? (x + 0.5F) * step - 0.5F : x * step;
    return {place, std::clamp(static_cast<std::int32_t>(std::floor(place)), 0, input - 1),
            std::min(static_cast<std::int32_t>(std::ceil(place)), input - 1)};
}

std::int32_t interpolated(const std::array<std::int32_t, 4>& corners, const FixedPlace& y,
                          const FixedPlace& x) {
    const std::int64_t up = y.place - place_one * y.lower;
    const std::int64_t right = x.place - place_one * x.lower;
    const std::int64_t down = place_one - up;
    const std::int64_t left = place_one - right;
    const std::int64_t sum = corners[0] * down * left + corners[1] * up * left + corners[2] * down * right +
                             corners[3] * up * right;
    constexpr std::int64_t one = std::int64_t{place_one} * place_one;
    return static_cast<std::int32_t>((sum + (sum > 0 ? one / 2 : -one / 2)) / one);
}

float interpolated(const std::array<float, 4>& corners, const FloatPlace& y, const FloatPlace& x) {
    const float up = y.place - static_cast<float>(y.lower);
    const float right = x.place - static_cast<float>(x.lower);
    return corners[0] * (1 - up) * (1 - right) + corners[1] * up * (1 - right) +
           corners[2] * (1 - up) * right + corners[3] * up * right;
}

std::int32_t interpolated(const std::array<std::int32_t, 4>& corners, const FloatPlace& y,
                          const FloatPlace& x) {
    std::array<float, 4> reals{};
    std::ranges::transform(corners, reals.begin(),
                           [](std::int32_t corner) { return static_cast<float>(corner); });
    // TFLite's kernel truncates after the half.
    return static_cast<std::int32_t>(std::trunc(interpolated(reals, y, x) + 0.5F));
}

/// `scales`: the attribute.
AxisResize axis_resize_of(const ir::NodeView& node, std::size_t axis, const std::vector<double>& scales) {
    return {.input = node.input().shape[axis],
            .output = node.output().shape[axis],
            .scale = scales.empty() ? 0.0F : static_cast<float>(scales[axis]),
            .is_exact = node.node().integer("exact") != 0,
            .coordinates = node.node().text("coordinates"),
            .nearest = node.node().text("nearest"),
            .cubic = static_cast<float>(node.node().real("cubic")),
            .exclude_outside = node.node().integer("exclude_outside") != 0};
}

/// Of `scales` among the attributes.
constexpr std::size_t scales_position = 4;

const std::vector<double>& scales_of(const ir::NodeView& node) {
    return std::get<std::vector<double>>(node.node().attributes.at(scales_position));
}

/// Height and width of images between others.
bool resizes_images(const ir::NodeView& node) {
    const ir::Shape& from = node.input().shape;
    const ir::Shape& to = node.output().shape;
    return from.rank() == 4 && from[0] == to[0] && from[3] == to[3];
}

/// The elements along an axis as sums of weighted ones, from the first tap to the last.
ir::ValueId append_interpolation(WordsBuilder& builder, ir::ValueId x, std::size_t axis,
                                 const std::vector<std::vector<Tap>>& elements) {
    std::size_t most = 0;
    for (const std::vector<Tap>& taps : elements) most = std::max(most, taps.size());
    std::vector<std::uint32_t> by_element(builder.shape_of(x).rank() - axis, 1);
    by_element.front() = static_cast<std::uint32_t>(elements.size());
    std::optional<ir::ValueId> sum;
    for (std::size_t i = 0; i < most; ++i) {
        std::vector<std::int64_t> sources;
        std::vector<float> weights;
        for (const std::vector<Tap>& taps : elements) {
            // Where there are fewer taps, one counts for nothing.
            sources.push_back(static_cast<std::int64_t>(taps[i < taps.size() ? i : 0].source));
            weights.push_back(i < taps.size() ? taps[i].weight : 0.0F);
        }
        const ir::ValueId taken = builder.take(x, axis, sources);
        const ir::ValueId factors = builder.constant("weights", ir::Shape(by_element), std::move(weights));
        sum = sum ? builder.chain({*sum, taken, factors},
                                  [](std::span<const Word> in) { return in[0] + in[1] * in[2]; })
                  : builder.chain({taken, factors}, [](std::span<const Word> in) { return in[0] * in[1]; });
    }
    return sum.value();
}

class Resize final : public Operator {
public:
    std::string_view name() const override { return "resize"; }
    std::string_view summary() const override {
        return "The tensor with other extents: each element of the result is made of the nearest ones along "
               "each "
               "axis.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "shape",
             .meaning = "the shape of the result",
             .absent = Integers{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::int32_t>::max()},
            {.name = "mode", .meaning = "nearest, linear or cubic", .absent = std::string("nearest")},
            {.name = "coordinates",
             .meaning = "the place in the input of an element of the result: " + joined(coordinate_modes()),
             .absent = std::string("asymmetric")},
            {.name = "nearest",
             .meaning = "the element at a place between two: " + joined(nearest_modes()),
             .absent = std::string("floor")},
            {.name = "scales",
             .meaning = "result by input, by axis, in float32, where that is not the quotient of the extents",
             .absent = std::vector<double>{},
             .minimum = 0},
            {.name = "cubic", .meaning = "the coefficient of cubic interpolation", .absent = -0.75},
            {.name = "exclude_outside",
             .meaning = "1: elements outside the input do not count in cubic interpolation",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1},
            {.name = "exact",
             .meaning = "1: places in the input are exact, as in ONNX since operator set 11; 0: they are "
                        "computed in float32, as in TFLite",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override { return resize_layers(); }

    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        PermutedNode moved = permuted_lists(node, axes, {"shape"});
        if (!scales_of(node).empty())
            moved.attributes.at(scales_position) = moved_list(axes, scales_of(node));
        return moved;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        ir::Node one = node.node();
        Integers shape = one.integers("shape");
        // An axis whose extent stays is not resized, unless the file says so by its scale.
        if (shape.front() != node.input().shape[0] || is_resized(axis_resize(node, 0))) return std::nullopt;
        shape.front() = 1;
        one.set("shape", shape);
        return kept_batch(ir::NodeView(node.graph(), one), has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ir::Shape& shape = node.input().shape;
        const Integers& extents = node.node().integers("shape");
        const std::size_t scales = scales_of(node).size();
        if (extents.size() != shape.rank() || (scales != 0 && scales != shape.rank())) {
            throw ModelError(fmt::format("its shape and its scales must have {} numbers", shape.rank()));
        }
        require_scales(node);
        require_one_of(node.node().text("mode"), {"nearest", "linear", "cubic"});
        require_one_of(node.node().text("coordinates"), coordinate_modes());
        require_one_of(node.node().text("nearest"), nearest_modes());
        if (shape.elements() == 0) {
            throw ModelError(fmt::format("it resizes {}, which has no elements", to_text(shape)));
        }
        std::vector<std::uint32_t> result;
        for (const std::int64_t extent : extents) result.push_back(static_cast<std::uint32_t>(extent));
        return {ir::Shape(result)};
    }
    Placement placement() const override {
        return {.where = "host", .formats = "float32; nearest: all; linear: quantized integers"};
    }
    void check_types(const ir::NodeView& node) const override {
        require_one_kind(node);
        if (node.input().type == DataType::Float32 || node.node().text("mode") == "nearest") return;
        if (!is_integer(node.input().type) || node.node().text("mode") != "linear" || !resizes_images(node) ||
            is_exact(node)) {
            throw ModelError(
                "of integers, it resizes height and width of images, to the nearest or, in TFLite, linearly");
        }
    }
    /// The nearest elements stay as they are stored.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        if (node.text("mode") == "nearest") return quantize_moved(node, quantizer);
        quantizer.add_real(node);
    }

    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        if (node.text("mode") == "nearest") return builder.copy(node);
        const ir::NodeView view = builder.view(node);
        const bool is_cubic = node.text("mode") == "cubic";
        ir::ValueId x = builder.input_of(node);
        for (std::size_t axis = 0; axis < view.input().shape.rank(); ++axis) {
            const AxisResize resize = axis_resize(view, axis);
            if (!is_resized(resize)) continue;
            x = append_interpolation(builder, x, axis, is_cubic ? cubic_taps(resize) : linear_taps(resize));
        }
        builder.set(node.output(), x);
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input();
        const std::size_t from_bytes = input.constant ? 0 : input.shape.elements() * bytes_of(input.type);
        const std::size_t to_bytes = call.node.output().shape.elements() * bytes_of(input.type);
        for (std::size_t image = 0; image < call.batch; ++image) {
            const std::uint8_t* const from = call.input<std::uint8_t>(0) + image * from_bytes;
            std::uint8_t* const to = call.output<std::uint8_t>() + image * to_bytes;
            if (call.node.node().text("mode") == "nearest") {
                take_nearest(call.node, from, to);
            } else if (input.type == DataType::Float32 && interpolates_as_tflite(call.node)) {
                interpolate_images<float, FloatPlace>(call.node, reinterpret_cast<const float*>(from),
                                                      reinterpret_cast<float*>(to), float_place);
            } else if (input.type == DataType::Float32) {
                interpolate_floats(call.node, reinterpret_cast<const float*>(from),
                                   reinterpret_cast<float*>(to));
            } else if (input.type == DataType::Uint8) {
                interpolate_integers<FloatPlace>(call.node, from, to, float_place);
            } else {
                interpolate_integers<FixedPlace>(call.node, from, to, fixed_place);
            }
        }
    }

private:
    static bool is_exact(const ir::NodeView& node) { return node.node().integer("exact") != 0; }
    /// Whether the node is a linear one as TFLite has it; floats then are combined in its kernel's order.
    static bool interpolates_as_tflite(const ir::NodeView& node) {
        return node.node().text("mode") == "linear" && !is_exact(node) && scales_of(node).empty() &&
               resizes_images(node);
    }
    static void require_scales(const ir::NodeView& node) {
        if (!is_exact(node)) return;
        for (const double scale : scales_of(node)) {
            if (scale >= least_exact_scale && scale <= most_exact_scale) continue;
            throw ModelError(fmt::format("a scale is {}; it must be from 2^-32 to 2^32", scale));
        }
    }
    static void require_one_of(const std::string& word, const std::vector<std::string>& known) {
        if (std::ranges::find(known, word) != known.end()) return;
        throw ModelError(fmt::format("{} must be one of {}", in_quotes(word), joined(known)));
    }

    static AxisResize axis_resize(const ir::NodeView& node, std::size_t axis) {
        return axis_resize_of(node, axis, scales_of(node));
    }
    static bool is_resized(const AxisResize& axis) {
        return axis.input != axis.output || (axis.scale != 0.0F && axis.scale != 1.0F);
    }

    static void take_nearest(const ir::NodeView& node, const std::uint8_t* from, std::uint8_t* to) {
        const ir::Shape& shape = node.input().shape;
        std::vector<std::uint8_t> bytes(from, from + shape.elements() * bytes_of(node.input().type));
        for_each_resized_axis(node, bytes_of(node.input().type),
                              [&](const AxisResize& axis, std::size_t outer, std::size_t inner) {
                                  bytes = resized_axis(
                                      bytes, outer, axis.input, inner, nearest_taps(axis),
                                      [](const std::uint8_t* line, const std::vector<Tap>& taps,
                                         std::size_t count, std::uint8_t* result) {
                                          std::memcpy(result, line + taps.front().source * count, count);
                                      });
                              });
        std::ranges::copy(bytes, to);
    }

    static void interpolate_floats(const ir::NodeView& node, const float* from, float* to) {
        std::vector<float> numbers(from, from + node.input().shape.elements());
        const bool is_cubic = node.node().text("mode") == "cubic";
        for_each_resized_axis(node, 1, [&](const AxisResize& axis, std::size_t outer, std::size_t inner) {
            numbers = resized_axis(
                numbers, outer, axis.input, inner, is_cubic ? cubic_taps(axis) : linear_taps(axis),
                [](const float* line, const std::vector<Tap>& taps, std::size_t count, float* result) {
                    for (const Tap& tap : taps) {
                        const float* const source = line + tap.source * count;
                        for (std::size_t i = 0; i < count; ++i) result[i] += source[i] * tap.weight;
                    }
                });
        });
        std::ranges::copy(numbers, to);
    }

    /// Calls visit(axis, outer, inner) for each axis that changes, with the extents that the axes before it
    /// have in the result and those behind it in the input.
    template <typename Visit>
    static void for_each_resized_axis(const ir::NodeView& node, std::size_t element, const Visit& visit) {
        const ir::Shape& shape = node.input().shape;
        std::size_t outer = 1;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            std::size_t inner = element;
            for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
            const AxisResize resize = axis_resize(node, axis);
            if (is_resized(resize)) visit(resize, outer, inner);
            outer *= resize.output;
        }
    }

    template <typename Place, typename FindPlace>
    static void interpolate_integers(const ir::NodeView& node, const std::uint8_t* from, std::uint8_t* to,
                                     const FindPlace& find_place) {
        std::vector<std::int32_t> numbers(node.input().shape.elements());
        widen(from, node.input().type, numbers);
        std::vector<std::int32_t> resized(node.output().shape.elements());
        interpolate_images<std::int32_t, Place>(node, numbers.data(), resized.data(), find_place);
        narrow(resized, node.input().type, to);
    }

    /// As TFLite's kernels: each element from the four around its place.
    template <typename Number, typename Place, typename FindPlace>
    static void interpolate_images(const ir::NodeView& node, const Number* from, Number* to,
                                   const FindPlace& find_place) {
        const ir::Shape& input = node.input().shape;
        const ir::Shape& result = node.output().shape;
        const AxisResize vertical = axis_resize(node, 1);
        const AxisResize horizontal = axis_resize(node, 2);
        const std::size_t channels = input[3];
        for (std::size_t batch = 0; batch < input[0]; ++batch) {
            const Number* const image = from + batch * input[1] * input[2] * channels;
            for (std::size_t row = 0; row < result[1]; ++row) {
                const Place y = find_place(vertical, row);
                for (std::size_t column = 0; column < result[2]; ++column) {
                    const Place x = find_place(horizontal, column);
                    const auto pixel = [&](std::int32_t pixel_y, std::int32_t pixel_x) {
                        return image + (static_cast<std::size_t>(pixel_y) * input[2] +
                                        static_cast<std::size_t>(pixel_x)) *
                                           channels;
                    };
                    const std::array corners{pixel(y.lower, x.lower), pixel(y.upper, x.lower),
                                             pixel(y.lower, x.upper), pixel(y.upper, x.upper)};
                    for (std::size_t c = 0; c < channels; ++c) {
                        const std::array<Number, 4> numbers{corners[0][c], corners[1][c], corners[2][c],
                                                            corners[3][c]};
                        *to++ = interpolated(numbers, y, x);
                    }
                }
            }
        }
    }
};

}  // namespace

std::vector<std::size_t> nearest_elements(const ir::NodeView& node, std::size_t axis) {
    std::vector<std::size_t> elements;
    for (const std::vector<Tap>& taps : nearest_taps(axis_resize_of(node, axis, scales_of(node)))) {
        elements.push_back(taps.front().source);
    }
    return elements;
}

std::unique_ptr<ir::Operator> make_resize() {
    return std::make_unique<Resize>();
}

}  // namespace systole::operators
