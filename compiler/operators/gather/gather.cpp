// The slices of a tensor along an axis at given indices.
#include <fmt/format.h>

#include <cstring>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::Results append_gather(ir::LayerReader& layer, std::vector<ir::NamedAttribute> attributes) {
    return append_same(layer, "gather", std::move(attributes), {input_of(layer, 0), input_of(layer, 1)});
}

std::vector<ir::NamedAttribute> axis_of(const ir::LayerReader& layer) {
    if (integer_of(layer, "batch_dims", 0) != 0) layer.fail("batch_dims", "only 0 is supported");
    const std::size_t rank = layer.value(input_of(layer, 0)).shape.rank();
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), rank);
    return {{"axis", static_cast<std::int64_t>(axis)}};
}

ir::Results read_gather(ir::LayerReader& layer) {
    return append_gather(layer, axis_of(layer));
}

/// TFLite refuses to run with an index below 0.
ir::NamedAttribute refuses_negative() {
    return {"counts_from_end", std::int64_t{0}};
}

ir::Results read_tflite_gather(ir::LayerReader& layer) {
    std::vector<ir::NamedAttribute> attributes = axis_of(layer);
    attributes.push_back(refuses_negative());
    return append_gather(layer, std::move(attributes));
}

ir::Results read_gather_nd(ir::LayerReader& layer) {
    const ir::Shape shape = layer.value(input_of(layer, 0)).shape;
    const ir::Shape indices = layer.value(input_of(layer, 1)).shape;
    const std::size_t axes = indices.rank() == 0 ? 0 : indices.extents().back();
    if (axes < 1 || axes > shape.rank()) {
        layer.fail(
            fmt::format("its indices are {}; their last axis must have 1 to {} elements, the axes of {}",
                        to_text(indices), shape.rank(), to_text(shape)));
    }
    return append_gather(layer, {{"index_axes", static_cast<std::int64_t>(axes)}, refuses_negative()});
}

/// How a node gathers: its input is `outer` blocks of the elements that indices name, each of `slice`
/// numbers.
class Selection {
public:
    explicit Selection(const ir::NodeView& node)
        : axis_(static_cast<std::size_t>(node.node().integer("axis"))),
          index_axes_(static_cast<std::size_t>(node.node().integer("index_axes"))),
          counts_from_end_(node.node().integer("counts_from_end") != 0),
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
    }

    /// The extents before the axes that indices are of, those of the indices, and those behind.
    ir::Shape result() const {
        const auto extents = shape_.extents();
        const auto rows = indices_.extents().first(indices_.rank() - (index_axes_ > 0 ? 1 : 0));
        std::vector<std::uint32_t> result(extents.begin(), at(axis_));
        result.insert(result.end(), rows.begin(), rows.end());
        result.insert(result.end(), at(end()), extents.end());
        return ir::Shape(result);
    }
    std::size_t outer() const { return product(0, axis_); }
    std::size_t elements() const { return product(axis_, end()); }
    std::size_t slice() const { return product(end(), shape_.rank()); }
    /// The elements that indices name. Fails if one is outside.
    std::vector<std::size_t> places(std::span<const std::int32_t> indices) const {
        std::vector<std::size_t> places;
        places.reserve(indices.size() / axes());
        for (std::size_t first = 0; first < indices.size(); first += axes()) {
            std::size_t place = 0;
            for (std::size_t i = 0; i < axes(); ++i) {
                place = place * shape_[axis_ + i] + element(indices[first + i], axis_ + i);
            }
            places.push_back(place);
        }
        return places;
    }

private:
    std::size_t axes() const { return std::max<std::size_t>(index_axes_, 1); }
    std::size_t end() const { return axis_ + axes(); }
    std::span<const std::uint32_t>::iterator at(std::size_t axis) const {
        return shape_.extents().begin() + static_cast<std::ptrdiff_t>(axis);
    }
    std::size_t product(std::size_t first, std::size_t last) const {
        std::size_t product = 1;
        for (std::size_t axis = first; axis < last; ++axis) product *= shape_[axis];
        return product;
    }
    std::size_t element(std::int32_t index, std::size_t axis) const {
        const auto extent = static_cast<std::int64_t>(shape_[axis]);
        const std::int64_t lowest = counts_from_end_ ? -extent : 0;
        if (index < lowest || index >= extent) {
            throw ModelError(fmt::format("an index along axis {} of {} is {}; it must be from {} to {}", axis,
                                         to_text(shape_), index, lowest, extent - 1));
        }
        return static_cast<std::size_t>(index < 0 ? index + extent : index);
    }

    std::size_t axis_;
    std::size_t index_axes_;
    bool counts_from_end_;
    ir::Shape shape_;
    ir::Shape indices_;
};

class Gather final : public Operator {
public:
    std::string_view name() const override { return "gather"; }
    std::string_view summary() const override {
        return "The slices of a tensor at given indices along an axis, or along several. Inputs: the tensor; "
               "the indices, integers.";
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
            {.name = "counts_from_end",
             .meaning = "1: negative indices count from the end; 0: they are refused",
             .absent = std::int64_t{1},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        const std::vector<ir::LayerKey> keys{{"axis", "`axis`"}, {"batch_dims", "only 0"}};
        return {{.format = ir::Format::Onnx, .name = "Gather", .keys = keys, .build = read_gather},
                {.format = ir::Format::Tflite, .name = "GATHER", .keys = keys, .build = read_tflite_gather},
                {.format = ir::Format::Tflite, .name = "GATHER_ND", .build = read_gather_nd}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        // Of a table, the images have indices.
        const std::int64_t axis = node.node().integer("axis");
        if (!has_batch[0]) return axis == 0 ? std::optional(node.node().attributes) : std::nullopt;
        return kept_batch(node, has_batch, axis != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) throw ModelError("it must have exactly 2 inputs");
        const Selection selection(node);
        // Indices that are known are checked before the network runs.
        const ir::Value& indices = node.input(1);
        if (indices.constant && indices.constant->is_known() && is_integer(indices.type)) {
            std::vector<std::int32_t> numbers(indices.shape.elements());
            widen(indices.constant->bytes().data(), indices.type, numbers);
            static_cast<void>(selection.places(numbers));
        }
        return {selection.result()};
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    void check_types(const ir::NodeView& node) const override {
        // A constant that is computed while a file is read gets its scales later.
        if (node.input(0).type != node.output().type ||
            (!node.input(0).constant && node.input(0).quantization != node.output().quantization)) {
            fail_as_stored_unlike("its input and its result", node.input(0), node.output());
        }
        if (!is_integer(node.input(1).type)) throw ModelError("its indices must be integers");
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        if (!builder.view(node).input(1).constant) {
            WordsBuilder::fail(node, "another layer computes its indices; a tensor core needs constant ones");
        }
        builder.copy(node);
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input(0);
        const ir::Value& indices = call.node.input(1);
        std::vector<std::int32_t> numbers(call.input_elements(1));
        widen(call.inputs[1], indices.type, numbers);
        const Selection selection(call.node);
        const std::size_t outer = selection.outer();
        const std::size_t extent = selection.elements();
        const std::size_t slice = selection.slice() * bytes_of(input.type);
        const std::size_t count = indices.shape.elements();
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            const auto wanted =
                selection.places(std::span(numbers).subspan(indices.constant ? 0 : image * count, count));
            for (std::size_t i = 0; i < outer; ++i) {
                for (const std::size_t place : wanted) {
                    std::memcpy(to, from + (i * extent + place) * slice, slice);
                    to += slice;
                }
            }
            if (!input.constant) from += outer * extent * slice;
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_gather() {
    return std::make_unique<Gather>();
}

}  // namespace systole::operators
