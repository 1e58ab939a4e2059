// The slices of a tensor along an axis at given indices.
#include <fmt/format.h>

#include <cstring>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {
namespace {

ir::Results read_gather(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    if (integer_of(layer, "batch_dims", 0) != 0) layer.fail("batch_dims", "only 0 is supported");
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), layer.value(input).shape.rank());
    return append_same(layer, "gather", {{"axis", static_cast<std::int64_t>(axis)}},
                       {input, input_of(layer, 1)});
}

/// The steps between the elements along the axes that the indices of GATHER_ND are of.
std::vector<std::int32_t> steps_of(const ir::Shape& shape, std::size_t axes) {
    std::vector<std::int32_t> steps(axes, 1);
    for (std::size_t axis = axes; axis-- > 1;) {
        steps[axis - 1] = static_cast<std::int32_t>(std::int64_t{steps[axis]} * shape[axis]);
    }
    return steps;
}

/// The places of the slices that constant indices name. Fails if one is outside.
std::vector<std::int32_t> places_of(const ir::LayerReader& layer, const ir::Shape& shape,
                                    const std::vector<std::int32_t>& steps) {
    const std::vector<std::int64_t> indices = constant_integers(layer, 1);
    std::vector<std::int32_t> places;
    for (std::size_t first = 0; first < indices.size(); first += steps.size()) {
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < steps.size(); ++axis) {
            const std::int64_t index = indices[first + axis];
            if (index < 0 || index >= shape[axis]) {
                layer.fail(fmt::format("an index along axis {} of {} is {}; it must be from 0 to {}", axis,
                                       to_text(shape), index, shape[axis] - 1));
            }
            place += index * steps[axis];
        }
        places.push_back(static_cast<std::int32_t>(place));
    }
    return places;
}

/// Slices along several axes at once are slices along these axes in one.
ir::Results read_gather_nd(ir::LayerReader& layer) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::ValueId indices = input_of(layer, 1);
    const ir::Shape shape = layer.value(input).shape;
    const ir::Shape index_shape = layer.value(indices).shape;
    const auto counts = index_shape.extents();
    const std::size_t axes = counts.empty() ? 0 : counts.back();
    if (axes < 1 || axes > shape.rank()) {
        layer.fail(
            fmt::format("its indices are {}; their last axis must have 1 to {} elements, the axes of {}",
                        to_text(index_shape), shape.rank(), to_text(shape)));
    }
    const std::vector<std::int32_t> steps = steps_of(shape, axes);
    const ir::Shape rows(counts.first(counts.size() - 1));
    ir::ValueId places = 0;
    if (layer.value(indices).constant) {
        places = layer.add_constant("places", rows, DataType::Int32,
                                    ir::Constant::of(places_of(layer, shape, steps)));
    } else {
        const bool is_wide = layer.value(indices).type == DataType::Int32;
        const ir::ValueId wide =
            is_wide ? indices : layer.append_as({DataType::Int32, {}}, "cast", {}, {indices});
        const ir::ValueId constant = layer.add_constant("steps", {static_cast<std::uint32_t>(axes)},
                                                        DataType::Int32, ir::Constant::of(steps));
        const ir::ValueId products = layer.append_as({DataType::Int32, {}}, "multiply", {}, {wide, constant});
        const auto last = static_cast<std::int64_t>(counts.size() - 1);
        places = layer.append_as({DataType::Int32, {}}, "reduce_sum",
                                 {{"axes", std::vector<std::int64_t>{last}}, {"keep", std::int64_t{0}}},
                                 {products});
    }
    std::vector<std::uint32_t> flat{1};
    for (std::size_t axis = 0; axis < axes; ++axis) flat.front() *= shape[axis];
    flat.insert(flat.end(), shape.extents().begin() + static_cast<std::ptrdiff_t>(axes),
                shape.extents().end());
    return append_same(layer, "gather", {{"axis", std::int64_t{0}}},
                       {append_shape(layer, input, ir::Shape(flat)), places});
}

class Gather final : public Operator {
public:
    std::string_view name() const override { return "gather"; }
    std::string_view summary() const override {
        return "The slices of a tensor along an axis at given indices. Inputs: the tensor; the indices, "
               "int32, of "
               "which negative ones count from the end.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "axis",
             .meaning = "the axis",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        const std::vector<ir::LayerKey> keys{{"axis", "`axis`"}, {"batch_dims", "only 0"}};
        return {{.format = ir::Format::Onnx, .name = "Gather", .keys = keys, .build = read_gather},
                {.format = ir::Format::Tflite, .name = "GATHER", .keys = keys, .build = read_gather},
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
        const ir::Shape& shape = node.input(0).shape;
        const auto axis = static_cast<std::size_t>(node.node().integer("axis"));
        if (axis >= shape.rank()) {
            throw ModelError(fmt::format("its axis is {}; its input is {}", axis, to_text(shape)));
        }
        check_indices(node.input(1), shape[axis]);
        const auto extents = shape.extents();
        const auto indices = node.input(1).shape.extents();
        std::vector<std::uint32_t> result(extents.begin(),
                                          extents.begin() + static_cast<std::ptrdiff_t>(axis));
        result.insert(result.end(), indices.begin(), indices.end());
        result.insert(result.end(), extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, extents.end());
        return {ir::Shape(result)};
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    bool runs_on_host() const override { return true; }
    void check_types(const ir::NodeView& node) const override {
        // A constant that is computed while a file is read gets its scales later.
        if (node.input(0).type != node.output().type ||
            (!node.input(0).constant && node.input(0).quantization != node.output().quantization)) {
            fail_as_stored_unlike("its input and its result", node.input(0), node.output());
        }
        if (!is_integer(node.input(1).type)) throw ModelError("its indices must be integers");
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input(0);
        const ir::Value& indices = call.node.input(1);
        std::vector<std::int32_t> numbers(call.input_elements(1));
        widen(call.inputs[1], indices.type, numbers);
        const auto axis = static_cast<std::size_t>(call.node.node().integer("axis"));
        std::size_t outer = 1;
        std::size_t slice = bytes_of(input.type);
        for (std::size_t i = 0; i < axis; ++i) outer *= input.shape[i];
        for (std::size_t i = axis + 1; i < input.shape.rank(); ++i) slice *= input.shape[i];
        const std::size_t extent = input.shape[axis];
        const std::size_t count = indices.shape.elements();
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            const std::int32_t* const wanted = numbers.data() + (indices.constant ? 0 : image * count);
            for (std::size_t i = 0; i < outer; ++i) {
                for (std::size_t j = 0; j < count; ++j, to += slice) {
                    std::memcpy(to, from + (i * extent + element(wanted[j], extent)) * slice, slice);
                }
            }
            if (!input.constant) from += outer * extent * slice;
        }
    }

private:
    /// Indices that are known are checked before the network runs.
    static void check_indices(const ir::Value& indices, std::size_t extent) {
        const bool is_known = indices.constant && indices.constant->is_known() && is_integer(indices.type);
        if (!is_known) return;
        std::vector<std::int32_t> numbers(indices.shape.elements());
        widen(indices.constant->bytes().data(), indices.type, numbers);
        for (const std::int32_t number : numbers) static_cast<void>(element(number, extent));
    }
    static std::size_t element(std::int32_t index, std::size_t extent) {
        const auto signed_extent = static_cast<std::int64_t>(extent);
        if (index < -signed_extent || index >= signed_extent) {
            throw ModelError(fmt::format("it takes element {} of an axis of {}", index, extent));
        }
        return static_cast<std::size_t>(index < 0 ? index + signed_extent : index);
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_gather() {
    return std::make_unique<Gather>();
}

}  // namespace systole::operators
