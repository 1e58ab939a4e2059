// The slices of a tensor along an axis at given indices.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/index_words.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::Results append_gather(ir::LayerReader& layer, std::vector<ir::NamedAttribute> attributes) {
    return append_same(layer, "gather", std::move(attributes), {input_of(layer, 0), input_of(layer, 1)});
}

/// The attributes `axis` and, if there are any, `batch_axes` of a node.
std::vector<ir::NamedAttribute> axes_of_gather(const ir::LayerReader& layer, std::int64_t batch_axes) {
    const std::size_t rank = shape_of(layer, 0).rank();
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), rank);
    return {{"axis", static_cast<std::int64_t>(axis)}, {"batch_axes", batch_axes}};
}

ir::Results read_onnx_gather(ir::LayerReader& layer) {
    return append_gather(layer, axes_of_gather(layer, 0));
}

/// TFLite refuses to run with an index below 0.
ir::Results read_tflite_gather(ir::LayerReader& layer) {
    const auto rank = static_cast<std::int64_t>(shape_of(layer, 1).rank());
    std::int64_t batch_axes = integer_of(layer, "batch_dims", 0);
    if (batch_axes < -rank || batch_axes > rank) {
        layer.fail("batch_dims", fmt::format("it must be from {} to {}, as the indices are {}", -rank, rank,
                                             to_text(shape_of(layer, 1))));
    }
    if (batch_axes < 0) batch_axes += rank;
    std::vector<ir::NamedAttribute> attributes = axes_of_gather(layer, batch_axes);
    attributes.push_back(refuses_negative());
    return append_gather(layer, std::move(attributes));
}

/// A node whose indices are tuples, along the last axis of their tensor.
ir::Results append_gather_nd(ir::LayerReader& layer, std::int64_t batch_axes, bool counts_from_end) {
    const ir::Shape shape = shape_of(layer, 0);
    const ir::Shape indices = shape_of(layer, 1);
    const auto most_batch_axes = static_cast<std::int64_t>(std::min(shape.rank(), indices.rank())) - 1;
    if (batch_axes < 0 || batch_axes > std::max<std::int64_t>(most_batch_axes, 0)) {
        layer.fail("batch_dims",
                   fmt::format("it must be from 0 to {}, as its inputs are {} and {}",
                               std::max<std::int64_t>(most_batch_axes, 0), to_text(shape), to_text(indices)));
    }
    const auto most_axes = static_cast<std::int64_t>(shape.rank()) - batch_axes;
    const std::int64_t axes = indices.rank() == 0 ? 0 : indices.extents().back();
    if (axes < 1 || axes > most_axes) {
        layer.fail(
            fmt::format("its indices are {}; their last axis must have 1 to {} elements, the axes of {}{}",
                        to_text(indices), most_axes, to_text(shape),
                        batch_axes == 0 ? "" : fmt::format(" behind {} of the batch", batch_axes)));
    }
    std::vector<ir::NamedAttribute> attributes{
        {"axis", batch_axes}, {"batch_axes", batch_axes}, {"index_axes", axes}};
    if (!counts_from_end) attributes.push_back(refuses_negative());
    return append_gather(layer, std::move(attributes));
}

ir::Results read_onnx_gather_nd(ir::LayerReader& layer) {
    return append_gather_nd(layer, integer_of(layer, "batch_dims", 0), true);
}

ir::Results read_tflite_gather_nd(ir::LayerReader& layer) {
    return append_gather_nd(layer, 0, false);
}

/// TFLite EMBEDDING_LOOKUP: indices, and the table whose rows they name.
ir::Results read_embedding_lookup(ir::LayerReader& layer) {
    return append_declared(layer, "gather", {refuses_negative()}, {input_of(layer, 1), input_of(layer, 0)});
}

/// Keras Embedding: rows of a table at indices, which are cut to integers where they are real numbers.
ir::ValueId read_keras_embedding(ir::LayerReader& layer) {
    const std::uint32_t rows = layer.positive("input_dim");
    const std::uint32_t columns = layer.positive("output_dim");
    const ir::ValueId table =
        layer.weight({.roles = {"embeddings"}, .file_shape = {rows, columns}, .shape = {rows, columns}});
    ir::ValueId indices = layer.input();
    if (layer.value(indices).type == DataType::Float32) {
        indices = layer.append_as({.type = DataType::Int32}, "cast", {}, {indices});
    }
    return layer.append("gather", {refuses_negative()}, {table, indices});
}

/// ONNX Compress: the slices along an axis, or the elements, where a constant condition is true.
ir::Results read_onnx_compress(ir::LayerReader& layer) {
    ir::ValueId input = input_of(layer, 0);
    const std::vector<std::int64_t> condition = constant_integers(layer, 1);
    std::size_t axis = 0;
    if (layer.has("axis")) {
        axis = axis_in(layer, integer_of(layer, "axis", 0), shape_of(layer, 0).rank());
    } else {
        const auto elements = static_cast<std::uint32_t>(shape_of(layer, 0).elements());
        input = append_shape(layer, input, {elements});
    }
    const ir::Shape shape = layer.value(input).shape;
    if (condition.size() > shape[axis]) {
        layer.fail(fmt::format("its condition has {} elements; axis {} of {} has {}", condition.size(), axis,
                               to_text(shape), shape[axis]));
    }
    std::vector<std::int32_t> places;
    for (std::size_t i = 0; i < condition.size(); ++i) {
        if (condition[i] != 0) places.push_back(static_cast<std::int32_t>(i));
    }
    if (places.empty()) layer.fail("its condition is nowhere true; its result must have an element");
    const auto count = static_cast<std::uint32_t>(places.size());
    const ir::ValueId indices =
        layer.add_constant("places", {count}, DataType::Int32, ir::Constant::of(std::move(places)));
    return append_same(layer, "gather", {{"axis", static_cast<std::int64_t>(axis)}}, {input, indices});
}

/// How a node gathers: for each index of the batch axes, its input is `outer` blocks of the elements that
/// indices name, each of `slice` numbers.
class Selection {
public:
    explicit Selection(const ir::NodeView& node)
        : axis_(static_cast<std::size_t>(node.node().integer("axis"))),
          index_axes_(static_cast<std::size_t>(node.node().integer("index_axes"))),
          batch_axes_(static_cast<std::size_t>(node.node().integer("batch_axes"))),
          counts_from_end_(counts_from_end(node.node())),
          shape_(node.input(0).shape),
          indices_(node.input(1).shape) {
        if (end() > shape_.rank()) {
            throw ModelError(index_axes_ == 0
                                 ? fmt::format("its axis is {}; its input is {}", axis_, to_text(shape_))
                                 : fmt::format("its indices are of axes {} to {}; its input is {}", axis_,
                                               end() - 1, to_text(shape_)));
        }
        if (index_axes_ > 0 && (indices_.rank() == 0 || indices_.extents().back() != index_axes_)) {
            throw ModelError(fmt::format("its indices are {}; their last axis must have {} elements",
                                         to_text(indices_), index_axes_));
        }
        const auto is_common = [&](std::size_t axis) { return shape_[axis] == indices_[axis]; };
        bool has_batch = batch_axes_ <= axis_ && batch_axes_ <= rows().size();
        for (std::size_t axis = 0; has_batch && axis < batch_axes_; ++axis) has_batch = is_common(axis);
        if (!has_batch) {
            throw ModelError(
                fmt::format("its inputs are {} and {}; they must have the same first {} axes, "
                            "before the axes that indices are of",
                            to_text(shape_), to_text(indices_), batch_axes_));
        }
    }

    /// The extents before the axes that indices are of, those of the indices, and those behind.
    ir::Shape result() const {
        const auto extents = shape_.extents();
        const auto own_rows = rows().subspan(batch_axes_);
        std::vector<std::uint32_t> result(extents.begin(), at(axis_));
        result.insert(result.end(), own_rows.begin(), own_rows.end());
        result.insert(result.end(), at(end()), extents.end());
        return ir::Shape(result);
    }
    std::size_t batch() const { return product(0, batch_axes_); }
    std::size_t outer() const { return product(batch_axes_, axis_); }
    std::size_t elements() const { return product(axis_, end()); }
    std::size_t slice() const { return product(end(), shape_.rank()); }
    /// The elements that indices name. Fails if one is outside.
    std::vector<std::size_t> places(std::span<const std::int32_t> indices) const {
        return tuple_places(shape_, indexed(), indices);
    }
    /// The numbers of the slices that make up the result, among all slices of the input: [1][slice]. One
    /// table's rows are read by its own indices: the machine refuses what is outside. Else that could be a
    /// slice of a neighbour, and the indices are checked by themselves.
    ir::ValueId row_words(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices) const {
        const auto extent = [](std::size_t count) { return static_cast<std::uint32_t>(count); };
        const std::size_t tables = batch() * outer();
        if (axes() == 1 && tables == 1) {
            return builder.reshape(counted_indices(node, builder, indices, elements()),
                                   {1, extent(builder.shape_of(indices).elements())});
        }
        ir::ValueId rows = tuple_words(node, builder, indices, shape_, indexed());
        if (tables == 1) return rows;
        std::vector<std::int32_t> first(tables);
        for (std::size_t i = 0; i < tables; ++i) first[i] = static_cast<std::int32_t>(i * elements());
        const ir::ValueId tables_begin =
            builder.integers("tables", {1, extent(batch()), extent(outer()), 1}, std::move(first));
        const std::size_t of_batch = builder.shape_of(rows).elements() / batch();
        rows = builder.chain_as(
            DataType::Int32, {builder.reshape(rows, {1, extent(batch()), 1, extent(of_batch)}), tables_begin},
            [](std::span<const Word> in) {
                return apply(WordOperation::AddInt, {in[0], in[1]});
            });
        return builder.reshape(rows, {1, extent(builder.shape_of(rows).elements())});
    }

private:
    IndexedAxes indexed() const {
        return {.first = axis_, .count = axes(), .counts_from_end = counts_from_end_};
    }
    std::size_t axes() const { return std::max<std::size_t>(index_axes_, 1); }
    std::size_t end() const { return axis_ + axes(); }
    /// The extents of the indices, without those of tuples.
    std::span<const std::uint32_t> rows() const {
        return indices_.extents().first(indices_.rank() - (index_axes_ > 0 ? 1 : 0));
    }
    std::span<const std::uint32_t>::iterator at(std::size_t axis) const {
        return shape_.extents().begin() + static_cast<std::ptrdiff_t>(axis);
    }
    std::size_t product(std::size_t first, std::size_t last) const {
        std::size_t product = 1;
        for (std::size_t axis = first; axis < last; ++axis) product *= shape_[axis];
        return product;
    }

    std::size_t axis_;
    std::size_t index_axes_;
    std::size_t batch_axes_;
    bool counts_from_end_;
    ir::Shape shape_;
    ir::Shape indices_;
};

class Gather final : public Operator {
public:
    std::string_view name() const override { return "gather"; }
    std::string_view summary() const override {
        return "The slices of a tensor at given indices along an axis, or along several. Inputs: the tensor; "
               "the indices, integers. An index outside is an error.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "axis",
             .meaning = "the axis",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1},
            {.name = "index_axes",
             .meaning = "0: each index is one of `axis`; n: each n indices of the last axis of the indices "
                        "are one of n axes, from `axis` on",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = ir::Shape::most_extents},
            {.name = "batch_axes",
             .meaning = "the first axes of both inputs that are the same, and for which each has its own "
                        "indices",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1},
            counts_from_end_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        const ir::LayerKey axis{"axis", "`axis`"};
        const ir::LayerKey batch{"batch_dims", "`batch_axes`"};
        return {
            {.format = ir::Format::Onnx, .name = "Gather", .keys = {axis}, .build = read_onnx_gather},
            {.format = ir::Format::Onnx, .name = "GatherND", .keys = {batch}, .build = read_onnx_gather_nd},
            {.format = ir::Format::Onnx,
             .name = "Compress",
             .keys = {{"axis", "`axis`; without it, the elements are one axis"}},
             .build = read_onnx_compress},
            {.format = ir::Format::Tflite,
             .name = "GATHER",
             .keys = {axis, batch},
             .build = read_tflite_gather},
            {.format = ir::Format::Tflite, .name = "GATHER_ND", .build = read_tflite_gather_nd},
            {.format = ir::Format::Tflite, .name = "EMBEDDING_LOOKUP", .build = read_embedding_lookup},
            {.format = ir::Format::Keras,
             .name = "Embedding",
             .keys = {{"input_dim", "the rows of the table"},
                      {"output_dim", "the numbers of a row"},
                      {"mask_zero",
                       "nothing, unless a later layer would use the mask: then the network "
                       "is refused"}},
             .build = read_keras_embedding}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        const std::int64_t axis = node.node().integer("axis");
        if (node.node().integer("batch_axes") != 0) {
            return has_batch[0] && has_batch[1] ? std::optional(node.node().attributes) : std::nullopt;
        }
        // Of a table, the images have indices.
        if (!has_batch[0]) return axis == 0 ? std::optional(node.node().attributes) : std::nullopt;
        return kept_batch(node, has_batch, axis != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) throw ModelError("it must have exactly 2 inputs");
        const Selection selection(node);
        // Indices that are known are checked before the network runs.
        if (const auto indices = known_indices(node.input(1))) {
            static_cast<void>(selection.places(*indices));
        }
        return {selection.result()};
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    std::optional<std::uint64_t> bytes_read(const ir::NodeView& node, std::size_t input) const override {
        return indexed_bytes(node, input);
    }
    void check_types(const ir::NodeView& node) const override {
        // A constant that is computed while a file is read gets its scales later.
        if (node.input(0).type != node.output().type ||
            (!node.input(0).constant && node.input(0).quantization != node.output().quantization)) {
            fail_as_stored_unlike("its input and its result", node.input(0), node.output());
        }
        check_index_type(node.input(1));
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::NodeView view = builder.view(node);
        if (view.input(1).constant) return builder.copy(node);
        const Selection selection(view);
        const ir::ValueId input = builder.input_of(node, 0);
        const ir::ValueId indices = builder.input_of(node, 1);
        const RowTable table{.rows = selection.batch() * selection.outer() * selection.elements(),
                             .columns = selection.slice()};
        const ir::ValueId found = rows_at(builder, input, table, selection.row_words(node, builder, indices));
        builder.set(node.output(), builder.reshape(found, view.output().shape));
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input(0);
        const std::vector<std::int32_t> indices = indices_of(call, 1);
        const Selection selection(call.node);
        const std::size_t batch = selection.batch();
        const std::size_t outer = selection.outer();
        const std::size_t extent = selection.elements();
        const std::size_t slice = selection.slice() * bytes_of(input.type);
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            const auto places = selection.places(of_inference(call, 1, indices, image));
            const std::size_t of_batch = batch == 0 ? 0 : places.size() / batch;
            for (std::size_t i = 0; i < batch * outer; ++i) {
                const auto wanted = std::span(places).subspan(i / outer * of_batch, of_batch);
                for (const std::size_t place : wanted) {
                    std::memcpy(to, from + (i * extent + place) * slice, slice);
                    to += slice;
                }
            }
            if (!input.constant) from += batch * outer * extent * slice;
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_gather() {
    return std::make_unique<Gather>();
}

}  // namespace systole::operators
