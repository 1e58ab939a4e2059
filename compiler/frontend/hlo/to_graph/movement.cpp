// Instructions that move elements, and constants.
#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

template <typename Number>
std::vector<Number> numbers_of(const std::vector<std::uint8_t>& bytes) {
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
}

/// The lower halves of 64-bit integers, and what they can be.
template <typename Number>
Array wide_constant(GraphMaker& maker, const Shape& shape, const std::vector<std::uint8_t>& bytes) {
    const std::vector<Number> numbers = numbers_of<Number>(bytes);
    std::vector<std::uint32_t> words;
    words.reserve(numbers.size());
    for (const Number number : numbers) words.push_back(static_cast<std::uint32_t>(number));
    Array array = maker.constant(shape.type, shape.dimensions, std::move(words));
    const auto [least, most] = std::ranges::minmax(numbers);
    constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (static_cast<std::uint64_t>(most) <= limit || most < 0)
        array.range = Interval{static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
    return array;
}

template <typename Number>
std::vector<std::uint32_t> extended(const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint32_t> words;
    words.reserve(bytes.size() / sizeof(Number));
    for (const Number number : numbers_of<Number>(bytes)) words.push_back(static_cast<std::uint32_t>(number));
    return words;
}

std::vector<std::uint32_t> words_of_bytes(ElementType type, const std::vector<std::uint8_t>& bytes) {
    switch (type) {
        case ElementType::Pred:
        case ElementType::U8:
            return extended<std::uint8_t>(bytes);
        case ElementType::S8:
            return extended<std::int8_t>(bytes);
        case ElementType::U16:
            return extended<std::uint16_t>(bytes);
        case ElementType::S16:
            return extended<std::int16_t>(bytes);
        case ElementType::S32:
        case ElementType::U32:
        case ElementType::F32:
            return numbers_of<std::uint32_t>(bytes);
        case ElementType::Bf16: {
            std::vector<std::uint32_t> words = extended<std::uint16_t>(bytes);
            for (std::uint32_t& word : words) word <<= 16U;
            return words;
        }
        case ElementType::F16:
        case ElementType::S64:
        case ElementType::U64:
            break;
    }
    throw std::logic_error("a constant of another kind");
}

Array constant_array(GraphMaker& maker, const Operation& operation) {
    const Shape& shape = maker.result_of(operation);
    const std::vector<std::uint8_t>& bytes = operation.attributes<hlo::Constant>().bytes;
    if (shape.type == ElementType::S64) return wide_constant<std::int64_t>(maker, shape, bytes);
    if (shape.type == ElementType::U64) return wide_constant<std::uint64_t>(maker, shape, bytes);
    if (shape.type == ElementType::F16) {
        // As the bits of integers, of which the floats are made once.
        Array bits = maker.constant(ElementType::U16, shape.dimensions, extended<std::uint16_t>(bytes));
        return floats_of_half_bits(maker, bits);
    }
    return maker.constant(shape.type, shape.dimensions, words_of_bytes(shape.type, bytes));
}

}  // namespace

Arrays map_constant(GraphMaker& maker, const Operation& operation) {
    return {maker.constant_of(operation.instruction, [&] { return constant_array(maker, operation); })};
}

Arrays map_iota(GraphMaker& maker, const Operation& operation) {
    const Shape& shape = maker.result_of(operation);
    const std::size_t axis = place(operation.attributes<Dimensions>().dimensions.front());
    Array array = maker.iota(shape.type, shape.dimensions, axis);
    if (has_64_bits(shape.type)) array.range = Interval{0, shape.dimensions[axis] - 1};
    return {array};
}

Arrays map_broadcast(GraphMaker& maker, const Operation& operation) {
    const Array& array = operation.operand(0);
    const Numbers& wanted = maker.result_of(operation).dimensions;
    Numbers axes = operation.attributes<Dimensions>().dimensions;
    if (operation.lifted != nullptr) return {array};  // a single number
    Array result = array;
    result.dimensions = wanted;
    const ir::Shape extents = maker.value(array.id).shape;
    if (extents.elements() == 1) return {result};
    // Each axis at its place; the others have one element, which all share.
    if (!std::ranges::is_sorted(axes)) {
        Numbers order(axes.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        std::ranges::sort(order, {}, [&](std::int64_t axis) { return axes[place(axis)]; });
        result = maker.transpose(array, order);
        std::ranges::sort(axes);
    }
    const ir::Shape moved = maker.value(result.id).shape;
    Numbers kept(wanted.size(), 1);
    for (std::size_t i = 0; i < axes.size(); ++i) kept[place(axes[i])] = moved[i + 1];
    Array compact = result;
    compact.dimensions.clear();
    for (std::size_t i = 0; i < axes.size(); ++i) compact.dimensions.push_back(moved[i + 1]);
    result = maker.reshape(compact, kept);
    result.dimensions = wanted;
    result.range = array.range;
    return {result};
}

Arrays map_reshape(GraphMaker& maker, const Operation& operation) {
    if (operation.lifted != nullptr) return {operation.operand(0)};
    return {maker.reshape(operation.operand(0), maker.result_of(operation).dimensions)};
}

Arrays map_transpose(GraphMaker& maker, const Operation& operation) {
    return {maker.transpose(operation.operand(0), operation.attributes<Dimensions>().dimensions)};
}

Arrays map_reverse(GraphMaker& maker, const Operation& operation) {
    const Array& array = operation.operand(0);
    Numbers first(array.dimensions.size(), 0);
    Numbers step(array.dimensions.size(), 1);
    for (const std::int64_t axis : operation.attributes<Dimensions>().dimensions) {
        first[place(axis)] = array.dimensions[place(axis)] - 1;
        step[place(axis)] = -1;
    }
    return {maker.slice(array, first, step, array.dimensions)};
}

Arrays map_slice(GraphMaker& maker, const Operation& operation) {
    Numbers first;
    Numbers step;
    for (const SliceDimension& each : operation.attributes<Slice>().dimensions) {
        first.push_back(each.start);
        step.push_back(each.stride);
    }
    return {maker.slice(operation.operand(0), first, step, maker.result_of(operation).dimensions)};
}

Arrays map_pad(GraphMaker& maker, const Operation& operation) {
    return {
        maker.pad(operation.operand(0), operation.attributes<Padding>().dimensions, operation.operand(1))};
}

Arrays map_concatenate(GraphMaker& maker, const Operation& operation) {
    const Arrays arrays = operation.all_arrays();
    Array result = maker.concatenate(arrays, place(operation.attributes<Dimensions>().dimensions.front()));
    if (has_64_bits(result.type)) {
        result.range = arrays.front().range;
        for (const Array& array : arrays) result.range = united(result.range, array.range);
    }
    return {result};
}

}  // namespace systole::hlo
