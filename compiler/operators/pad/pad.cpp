// Elements added before and after each axis: a constant number, or elements of the tensor.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/stored_integers.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/float_values.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t no_source = -1;

bool is_image_border(const ir::Shape& shape, std::uint32_t batch, const Integers& before,
                     const Integers& after) {
    constexpr std::size_t image_rank = 4;
    return shape.rank() == image_rank && shape[0] == batch && before[0] == 0 && after[0] == 0 &&
           before[3] == 0 && after[3] == 0;
}

/// Cuts off elements where a border is negative, as ONNX allows.
ir::ValueId cut_off(ir::LayerReader& layer, ir::ValueId input, Integers& before, Integers& after) {
    const ir::Shape shape = layer.value(input).shape;
    Integers first;
    Integers count;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        first.push_back(std::max<std::int64_t>(0, -before[axis]));
        count.push_back(shape[axis] - first.back() - std::max<std::int64_t>(0, -after[axis]));
        if (count.back() < (shape[axis] == 0 ? 0 : 1))
            layer.fail(fmt::format("its padding removes all of axis {}", axis));
        before[axis] = std::max<std::int64_t>(0, before[axis]);
        after[axis] = std::max<std::int64_t>(0, after[axis]);
    }
    if (count == extents_of(shape)) return input;
    return append_same(layer, "strided_slice",
                       {{"first", first}, {"step", Integers(shape.rank(), 1)}, {"count", count}}, {input});
}

ir::Results append_pad(ir::LayerReader& layer, ir::ValueId input, Integers before, Integers after,
                       const std::string& mode, double value) {
    const std::size_t rank = layer.value(input).shape.rank();
    if (before.size() != rank || after.size() != rank) {
        layer.fail(fmt::format("its padding has {} and {} numbers; it must have one for each axis of {}",
                               before.size(), after.size(), to_text(layer.value(input).shape)));
    }
    input = cut_off(layer, input, before, after);
    if (before == Integers(rank, 0) && after == before) return input;
    const ir::Value& padded = layer.value(input);
    const bool is_activation = padded.type == DataType::Float32 || padded.quantization;
    if (mode == "constant" && value == 0.0 && is_activation &&
        is_image_border(padded.shape, padded.constant ? 1 : layer.batch(), before, after)) {
        return append_same(layer, "zero_padding",
                           {{"padding", Integers{before[1], before[2], after[1], after[2]}}}, {input});
    }
    return append_same(layer, "pad", {{"before", before}, {"after", after}, {"mode", mode}, {"value", value}},
                       {input});
}

/// ONNX: pads and value are inputs, or attributes before operator set 11. All begins come before all ends.
ir::Results read_onnx_pad(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const std::size_t rank = layer.value(input).shape.rank();
    const std::string mode = layer.text("mode", "constant");
    if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
        layer.fail("mode", "it must be constant, reflect, edge or wrap");
    }
    const auto pads = layer.has("pads") ? integers_of(layer, "pads") : constant_integers_if_any(layer, 1);
    if (!pads || pads->size() % 2 != 0) layer.fail("its pads must have two numbers for each axis");
    const auto value = constant_reals_if_any(layer, 2);
    const double number = value && !value->empty() ? value->front() : double{layer.number("value", 0.0F)};
    const auto half = static_cast<std::ptrdiff_t>(pads->size() / 2);
    const Integers before(pads->begin(), pads->begin() + half);
    const Integers after(pads->begin() + half, pads->end());
    if (const auto axes = constant_integers_if_any(layer, 3)) {
        Integers all_before(rank, 0);
        Integers all_after(rank, 0);
        if (axes->size() != before.size()) layer.fail("its pads must have two numbers for each of its axes");
        for (std::size_t i = 0; i < axes->size(); ++i) {
            const std::size_t axis = axis_in(layer, (*axes)[i], rank);
            all_before[axis] = before[i];
            all_after[axis] = after[i];
        }
        return append_pad(layer, input, all_before, all_after, mode, number);
    }
    return append_pad(layer, input, before, after, mode, number);
}

/// TFLite: the numbers before and after each axis are neighbours.
ir::Results read_tflite_pad(ir::LayerReader& layer, const std::string& mode) {
    const ir::ValueId input = input_of(layer, 0);
    const Integers pads = constant_integers(layer, 1);
    Integers before;
    Integers after;
    for (std::size_t i = 0; i + 1 < pads.size(); i += 2) {
        before.push_back(pads[i]);
        after.push_back(pads[i + 1]);
    }
    const auto value = mode == "constant" ? constant_reals_if_any(layer, 2) : std::nullopt;
    return append_pad(layer, input, before, after, mode, value && !value->empty() ? value->front() : 0.0);
}

ir::Results read_tflite_mirror_pad(ir::LayerReader& layer) {
    const std::string mode = layer.text("mode", "REFLECT");
    if (mode != "REFLECT" && mode != "SYMMETRIC") layer.fail("mode", "it must be REFLECT or SYMMETRIC");
    return read_tflite_pad(layer, mode == "REFLECT" ? "reflect" : "symmetric");
}

class Pad final : public Operator {
public:
    std::string_view name() const override { return "pad"; }
    std::string_view summary() const override {
        return "Elements added before and after each axis: a constant number, or elements of the tensor.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            sides_attribute("before", "elements before each axis"),
            sides_attribute("after", "elements after each axis"),
            {.name = "mode",
             .meaning =
                 "constant; reflect: mirrored at the last element; symmetric: mirrored behind it; edge: the "
                 "last element; wrap: from the other end",
             .absent = std::string("constant")},
            {.name = "value", .meaning = "the number that is added, if constant", .absent = 0.0}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "Pad",
                 .keys = {{"mode", "`mode`"},
                          {"pads", "`before` and `after`, before operator set 11"},
                          {"value", "`value`, before operator set 11"}},
                 .build = read_onnx_pad},
                {.format = ir::Format::Tflite,
                 .name = "PAD",
                 .build = [](ir::LayerReader& layer) { return read_tflite_pad(layer, "constant"); }},
                {.format = ir::Format::Tflite,
                 .name = "PADV2",
                 .build = [](ir::LayerReader& layer) { return read_tflite_pad(layer, "constant"); }},
                {.format = ir::Format::Tflite,
                 .name = "MIRROR_PAD",
                 .keys = {{"mode", "`mode`: REFLECT or SYMMETRIC"}},
                 .build = read_tflite_mirror_pad}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lists(node, axes, {"before", "after"});
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        const bool keeps =
            node.node().integers("before").front() == 0 && node.node().integers("after").front() == 0;
        return kept_batch(node, has_batch, keeps);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ir::Shape& shape = node.input().shape;
        const Integers& before = node.node().integers("before");
        const Integers& after = node.node().integers("after");
        if (before.size() != shape.rank() || after.size() != shape.rank()) {
            throw ModelError(fmt::format("its before and after must have {} numbers", shape.rank()));
        }
        const std::string& mode = node.node().text("mode");
        const std::vector<std::string> modes{"constant", "reflect", "symmetric", "edge", "wrap"};
        if (std::ranges::find(modes, mode) == modes.end()) {
            throw ModelError(
                fmt::format("its mode is {}; it must be constant, reflect, symmetric, edge or wrap", mode));
        }
        if (mode != "constant" && shape.elements() == 0) {
            throw ModelError(
                fmt::format("it pads {} with its own elements, and there are none", to_text(shape)));
        }
        std::vector<std::uint32_t> extents;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const std::int64_t extent = before[axis] + shape[axis] + after[axis];
            if (extent > std::numeric_limits<std::uint32_t>::max()) {
                throw ModelError(
                    fmt::format("axis {} of its result has {} elements; that is too large", axis, extent));
            }
            extents.push_back(static_cast<std::uint32_t>(extent));
        }
        return {ir::Shape(extents)};
    }
    Placement placement() const override {
        return {.where = "host; zeros around an image as `zero_padding`", .formats = "all"};
    }
    void check_types(const ir::NodeView& node) const override { require_one_kind(node); }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }

    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        if (builder.view(node).input().type == DataType::Int32) return builder.copy(node);
        builder.copy(node, {{"value", double{math::settled(static_cast<float>(node.real("value")))}}});
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input();
        const std::size_t bytes = bytes_of(input.type);
        const std::vector<std::uint8_t> filler = filler_of(call.node);
        const std::size_t input_bytes = input.constant ? 0 : input.shape.elements() * bytes;
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        const std::vector<std::ptrdiff_t> strides = packed_strides(input.shape);
        std::vector<std::vector<std::int64_t>> sources;
        for (std::size_t axis = 0; axis < input.shape.rank(); ++axis)
            sources.push_back(sources_of(call.node, axis));
        for (std::size_t image = 0; image < call.batch; ++image, from += input_bytes) {
            to = fill_axis({sources, strides, filler}, 0, from, 0, to);
        }
    }

private:
    struct Plan {
        const std::vector<std::vector<std::int64_t>>& sources;  ///< by axis and element of the result
        const std::vector<std::ptrdiff_t>& strides;
        const std::vector<std::uint8_t>& filler;  ///< an element
    };

    static ir::AttributeDeclaration sides_attribute(const char* name, const char* meaning) {
        return {.name = name,
                .meaning = meaning,
                .absent = Integers{},
                .is_required = true,
                .minimum = 0,
                .maximum = std::numeric_limits<std::int32_t>::max()};
    }

    /// The bytes of an added element. The number is real if the tensor is quantized.
    static std::vector<std::uint8_t> filler_of(const ir::NodeView& node) {
        const ir::Value& input = node.input();
        const double value = node.node().real("value");
        std::vector<std::uint8_t> bytes(bytes_of(input.type));
        if (input.type == DataType::Float32) {
            const auto number = static_cast<float>(value);
            std::memcpy(bytes.data(), &number, sizeof number);
            return bytes;
        }
        if (input.type == DataType::Bfloat16) {
            const std::uint16_t number = math::bfloat16_bits(static_cast<float>(value));
            std::memcpy(bytes.data(), &number, sizeof number);
            return bytes;
        }
        const std::int32_t stored = input.quantization
                                        ? encoding_of(input).stored(value)
                                        : static_cast<std::int32_t>(std::clamp<double>(
                                              value, lowest_of(input.type), highest_of(input.type)));
        narrow({&stored, 1}, input.type, bytes.data());
        return bytes;
    }

    /// The element of the input that each element of the result along an axis is, or `no_source`.
    static std::vector<std::int64_t> sources_of(const ir::NodeView& node, std::size_t axis) {
        const std::int64_t extent = node.input().shape[axis];
        const std::int64_t before = node.node().integers("before")[axis];
        const std::string& mode = node.node().text("mode");
        std::vector<std::int64_t> sources;
        for (std::int64_t i = 0; i < node.output().shape[axis]; ++i) {
            sources.push_back(source_of(i - before, extent, mode));
        }
        return sources;
    }
    static std::int64_t source_of(std::int64_t element, std::int64_t extent, const std::string& mode) {
        if (element >= 0 && element < extent) return element;
        if (mode == "constant") return no_source;
        if (mode == "edge") return std::clamp<std::int64_t>(element, 0, extent - 1);
        const auto modulo = [&](std::int64_t period) { return (element % period + period) % period; };
        if (mode == "wrap") return modulo(extent);
        if (mode == "symmetric") {
            const std::int64_t phase = modulo(2 * extent);
            return phase < extent ? phase : 2 * extent - 1 - phase;
        }
        if (extent == 1) return 0;
        const std::int64_t phase = modulo(2 * extent - 2);
        return phase < extent ? phase : 2 * extent - 2 - phase;
    }

    /// Writes the part of the result behind `axis` for one index of the axes before it; returns its end.
    static std::uint8_t* fill_axis(const Plan& plan, std::size_t axis, const std::uint8_t* from,
                                   std::ptrdiff_t offset, std::uint8_t* to) {
        const std::size_t bytes = plan.filler.size();
        if (axis == plan.sources.size()) {
            std::memcpy(to, from + offset * static_cast<std::ptrdiff_t>(bytes), bytes);
            return to + bytes;
        }
        std::size_t behind = 1;
        for (std::size_t i = axis + 1; i < plan.sources.size(); ++i) behind *= plan.sources[i].size();
        for (const std::int64_t source : plan.sources[axis]) {
            if (source == no_source) {
                for (std::size_t i = 0; i < behind; ++i, to += bytes)
                    std::memcpy(to, plan.filler.data(), bytes);
            } else {
                to = fill_axis(plan, axis + 1, from, offset + source * plan.strides[axis], to);
            }
        }
        return to;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_pad() {
    return std::make_unique<Pad>();
}

}  // namespace systole::operators
