#include "compiler/operators/arg_extreme.h"

#include <fmt/format.h>

#include <array>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/ordered_words.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {
namespace {

ir::Results append_arg(ir::LayerReader& layer, std::string_view op, std::int64_t axis, bool keep, bool last) {
    const auto found = static_cast<std::int64_t>(axis_in(layer, axis, shape_of(layer).rank()));
    return layer.append(
        op, {{"axis", found}, {"keep", std::int64_t{keep ? 1 : 0}}, {"last", std::int64_t{last ? 1 : 0}}},
        {input_of(layer, 0)});
}

/// The index of the extreme among `count` numbers, `step` apart.
template <typename Number>
std::int32_t index_of_extreme(const Number* from, std::size_t count, std::size_t step, bool largest,
                              bool last) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i) {
        const Number x = from[i * step];
        const Number y = from[best * step];
        const bool is_better = largest ? x > y : x < y;
        if (is_better || (last && x == y)) best = i;
    }
    return static_cast<std::int32_t>(best);
}

}  // namespace

const std::vector<ir::AttributeDeclaration>& ArgExtreme::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations{
        axis_attribute(),
        {.name = "keep",
         .meaning = "1: the axis stays, with extent 1",
         .absent = std::int64_t{0},
         .minimum = 0,
         .maximum = 1},
        {.name = "last",
         .meaning = "of equal elements, 0: the first, 1: the last one counts",
         .absent = std::int64_t{0},
         .minimum = 0,
         .maximum = 1}};
    return declarations;
}

std::vector<ir::LayerKind> ArgExtreme::layer_kinds() const {
    return {{.format = ir::Format::Onnx,
             .name = onnx_name_,
             .keys = {{"axis", "`axis`"}, {"keepdims", "`keep`"}, {"select_last_index", "`last`"}},
             .build =
                 [op = name()](ir::LayerReader& layer) {
                     return append_arg(layer, op, integer_of(layer, "axis", 0),
                                       flag_of(layer, "keepdims", true),
                                       flag_of(layer, "select_last_index", false));
                 }},
            {.format = ir::Format::Tflite,
             .name = tflite_name_,
             .keys = {{"output_type", "nothing: it is int32"}},
             .build = [op = name()](ir::LayerReader& layer) {
                 const std::vector<std::int64_t> axes = constant_integers(layer, 1);
                 if (axes.size() != 1) layer.fail("its axis must be one number");
                 return append_arg(layer, op, axes.front(), false, false);
             }}};
}

std::vector<ir::Shape> ArgExtreme::output_shapes(const ir::NodeView& node) const {
    if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
    const std::size_t axis = axis_of_attribute(node);
    const auto given = node.input().shape.extents();
    std::vector<std::uint32_t> extents(given.begin(), given.end());
    if (node.node().integer("keep") != 0) {
        extents[axis] = 1;
    } else {
        extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    return {ir::Shape(extents)};
}

std::optional<std::vector<ir::Attribute>> ArgExtreme::on_one_image(const ir::NodeView& node,
                                                                   const std::vector<bool>& has_batch) const {
    return kept_batch(node, has_batch, axis_of_attribute(node) != 0);
}

std::optional<PermutedNode> ArgExtreme::permuted(const ir::NodeView& node,
                                                 std::span<const std::uint32_t> axes) const {
    PermutedNode moved = permuted_lines(node, axes);
    const std::array removed{axis_of_attribute(node)};
    if (node.node().integer("keep") == 0) moved.result_axes = remaining_axes(axes, removed);
    return moved;
}

void ArgExtreme::check_types(const ir::NodeView& node) const {
    const DataType type = node.input().type;
    if ((type != DataType::Float32 && !is_integer(type)) || node.output().type != DataType::Int32) {
        throw ModelError(fmt::format("it turns {} into {}; it must turn float32 or integers into int32",
                                     name_of(type), name_of(node.output().type)));
    }
}

Placement ArgExtreme::placement() const {
    return {.where = "host", .formats = "float32 or integers to int32"};
}

void ArgExtreme::quantize(const ir::Node& node, Quantizer& quantizer) const {
    quantizer.add_real(node);
}

void ArgExtreme::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const std::size_t axis = axis_of_attribute(builder.view(node));
    const ir::ValueId ordered = ordered_behind_nan(builder, builder.input_of(node), largest_, axis);
    const ir::ValueId found = largest_in_lines(builder, ordered, axis, node.integer("last") != 0);
    builder.set(node.output(), builder.reshape(found, builder.view(node).output().shape));
}

void ArgExtreme::compute(const TensorCall& call) const {
    AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
    lines.outer *= call.node.input().constant ? 1 : call.batch;
    const bool last = call.node.node().integer("last") != 0;
    auto* to = call.output<std::int32_t>();
    if (call.node.input().type == DataType::Float32) {
        const auto* const from = call.input<float>(0);
        return for_each_line(lines, [&](std::size_t first) {
            *to++ = index_of_extreme(from + first, lines.count, lines.inner, largest_, last);
        });
    }
    std::vector<std::int32_t> numbers(call.input_elements(0));
    widen(call.inputs.front(), call.node.input().type, numbers);
    for_each_line(lines, [&](std::size_t first) {
        *to++ = index_of_extreme(numbers.data() + first, lines.count, lines.inner, largest_, last);
    });
}

}  // namespace systole::operators
