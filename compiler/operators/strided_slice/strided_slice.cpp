// A range of the elements along each axis, each with its step. Parts, splits and reversals of tensors become
// it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t farthest = std::numeric_limits<std::int32_t>::max();

/// The elements of one axis that a slice takes.
struct AxisRange {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};

/// The elements from `begin` to before `end`, by NumPy's rule: ends count from the end if they are negative,
/// and are limited to the axis.
AxisRange range_of(const ir::LayerReader& layer, std::int64_t begin, std::int64_t end, std::int64_t step,
                   std::int64_t extent) {
    if (step == 0) layer.fail("a step of its slice is 0; it must not be");
    const std::int64_t lowest = step > 0 ? 0 : -1;
    const std::int64_t highest = step > 0 ? extent : extent - 1;
    begin = std::clamp(begin < 0 ? begin + extent : begin, lowest, highest);
    end = std::clamp(end < 0 ? end + extent : end, lowest, highest);
    const std::int64_t distance = step > 0 ? end - begin : begin - end;
    const std::int64_t magnitude = std::abs(step);
    return {.first = begin,
            .step = step,
            .count = std::max<std::int64_t>(0, (distance + magnitude - 1) / magnitude)};
}

std::vector<AxisRange> whole_ranges(const ir::Shape& shape) {
    std::vector<AxisRange> ranges;
    for (const std::uint32_t extent : shape.extents()) ranges.push_back({.count = extent});
    return ranges;
}

ir::ValueId append_ranges(ir::LayerReader& layer, ir::ValueId input, const std::vector<AxisRange>& ranges) {
    const ir::Shape shape = layer.value(input).shape;
    Integers first;
    Integers step;
    Integers count;
    bool is_whole = true;
    for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
        // An empty range may begin outside the axis.
        first.push_back(ranges[axis].count == 0 ? 0 : ranges[axis].first);
        step.push_back(ranges[axis].step);
        count.push_back(ranges[axis].count);
        is_whole &= ranges[axis].count == shape[axis] && ranges[axis].step == 1;
    }
    if (is_whole) return input;
    // Readers of a vector read a part of its rows.
    const bool is_vector = shape.rank() == 2 && shape[0] == layer.batch() && count[0] == shape[0] &&
                           step[1] == 1 && count[1] > 0;
    if (is_vector && !layer.value(input).constant) {
        return append_same(layer, "slice", {{"first", first[1]}, {"count", count[1]}}, {input});
    }
    return append_same(layer, "strided_slice", {{"first", first}, {"step", step}, {"count", count}}, {input});
}

/// ONNX: starts, ends, axes and steps are inputs, or attributes before operator set 10.
ir::Results read_onnx_slice(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const auto numbers = [&](std::size_t index, const char* key) {
        if (layer.has(key)) return integers_of(layer, key);
        return constant_integers_if_any(layer, index);
    };
    const auto starts = numbers(1, "starts");
    const auto ends = numbers(2, "ends");
    if (!starts || !ends) layer.fail("its starts and ends must be given");
    Integers axes;
    for (std::size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    axes = numbers(3, "axes").value_or(axes);
    const Integers steps = constant_integers_if_any(layer, 4).value_or(Integers(starts->size(), 1));
    if (ends->size() != starts->size() || axes.size() != starts->size() || steps.size() != starts->size()) {
        layer.fail("its starts, ends, axes and steps must have one number for each axis");
    }
    std::vector<AxisRange> ranges = whole_ranges(shape);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = axis_in(layer, axes[i], shape.rank());
        ranges[axis] = range_of(layer, (*starts)[i], (*ends)[i], steps[i], shape[axis]);
    }
    return append_ranges(layer, input, ranges);
}

/// TFLite SLICE: the begin of each axis and its size; -1 is the rest.
ir::Results read_tflite_slice(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const Integers begin = constant_integers(layer, 1);
    const Integers size = constant_integers(layer, 2);
    if (begin.size() != shape.rank() || size.size() != shape.rank()) {
        layer.fail("its begin and size must have one number for each axis");
    }
    std::vector<AxisRange> ranges;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t extent = shape[axis];
        const std::int64_t count = size[axis] == -1 ? extent - begin[axis] : size[axis];
        if (begin[axis] < 0 || count < 0 || begin[axis] + count > extent) {
            layer.fail(fmt::format("it takes {} elements of axis {} from element {} on; there are {}", count,
                                   axis, begin[axis], extent));
        }
        ranges.push_back({.first = begin[axis], .count = count});
    }
    return append_ranges(layer, input, ranges);
}

/// TFLite STRIDED_SLICE: a mask has a bit for each entry of begin, end and strides.
ir::Results read_tflite_strided_slice(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const Integers begin = constant_integers(layer, 1);
    Integers end = constant_integers(layer, 2);
    const Integers step = constant_integers_if_any(layer, 3).value_or(Integers(begin.size(), 1));
    if (end.size() != begin.size() || step.size() != begin.size()) {
        layer.fail("its begin, end and strides must have one number for each axis");
    }
    const auto mask = [&](const char* key) {
        const std::int64_t bits = integer_of(layer, key, 0);
        return [bits](std::size_t entry) { return (bits >> entry & 1) != 0; };
    };
    const auto ignores_begin = mask("begin_mask");
    const auto ignores_end = mask("end_mask");
    const auto is_ellipsis = mask("ellipsis_mask");
    const auto is_new_axis = mask("new_axis_mask");
    const auto shrinks = mask("shrink_axis_mask");
    if (flag_of(layer, "offset", false)) {
        for (std::size_t i = 0; i < end.size(); ++i) end[i] += begin[i];
    }
    constexpr std::size_t most_entries = 2 * ir::Shape::most_extents;
    if (begin.size() > most_entries)
        layer.fail(fmt::format("its begin has {} numbers; it may have {}", begin.size(), most_entries));
    // Entries behind an ellipsis are for the last axes.
    std::size_t ellipses = 0;
    for (std::size_t i = 0; i < begin.size(); ++i) ellipses += is_ellipsis(i) ? 1 : 0;
    if (ellipses > 1) layer.fail("ellipsis_mask", "it must have at most one bit");
    std::size_t used = 0;
    for (std::size_t i = 0; i < begin.size(); ++i) used += is_ellipsis(i) || is_new_axis(i) ? 0 : 1;
    if (used > shape.rank()) layer.fail("its begin has more numbers than its input has axes");
    std::vector<AxisRange> ranges = whole_ranges(shape);
    Integers extents;
    std::size_t axis = 0;
    const auto keep_axes = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i, ++axis) extents.push_back(shape[axis]);
    };
    for (std::size_t i = 0; i < begin.size(); ++i) {
        if (is_ellipsis(i)) {
            keep_axes(shape.rank() - used);
        } else if (is_new_axis(i)) {
            extents.push_back(1);
        } else if (shrinks(i)) {
            const std::int64_t element = begin[i] < 0 ? begin[i] + shape[axis] : begin[i];
            if (element < 0 || element >= std::int64_t{shape[axis]}) {
                layer.fail(
                    fmt::format("it takes element {} of axis {}; there are {}", begin[i], axis, shape[axis]));
            }
            ranges[axis++] = {.first = element, .count = 1};
        } else {
            const std::int64_t first = ignores_begin(i) ? (step[i] < 0 ? farthest : 0) : begin[i];
            const std::int64_t last = ignores_end(i) ? (step[i] < 0 ? -farthest : farthest) : end[i];
            ranges[axis] = range_of(layer, first, last, step[i], shape[axis]);
            extents.push_back(ranges[axis++].count);
        }
    }
    keep_axes(shape.rank() - axis);
    return append_shape(layer, append_ranges(layer, input, ranges), shape_from(layer, extents));
}

/// The parts of these sizes along an axis.
ir::Results append_parts(ir::LayerReader& layer, ir::ValueId input, std::size_t axis, const Integers& sizes) {
    const ir::Shape shape = layer.value(input).shape;
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > std::int64_t{shape[axis]})
            layer.fail(fmt::format("a part of its split is {}", size));
        sum += size;
    }
    if (sum != std::int64_t{shape[axis]}) {
        layer.fail(
            fmt::format("the parts of its split are {} together; axis {} has {}", sum, axis, shape[axis]));
    }
    std::vector<ir::ValueId> parts;
    std::int64_t first = 0;
    for (const std::int64_t size : sizes) {
        std::vector<AxisRange> ranges = whole_ranges(shape);
        ranges[axis] = {.first = first, .count = size};
        parts.push_back(append_ranges(layer, input, ranges));
        first += size;
    }
    return {parts};
}

Integers equal_parts(const ir::LayerReader& layer, std::uint32_t extent, std::size_t parts) {
    if (parts == 0 || extent % parts != 0) {
        layer.fail(fmt::format("it splits an axis of {} into {} equal parts", extent, parts));
    }
    Integers equal(parts, static_cast<std::int64_t>(extent / parts));
    return equal;
}

/// Equal parts but for the last, which may be smaller.
Integers nearly_equal_parts(const ir::LayerReader& layer, std::uint32_t extent, std::size_t parts) {
    const auto size = static_cast<std::int64_t>((extent + parts - 1) / parts);
    Integers sizes(parts, size);
    sizes.back() = std::int64_t{extent} - size * (static_cast<std::int64_t>(parts) - 1);
    if (sizes.back() < 0) layer.fail(fmt::format("it splits an axis of {} into {} parts", extent, parts));
    return sizes;
}

ir::Results read_onnx_split(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), shape.rank());
    auto sizes = layer.has("split") ? integers_of(layer, "split") : constant_integers_if_any(layer, 1);
    if (!sizes && layer.has("num_outputs"))
        sizes = nearly_equal_parts(layer, shape[axis], layer.result_count());
    if (!sizes) sizes = equal_parts(layer, shape[axis], layer.result_count());
    return append_parts(layer, input, axis, *sizes);
}

ir::Results read_tflite_split(ir::LayerReader& layer) {
    const Integers axes = constant_integers(layer, 0);
    const ir::ValueId input = input_of(layer, 1);
    const ir::Shape shape = layer.value(input).shape;
    if (axes.size() != 1) layer.fail("its axis must be one number");
    const std::size_t axis = axis_in(layer, axes.front(), shape.rank());
    return append_parts(layer, input, axis, equal_parts(layer, shape[axis], layer.result_count()));
}

/// One size may be -1: the rest.
ir::Results read_tflite_split_v(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    Integers sizes = constant_integers(layer, 1);
    const Integers axes = constant_integers(layer, 2);
    if (axes.size() != 1) layer.fail("its axis must be one number");
    const std::size_t axis = axis_in(layer, axes.front(), shape.rank());
    std::int64_t known = 0;
    for (const std::int64_t size : sizes) known += size == -1 ? 0 : size;
    const auto rest = std::ranges::find(sizes, -1);
    if (rest != sizes.end()) *rest = std::int64_t{shape[axis]} - known;
    return append_parts(layer, input, axis, sizes);
}

/// The slices of thickness 1 along an axis, without that axis.
ir::Results read_tflite_unpack(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), shape.rank());
    if (shape[axis] != layer.result_count()) {
        layer.fail(fmt::format("it has {} results; axis {} of its input has {} elements",
                               layer.result_count(), axis, shape[axis]));
    }
    Integers extents = extents_of(shape);
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
    ir::Results parts = append_parts(layer, input, axis, Integers(shape[axis], 1));
    for (ir::ValueId& part : parts) part = append_shape(layer, part, shape_from(layer, extents));
    return parts;
}

ir::Results read_tflite_reverse(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = layer.value(input).shape;
    std::vector<AxisRange> ranges = whole_ranges(shape);
    for (const std::int64_t axis : axes_in(layer, constant_integers(layer, 1), shape.rank())) {
        AxisRange& range = ranges[static_cast<std::size_t>(axis)];
        range = {.first = range.count - 1, .step = -1, .count = range.count};
    }
    return append_ranges(layer, input, ranges);
}

/// Keras Cropping1D and Cropping2D: a, [a, b] or [[a, b], [c, d]] elements are cut off.
ir::Results read_keras_cropping(ir::LayerReader& layer, std::size_t axes) {
    layer.require_text("data_format", "channels_last");
    const ir::ValueId input = layer.input();
    std::vector<AxisRange> ranges = whole_ranges(layer.value(input).shape);
    if (ranges.size() != axes + 2)
        layer.fail(fmt::format("its input must have {} axes behind the batch", axes + 1));
    // Keras' own values: one element at each end in Cropping1D, none in Cropping2D.
    const auto values = layer.integers("cropping").value_or(ir::LayerReader::Integers{axes == 1 ? 1 : 0});
    const bool by_axis = layer.is_list("cropping") && axes > 1 && values.size() == axes;
    for (std::size_t i = 0; i < axes; ++i) {
        const auto sides = by_axis ? layer.integers_of("cropping", i) : values;
        const std::int64_t before = sides.empty() ? -1 : sides.front().value_or(-1);
        const std::int64_t after = sides.empty() ? -1 : sides.back().value_or(-1);
        AxisRange& range = ranges[i + 1];
        if (before < 0 || after < 0 || sides.size() > 2 || before + after >= range.count) {
            layer.fail("cropping",
                       "it must be a, [a, b] or [[a, b], [c, d]] and leave an element of each axis");
        }
        range = {.first = before, .count = range.count - before - after};
    }
    return append_ranges(layer, input, ranges);
}

ir::LayerKind keras_cropping(const char* name, std::size_t axes) {
    return {.format = ir::Format::Keras,
            .name = name,
            .keys = {{"cropping", "elements cut off before and after each axis"},
                     {"data_format", keras_data_format}},
            .build = [axes](ir::LayerReader& layer) { return read_keras_cropping(layer, axes); }};
}

class StridedSlice final : public ViewOperator {
public:
    std::string_view name() const override { return "strided_slice"; }
    std::string_view summary() const override {
        return "A range of the elements along each axis, each with its step.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "first",
             .meaning = "the first element, by axis",
             .absent = Integers{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max()},
            {.name = "step",
             .meaning = "from one element to the next, by axis; negative steps go backwards",
             .absent = Integers{},
             .is_required = true,
             .minimum = -static_cast<double>(farthest),
             .maximum = static_cast<double>(farthest)},
            {.name = "count",
             .meaning = "how many elements, by axis",
             .absent = Integers{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "Slice",
                 .keys = {{"starts", "`first`, before operator set 10"},
                          {"ends", "`count`, before operator set 10"},
                          {"axes", "the axes of both, before operator set 10"}},
                 .build = read_onnx_slice},
                {.format = ir::Format::Onnx,
                 .name = "Split",
                 .keys = {{"axis", "the axis"},
                          {"split", "the sizes of the parts, before operator set 13"},
                          {"num_outputs", "the number of parts, of which the last may be smaller"}},
                 .build = read_onnx_split},
                {.format = ir::Format::Tflite, .name = "SLICE", .build = read_tflite_slice},
                {.format = ir::Format::Tflite,
                 .name = "STRIDED_SLICE",
                 .keys = {{"begin_mask", "entries of begin that are ignored"},
                          {"end_mask", "entries of end that are ignored"},
                          {"ellipsis_mask", "the entry for all axes that have none"},
                          {"new_axis_mask", "entries that add an axis"},
                          {"shrink_axis_mask", "entries that take one element and remove the axis"},
                          {"offset", "whether end counts from begin"}},
                 .build = read_tflite_strided_slice},
                {.format = ir::Format::Tflite,
                 .name = "SPLIT",
                 .keys = {{"num_splits", "the number of results"}},
                 .build = read_tflite_split},
                {.format = ir::Format::Tflite,
                 .name = "SPLIT_V",
                 .keys = {{"num_splits", "the number of results"}},
                 .build = read_tflite_split_v},
                {.format = ir::Format::Tflite,
                 .name = "UNPACK",
                 .keys = {{"axis", "the axis"}, {"num", "the number of results"}},
                 .build = read_tflite_unpack},
                {.format = ir::Format::Tflite, .name = "REVERSE_V2", .build = read_tflite_reverse},
                keras_cropping("Cropping1D", 1),
                keras_cropping("Cropping2D", 2)};
    }
    Placement placement() const override {
        return {.where = "host; of a vector, with steps of 1, as a `slice`", .formats = "all"};
    }

    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lists(node, axes, {"first", "step", "count"});
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        ir::Node one = node.node();
        Integers count = one.integers("count");
        const bool is_whole = one.integers("first").front() == 0 && one.integers("step").front() == 1 &&
                              count.front() == node.input().shape[0];
        count.front() = 1;
        one.set("count", count);
        return kept_batch(ir::NodeView(node.graph(), one), has_batch, is_whole);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ir::Shape& shape = node.input().shape;
        const Integers& first = node.node().integers("first");
        const Integers& step = node.node().integers("step");
        const Integers& count = node.node().integers("count");
        if (first.size() != shape.rank() || step.size() != shape.rank() || count.size() != shape.rank()) {
            throw ModelError(fmt::format("its first, step and count must have {} numbers", shape.rank()));
        }
        std::vector<std::uint32_t> extents;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const std::int64_t last = first[axis] + (count[axis] - 1) * step[axis];
            if (count[axis] > 0 && (first[axis] >= shape[axis] || last < 0 || last >= shape[axis])) {
                throw ModelError(fmt::format("it takes elements {} to {} of axis {}; there are {}",
                                             first[axis], last, axis, shape[axis]));
            }
            extents.push_back(static_cast<std::uint32_t>(count[axis]));
        }
        return {ir::Shape(extents)};
    }

protected:
    StridedView view_of(const ir::NodeView& node) const override {
        StridedView view = whole_view(node.input().shape);
        for (std::size_t axis = 0; axis < view.extents.size(); ++axis) {
            view.offset += node.node().integers("first")[axis] * view.strides[axis];
            view.strides[axis] *= node.node().integers("step")[axis];
            view.extents[axis] = static_cast<std::size_t>(node.node().integers("count")[axis]);
        }
        return view;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_strided_slice() {
    return std::make_unique<StridedSlice>();
}

}  // namespace systole::operators
