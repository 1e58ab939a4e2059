// A tensor with updates of slices, at tuples of indices along its first axes.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/index_words.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/scatter.h"

namespace systole::operators {
namespace {

ir::Results read_onnx_scatter_nd(ir::LayerReader& layer) {
    return append_same(layer, "scatter_nd", {onnx_scatter_reduction(layer)},
                       {input_of(layer, 0), input_of(layer, 1), input_of(layer, 2)});
}

/// The zeros that a small file can ask for: as many numbers as may always be computed while a network is
/// read.
constexpr std::uint64_t most_zeros = std::uint64_t{1} << 26U;

/// Appends the sums of updates on a tensor of zeros.
ir::Results append_sums(ir::LayerReader& layer, const ir::Shape& shape, ir::ValueId indices,
                        ir::ValueId updates) {
    const ir::Value& value = layer.value(updates);
    if (value.type != DataType::Float32 && (!is_integer(value.type) || value.quantization)) {
        layer.fail(fmt::format("its updates are {}{}; they must be float32 or integers without a scale",
                               name_of(value.type), value.quantization ? " with a scale" : ""));
    }
    const auto elements = shape.checked_elements();
    if (!elements || *elements > most_zeros) {
        layer.fail(
            fmt::format("its result is {}; such a sum has at most {} elements", to_text(shape), most_zeros));
    }
    const DataType type = value.type;
    const ir::ValueId zeros = layer.add_constant(
        "zeros", shape, type, ir::Constant::of(std::vector<std::uint8_t>(*elements * bytes_of(type), 0)));
    return append_declared(layer, "scatter_nd", {scatter_add(), refuses_negative()},
                           {zeros, indices, updates});
}

ir::Results read_tflite_scatter_nd(ir::LayerReader& layer) {
    const ir::Shape shape = shape_from(layer, constant_integers(layer, 2));
    return append_sums(layer, shape, input_of(layer, 0), input_of(layer, 1));
}

/// TFLite SEGMENT_SUM: sums of slices with the same number, which is their place in the result.
ir::Results read_segment_sum(ir::LayerReader& layer) {
    const ir::Shape shape = shape_of(layer, 0);
    const std::vector<std::int64_t> segments = constant_integers(layer, 1);
    if (shape.rank() == 0 || segments.size() != shape[0]) {
        layer.fail(fmt::format("it has {} segment numbers; its input is {}, and must have as many slices",
                               segments.size(), to_text(shape)));
    }
    if (segments.empty()) layer.fail("it has no segment numbers; it must have at least 1");
    if (segments.front() < 0 || !std::ranges::is_sorted(segments))
        layer.fail("its segment numbers must be 0 or more, in ascending order");
    std::vector<std::int64_t> extents = extents_of(shape);
    extents.front() = segments.back() + 1;
    const ir::ValueId indices =
        layer.add_constant("segments", {shape[0], 1}, DataType::Int32,
                           ir::Constant::of(std::vector<std::int32_t>(segments.begin(), segments.end())));
    return append_sums(layer, shape_from(layer, extents), indices, input_of(layer, 0));
}

/// How many axes a tuple of indices names: the last extent of the indices.
std::size_t tuple_axes(const ir::NodeView& node) {
    const ir::Shape& indices = node.input(1).shape;
    return indices.rank() == 0 ? 0 : indices.extents().back();
}

class ScatterNd final : public ScatterOperator {
public:
    ScatterNd() : ScatterOperator({}) {}

    std::string_view name() const override { return "scatter_nd"; }
    std::string_view summary() const override {
        return "A tensor with updates of slices, at tuples of indices along its first axes. Inputs: the "
               "tensor; the indices, integers, whose last axis has the tuples; the updates: a slice for each "
               "tuple.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "ScatterND",
                 .keys = {onnx_scatter_key()},
                 .build = read_onnx_scatter_nd},
                {.format = ir::Format::Tflite, .name = "SCATTER_ND", .build = read_tflite_scatter_nd},
                {.format = ir::Format::Tflite, .name = "SEGMENT_SUM", .build = read_segment_sum}};
    }

protected:
    void check_shapes(const ir::NodeView& node) const override {
        const ir::Shape& shape = node.input(0).shape;
        const ir::Shape& indices = node.input(1).shape;
        const std::size_t axes = tuple_axes(node);
        if (axes < 1 || axes > shape.rank()) {
            throw ModelError(
                fmt::format("its indices are {}; their last axis must have 1 to {} elements, the axes of {}",
                            to_text(indices), shape.rank(), to_text(shape)));
        }
        const auto tuples = indices.extents().first(indices.rank() - 1);
        const auto slices = shape.extents().subspan(axes);
        std::vector<std::uint32_t> expected(tuples.begin(), tuples.end());
        expected.insert(expected.end(), slices.begin(), slices.end());
        const ir::Shape updates(expected);
        if (node.input(2).shape != updates) {
            throw ModelError(fmt::format("its updates are {}; by its indices and its tensor, they must be {}",
                                         to_text(node.input(2).shape), to_text(updates)));
        }
    }
    std::size_t slice(const ir::NodeView& node) const override {
        std::size_t elements = 1;
        for (const std::uint32_t extent : node.input(0).shape.extents().subspan(tuple_axes(node)))
            elements *= extent;
        return elements;
    }
    std::vector<std::size_t> places(const ir::NodeView& node,
                                    std::span<const std::int32_t> indices) const override {
        return tuple_places(node.input(0).shape,
                            {.count = tuple_axes(node), .counts_from_end = counts_from_end(node.node())},
                            indices);
    }
    UpdateWords update_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::NodeView view = builder.view(node);
        const ir::Shape& shape = view.input(0).shape;
        const IndexedAxes axes{.count = tuple_axes(view)};
        const auto inner = static_cast<std::uint32_t>(slice(view));
        const auto elements = static_cast<std::uint32_t>(shape.elements());
        const ir::ValueId places = tuple_words(node, builder, builder.input_of(node, 1), shape, axes);
        const auto tuples = static_cast<std::uint32_t>(builder.shape_of(places).elements());
        return {.lines = {.outer = 1, .count = elements / inner, .inner = inner},
                .places = builder.reshape(places, {1, 1, tuples, 1, 1}),
                .updates = builder.reshape(builder.input_of(node, 2), {1, 1, tuples, 1, inner})};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_scatter_nd() {
    return std::make_unique<ScatterNd>();
}

}  // namespace systole::operators
