// Constants that follow from a shape, or from the places of a constant's numbers that are not 0.
#include "compiler/operators/constant/index_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/stored_integers.h"
#include "compiler/operators/cast/onnx_types.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

/// ONNX EyeLike: a matrix with ones on a diagonal, of a tensor's shape.
ir::Results add_eye(ir::LayerReader& layer) {
    const ir::Value& like = layer.value(input_of(layer, 0));
    const ir::Shape shape = like.shape;
    if (shape.rank() != 2) {
        layer.fail(fmt::format("its input is {}; it must be a matrix", to_text(shape)));
    }
    DataType type = like.type;
    if (layer.has("dtype")) {
        const auto given = onnx_type(integer_of(layer, "dtype", 0));
        if (!given)
            layer.fail("dtype", "it must be a type of numbers of at most 64 bits that is not complex");
        type = *given;
    }
    const std::int64_t k = integer_of(layer, "k", 0);
    std::vector<std::int32_t> numbers(shape.elements(), 0);
    for (std::int64_t row = 0; row < shape[0]; ++row) {
        const std::int64_t column = row + k;
        if (column < 0 || column >= shape[1]) continue;
        numbers[static_cast<std::size_t>(row * shape[1] + column)] = 1;
    }
    if (type == DataType::Float32)
        return layer.constant("value", shape, std::vector<float>(numbers.begin(), numbers.end()));
    std::vector<std::uint8_t> bytes(numbers.size() * bytes_of(type));
    narrow(numbers, type, bytes.data());
    return layer.add_constant("value", shape, type, ir::Constant::of(std::move(bytes)));
}

/// The numbers of the first input that are not 0, row-major. Fails unless it is a constant.
std::vector<std::size_t> found_places(const ir::LayerReader& layer) {
    const ir::Value& value = layer.value(input_of(layer, 0));
    if (value.shape.rank() == 0) layer.fail("its input is one number; it must have an axis");
    std::vector<std::size_t> places;
    const auto add = [&](const auto& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (numbers[i] != 0) places.push_back(i);
        }
    };
    if (is_integer(value.type)) {
        add(constant_integers(layer, 0));
    } else {
        add(*constant_reals_if_any(layer, 0));
    }
    return places;
}

/// The index along an axis of an element.
std::int32_t index_along(const ir::Shape& shape, std::size_t element, std::size_t axis) {
    for (std::size_t behind = axis + 1; behind < shape.rank(); ++behind) element /= shape[behind];
    return static_cast<std::int32_t>(element % shape[axis]);
}

/// The indices of the elements, by axis and element, or by element and axis.
ir::Results add_places(ir::LayerReader& layer, bool by_axis) {
    const std::vector<std::size_t> places = found_places(layer);
    const ir::Shape shape = shape_of(layer, 0);
    const auto rank = static_cast<std::uint32_t>(shape.rank());
    const auto count = static_cast<std::uint32_t>(places.size());
    std::vector<std::int32_t> indices;
    indices.reserve(std::size_t{rank} * count);
    if (by_axis) {
        for (std::uint32_t axis = 0; axis < rank; ++axis) {
            for (const std::size_t place : places) indices.push_back(index_along(shape, place, axis));
        }
    } else {
        for (const std::size_t place : places) {
            for (std::uint32_t axis = 0; axis < rank; ++axis)
                indices.push_back(index_along(shape, place, axis));
        }
    }
    return layer.add_constant("value", by_axis ? ir::Shape{rank, count} : ir::Shape{count, rank},
                              DataType::Int32, ir::Constant::of(std::move(indices)));
}

}  // namespace

std::vector<ir::LayerKind> index_constants() {
    return {{.format = ir::Format::Onnx,
             .name = "EyeLike",
             .keys = {{"dtype", "the type of the numbers; without it, that of the input"},
                      {"k", "the diagonal of ones: so many columns to the right of the main one"}},
             .build = add_eye},
            {.format = ir::Format::Onnx,
             .name = "NonZero",
             .build = [](ir::LayerReader& layer) { return add_places(layer, true); }},
            {.format = ir::Format::Tflite, .name = "WHERE", .build = [](ir::LayerReader& layer) {
                 return add_places(layer, false);
             }}};
}

}  // namespace systole::operators
