#include "compiler/operators/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

/// Visits the elements in the order of the input and adds each to its result.
template <typename Number, typename Combine>
void reduce(const ir::NodeView& node, const Number* from, Number* sums, const Combine& combine) {
    for_each_reduced(node, [&](std::size_t element, std::size_t result) {
        sums[result] = combine(sums[result], from[element]);
    });
}

ir::LayerKind onnx_reduction(std::string_view op, const char* name) {
    return {.format = ir::Format::Onnx,
            .name = name,
            .keys = {{"axes", "`axes`, if they are no input"},
                     {"keepdims", "`keep`"},
                     {"noop_with_empty_axes", "1: without axes, nothing is reduced"}},
            .build = [op](ir::LayerReader& layer) -> ir::Results {
                bool is_nothing = false;
                std::vector<ir::NamedAttribute> attributes = read_onnx_reduction(layer, is_nothing);
                if (is_nothing) return input_of(layer, 0);
                return append_same(layer, op, std::move(attributes), {input_of(layer, 0)});
            }};
}

ir::LayerKind tflite_reduction(std::string_view op, const char* name) {
    return {.format = ir::Format::Tflite,
            .name = name,
            .keys = {{"keep_dims", "`keep`"}},
            .build = [op](ir::LayerReader& layer) -> ir::Results {
                const std::size_t rank = shape_of(layer).rank();
                const Integers axes = axes_in(layer, constant_integers(layer, 1), rank);
                if (axes.empty()) return input_of(layer, 0);
                const ir::ResultType result = layer.declared_result(0);
                // The kernels add the stored numbers of 16 bits, whatever their range.
                if (op == "reduce_sum" && result.type == DataType::Int16) {
                    layer.fail("a sum of int16 is not supported");
                }
                const std::int64_t keep = flag_of(layer, "keep_dims", false) ? 1 : 0;
                return append_declared(layer, op, {{"axes", axes}, {"keep", keep}}, {input_of(layer, 0)});
            }};
}

}  // namespace

std::vector<ir::NamedAttribute> read_onnx_reduction(const ir::LayerReader& layer, bool& is_nothing) {
    const auto given = layer.has("axes") ? integers_of(layer, "axes") : constant_integers_if_any(layer, 1);
    const Integers axes = axes_in(layer, given.value_or(Integers{}), shape_of(layer).rank());
    is_nothing = axes.empty() && flag_of(layer, "noop_with_empty_axes", false);
    return {{"axes", axes}, {"keep", std::int64_t{flag_of(layer, "keepdims", true) ? 1 : 0}}};
}

std::vector<std::size_t> reduced_axes(const ir::NodeView& node) {
    const std::size_t rank = node.input().shape.rank();
    std::vector<std::size_t> axes;
    for (const std::int64_t axis : node.node().integers("axes"))
        axes.push_back(static_cast<std::size_t>(axis));
    if (axes.empty()) {
        for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
    }
    std::ranges::sort(axes);
    if (std::ranges::adjacent_find(axes) != axes.end() || (!axes.empty() && axes.back() >= rank)) {
        throw ModelError(fmt::format("its axes are {}; they must be different ones of {}",
                                     ir::to_text(ir::Attribute(node.node().integers("axes"))),
                                     to_text(node.input().shape)));
    }
    return axes;
}

StridedView reduced_view(const ir::NodeView& node) {
    const ir::Shape& shape = node.input().shape;
    const std::vector<std::size_t> axes = reduced_axes(node);
    StridedView view = whole_view(shape);
    std::ptrdiff_t stride = 1;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        const bool is_reduced = std::ranges::find(axes, axis) != axes.end();
        view.strides[axis] = is_reduced ? 0 : stride;
        if (!is_reduced) stride *= shape[axis];
    }
    return view;
}

Integers moved_axes(const ir::NodeView& node, std::span<const std::uint32_t> axes) {
    Integers places;
    for (const std::size_t axis : reduced_axes(node)) places.push_back(moved_axis(axes, axis));
    std::ranges::sort(places);
    return places;
}

std::size_t reduced_elements(const ir::NodeView& node) {
    std::size_t count = 1;
    for (const std::size_t axis : reduced_axes(node)) count *= node.input().shape[axis];
    return count;
}

const std::vector<ir::AttributeDeclaration>& Reduction::attributes() const {
    static const std::vector<ir::AttributeDeclaration> declarations{
        {.name = "axes",
         .meaning = "the axes; none: all",
         .absent = Integers{},
         .minimum = 0,
         .maximum = ir::Shape::most_extents - 1},
        {.name = "keep",
         .meaning = "1: the axes stay, with extent 1",
         .absent = std::int64_t{0},
         .minimum = 0,
         .maximum = 1},
        {.name = "over_batch",
         .meaning = "1: the first axis is that of the whole batch, whose inferences share the result",
         .absent = std::int64_t{0},
         .minimum = 0,
         .maximum = 1}};
    return declarations;
}

bool Reduction::reduces_batch(const ir::Node& node) const {
    return node.integer("over_batch") != 0;
}

std::vector<ir::LayerKind> Reduction::layer_kinds() const {
    std::vector<ir::LayerKind> kinds;
    if (definition_.onnx_name != nullptr) kinds.push_back(onnx_reduction(name(), definition_.onnx_name));
    if (definition_.tflite_name != nullptr)
        kinds.push_back(tflite_reduction(name(), definition_.tflite_name));
    return kinds;
}

std::vector<ir::Shape> Reduction::output_shapes(const ir::NodeView& node) const {
    if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
    const ir::Shape& shape = node.input().shape;
    const std::vector<std::size_t> axes = reduced_axes(node);
    if (reduces_batch(node.node()) && (axes.empty() || axes.front() != 0)) {
        throw ModelError("it combines a batch; its axes must have the first one");
    }
    std::vector<std::uint32_t> extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (std::ranges::find(axes, axis) == axes.end()) {
            extents.push_back(shape[axis]);
        } else if (node.node().integer("keep") != 0) {
            extents.push_back(1);
        }
    }
    return {ir::Shape(extents)};
}

std::optional<PermutedNode> Reduction::permuted(const ir::NodeView& node,
                                                std::span<const std::uint32_t> axes) const {
    if (reduces_batch(node.node()) && axes[0] != 0) return std::nullopt;
    ir::Node moved = node.node();
    moved.set("axes", moved_axes(node, axes));
    if (moved.integer("keep") != 0)
        return PermutedNode{std::move(moved.attributes), {axes.begin(), axes.end()}};
    return PermutedNode{std::move(moved.attributes), remaining_axes(axes, reduced_axes(node))};
}

void Reduction::check_types(const ir::NodeView& node) const {
    const ir::Value& input = node.input();
    const ir::Value& result = node.output();
    if (input.type != result.type || input.quantization.has_value() != result.quantization.has_value()) {
        throw ModelError("its input and its result must be of one type, and both quantized or none");
    }
    if (input.type != DataType::Float32 && !is_integer(input.type)) {
        throw ModelError(fmt::format("{} of {} is not supported", name(), name_of(input.type)));
    }
    if (reduces_batch(node.node()) && input.quantization && !definition_.works_on_stored) {
        throw ModelError(fmt::format("{} over a batch of quantized numbers is not supported", name()));
    }
    if (input.quantization == result.quantization) {
        if (!input.quantization || definition_.works_on_stored || works_on_quantized()) return;
    } else if (works_on_quantized()) {
        return;
    }
    throw ModelError(fmt::format("{} of {} with these scales is not supported", name(), name_of(input.type)));
}

Placement Reduction::placement() const {
    return {.where = "host", .formats = "float32; integers"};
}

void Reduction::compute(const TensorCall& call) const {
    const ir::Value& input = call.node.input();
    const std::size_t elements = input.shape.elements();
    const bool over_batch = reduces_batch(call.node.node());
    if (over_batch && call.batch == 0) throw std::logic_error("a batch of 0 has nothing to combine");
    const std::size_t results = call.output_elements();
    const std::size_t own_results = over_batch ? 0 : call.node.output().shape.elements();
    const std::size_t count = reduced_elements(call.node) * (over_batch ? call.batch : 1);
    const std::size_t step = input.constant ? 0 : elements;
    if (input.type == DataType::Float32) {
        auto* const to = call.output<float>();
        std::fill_n(to, results, definition_.first_float);
        for (std::size_t image = 0; image < call.batch; ++image) {
            reduce(call.node, call.input<float>(0) + image * step, to + image * own_results,
                   definition_.combine_floats);
        }
        for (std::size_t i = 0; i < results; ++i) to[i] = finish_float(to[i], count);
        return;
    }
    std::vector<std::int32_t> numbers(call.input_elements(0));
    widen(call.inputs.front(), input.type, numbers);
    const bool is_quantized = input.quantization && !definition_.works_on_stored;
    if (is_quantized) {
        const std::int32_t zero_point = input.quantization->zero_points.front();
        for (std::int32_t& number : numbers) number -= zero_point;
    }
    std::vector<std::int32_t> sums(results, definition_.first_integer);
    for (std::size_t image = 0; image < call.batch; ++image) {
        reduce(call.node, numbers.data() + image * step, sums.data() + image * own_results,
               definition_.combine_integers);
    }
    for (std::int32_t& sum : sums) {
        sum = is_quantized ? finish_quantized(call.node, sum) : finish_integer(sum, count);
    }
    narrow(sums, call.node.output().type, call.outputs.front());
}

void Reduction::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const ir::NodeView view = builder.view(node);
    if (reduces_batch(node)) fail_without_words(node);
    const ir::ValueId x = builder.input_of(node);
    const ir::ValueId result =
        builder.reduce(definition_.words, x, reduced_axes(view), node.integer("keep") != 0);
    builder.set(node.output(), is_mean() ? builder.divide(result, reduced_elements(view)) : result);
}

void Reduction::quantize(const ir::Node& node, Quantizer& quantizer) const {
    quantizer.add_real(node);
}

}  // namespace systole::operators
