// A tensor that is known when the network is read, such as the shape of another one. Layers of files become a
// constant of the graph; no node has this operator.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/stored_integers.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/constant/index_constants.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

ir::ValueId add_integers(ir::LayerReader& layer, const ir::Shape& shape, std::vector<std::int32_t> numbers) {
    return layer.add_constant("value", shape, DataType::Int32, ir::Constant::of(std::move(numbers)));
}

/// The key under which the reader of ONNX files gives the type of the attribute `value`.
constexpr const char* value_type_key = "value_type";

ir::Results add_shape(ir::LayerReader& layer, std::int64_t start, std::int64_t end) {
    const ir::Shape& shape = shape_of(layer);
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const auto inside = [&](std::int64_t axis) {
        return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    std::vector<std::int32_t> extents;
    for (std::int64_t axis = inside(start); axis < inside(end); ++axis) {
        extents.push_back(static_cast<std::int32_t>(shape[static_cast<std::size_t>(axis)]));
    }
    const auto count = static_cast<std::uint32_t>(extents.size());
    return add_integers(layer, {count}, std::move(extents));
}

ir::Results add_size(ir::LayerReader& layer) {
    // Fits, because the size of tensors is limited.
    return add_integers(layer, {}, {static_cast<std::int32_t>(shape_of(layer).elements())});
}

/// The size of constants that a small file can ask for: as many numbers as may always be computed while a
/// network is read.
constexpr std::uint64_t most_constant_elements = std::uint64_t{1} << 26;

void check_elements(const ir::LayerReader& layer, const ir::Shape& shape) {
    const auto elements = shape.checked_elements();
    if (elements && *elements <= most_constant_elements) return;
    layer.fail(fmt::format("its result is {}; such a constant has at most {} elements", to_text(shape),
                           most_constant_elements));
}

/// The type of the element that ConstantOfShape repeats.
DataType type_of_element(const ir::LayerReader& layer) {
    const std::string name = layer.text(value_type_key, name_of(DataType::Float32));
    constexpr std::array types{DataType::Uint8,  DataType::Int8,  DataType::Int16,
                               DataType::Uint16, DataType::Int32, DataType::Float32};
    const auto* const found = std::ranges::find(types, name, [](DataType type) { return name_of(type); });
    if (found == types.end()) layer.fail(value_type_key, "it must be a type of constants");
    return *found;
}

/// ONNX ConstantOfShape: the attribute holds one element; without it, it is 0 in float32.
ir::Results read_constant_of_shape(ir::LayerReader& layer) {
    // A shape without extents is that of one number. It has no elements, and counts as left out.
    const ir::Shape shape =
        shape_from(layer, constant_integers_if_any(layer, 0).value_or(std::vector<std::int64_t>()));
    check_elements(layer, shape);
    const auto reals = layer.numbers("value").value_or(std::vector<double>{0.0});
    if (reals.size() != 1) layer.fail("value", "it must have one element");
    const DataType type = type_of_element(layer);
    const std::size_t count = shape.elements();
    if (type == DataType::Float32) {
        return layer.constant("value", shape, std::vector<float>(count, static_cast<float>(reals.front())));
    }
    const std::vector<std::int32_t> numbers(count, static_cast<std::int32_t>(reals.front()));
    std::vector<std::uint8_t> bytes(count * bytes_of(type));
    narrow(numbers, type, bytes.data());
    return layer.add_constant("value", shape, type, ir::Constant::of(std::move(bytes)));
}

/// The tensor of one number, repeated.
ir::Results append_filled(ir::LayerReader& layer, ir::ValueId number, const ir::Shape& shape) {
    check_elements(layer, shape);
    if (layer.value(number).shape.elements() != 1) layer.fail("its value must be one number");
    const ir::ValueId scalar = append_shape(layer, number, ir::Shape());
    if (shape.rank() == 0) return scalar;
    return append_same(layer, "expand", {{"shape", extents_of(shape)}}, {scalar});
}

ir::Results add_zeros(ir::LayerReader& layer) {
    const ir::Value& like = layer.value(input_of(layer, 0));
    check_elements(layer, like.shape);
    const std::size_t bytes = like.shape.elements() * bytes_of(like.type);
    return layer.add_constant("value", like.shape, like.type,
                              ir::Constant::of(std::vector<std::uint8_t>(bytes, 0)));
}

/// Numbers from a start to before a limit.
ir::Results add_range(ir::LayerReader& layer) {
    const auto number = [&](std::size_t index) {
        const auto numbers = constant_reals_if_any(layer, index);
        if (!numbers || numbers->size() != 1)
            layer.fail(fmt::format("its input {} must be one number", index));
        return numbers->front();
    };
    const double start = number(0);
    const double limit = number(1);
    const double delta = number(2);
    const double steps = std::ceil((limit - start) / delta);
    if (!(steps < static_cast<double>(most_constant_elements))) {
        layer.fail(
            fmt::format("its range is from {} to {} in steps of {}; that is too large", start, limit, delta));
    }
    const auto count = static_cast<std::uint32_t>(std::max(0.0, steps));
    if (layer.value(input_of(layer, 0)).type != DataType::Float32) {
        std::vector<std::int32_t> numbers;
        for (std::uint32_t i = 0; i < count; ++i)
            numbers.push_back(static_cast<std::int32_t>(start + i * delta));
        return add_integers(layer, {count}, std::move(numbers));
    }
    std::vector<float> numbers;
    for (std::uint32_t i = 0; i < count; ++i) {
        numbers.push_back(static_cast<float>(start) + static_cast<float>(i) * static_cast<float>(delta));
    }
    return layer.constant("value", {count}, std::move(numbers));
}

class ConstantTensor final : public Operator {
public:
    std::string_view name() const override { return "constant"; }
    std::string_view summary() const override {
        return "A tensor that is known when the network is read, such as the shape of another one.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        constexpr std::int64_t all = std::numeric_limits<std::int32_t>::max();
        std::vector<ir::LayerKind> kinds{
            {.format = ir::Format::Onnx,
             .name = "Shape",
             .keys = {{"start", "the first axis"}, {"end", "the axis behind the last"}},
             .build =
                 [](ir::LayerReader& layer) {
                     return add_shape(layer, integer_of(layer, "start", 0), integer_of(layer, "end", all));
                 }},
            {.format = ir::Format::Onnx, .name = "Size", .build = add_size},
            {.format = ir::Format::Onnx,
             .name = "ConstantOfShape",
             .keys = {{"value", "the element"}, {value_type_key, "its type, which `value` has in the file"}},
             .build = read_constant_of_shape},
            {.format = ir::Format::Onnx, .name = "Range", .build = add_range},
            {.format = ir::Format::Tflite,
             .name = "SHAPE",
             .keys = {{"out_type", "nothing: it is int32"}},
             .build = [](ir::LayerReader& layer) { return add_shape(layer, 0, all); }},
            {.format = ir::Format::Tflite,
             .name = "RANK",
             .build =
                 [](ir::LayerReader& layer) {
                     return add_integers(layer, {}, {static_cast<std::int32_t>(shape_of(layer).rank())});
                 }},
            {.format = ir::Format::Tflite,
             .name = "FILL",
             .build =
                 [](ir::LayerReader& layer) {
                     const ir::Shape shape = shape_from(layer, constant_integers(layer, 0));
                     return append_filled(layer, input_of(layer, 1), shape);
                 }},
            {.format = ir::Format::Tflite, .name = "RANGE", .build = add_range},
            {.format = ir::Format::Tflite, .name = "ZEROS_LIKE", .build = add_zeros}};
        for (ir::LayerKind& kind : index_constants()) kinds.push_back(std::move(kind));
        return kinds;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& /*node*/) const override {
        throw ModelError("a constant is a value of the graph, not a node");
    }
    Placement placement() const override {
        return {.where = "nowhere: it is known before the network runs", .formats = "all"};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_constant() {
    return std::make_unique<ConstantTensor>();
}

}  // namespace systole::operators
