#include "compiler/operators/indices.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr const char* counts_from_end_name = "counts_from_end";

/// What is compared with computed indices, at most: elements of a tensor, times indices.
constexpr std::uint64_t most_compared_elements = std::uint64_t{1} << 26U;

}  // namespace

ir::AttributeDeclaration counts_from_end_attribute() {
    return {.name = counts_from_end_name,
            .meaning = "1: negative indices count from the end; 0: they are refused",
            .absent = std::int64_t{1},
            .minimum = 0,
            .maximum = 1};
}

ir::NamedAttribute refuses_negative() {
    return {counts_from_end_name, std::int64_t{0}};
}

bool counts_from_end(const ir::Node& node) {
    return node.integer(counts_from_end_name) != 0;
}

std::size_t element_at(std::int32_t index, const ir::Shape& shape, std::size_t axis, bool counts_from_end) {
    const auto extent = static_cast<std::int64_t>(shape[axis]);
    const std::int64_t lowest = counts_from_end ? -extent : 0;
    if (index < lowest || index >= extent) {
        throw ModelError(fmt::format("an index along axis {} of {} is {}; it must be from {} to {}", axis,
                                     to_text(shape), index, lowest, extent - 1));
    }
    return static_cast<std::size_t>(index < 0 ? index + extent : index);
}

std::vector<std::size_t> tuple_places(const ir::Shape& shape, const IndexedAxes& axes,
                                      std::span<const std::int32_t> indices) {
    std::vector<std::size_t> places;
    places.reserve(indices.size() / axes.count);
    for (std::size_t first = 0; first < indices.size(); first += axes.count) {
        std::size_t place = 0;
        for (std::size_t i = 0; i < axes.count; ++i) {
            const std::size_t axis = axes.first + i;
            place = place * shape[axis] + element_at(indices[first + i], shape, axis, axes.counts_from_end);
        }
        places.push_back(place);
    }
    return places;
}

void check_indices_beside(const ir::Shape& shape, const ir::Shape& indices, std::size_t axis) {
    bool fits = indices.rank() == shape.rank();
    for (std::size_t i = 0; fits && i < shape.rank(); ++i) fits = i == axis || indices[i] <= shape[i];
    if (fits) return;
    throw ModelError(
        fmt::format("its indices are {}; they must have as many axes as {}, and along all but axis {} be no "
                    "larger",
                    to_text(indices), to_text(shape), axis));
}

std::vector<std::size_t> places_beside(const ir::Shape& shape, const ir::Shape& indices, std::size_t axis,
                                       std::span<const std::int32_t> numbers, bool counts_from_end) {
    StridedView view{.extents = {indices.extents().begin(), indices.extents().end()},
                     .strides = packed_strides(shape)};
    const std::ptrdiff_t step = view.strides[axis];
    view.strides[axis] = 0;
    std::vector<std::size_t> places;
    places.reserve(numbers.size());
    for_each_row(view, [&](std::ptrdiff_t offset) {
        for (std::size_t i = 0; i < view.extents.back(); ++i, offset += view.strides.back()) {
            const std::size_t element = element_at(numbers[places.size()], shape, axis, counts_from_end);
            places.push_back(static_cast<std::size_t>(offset) + element * static_cast<std::size_t>(step));
        }
    });
    return places;
}

std::vector<std::int32_t> indices_of(const TensorCall& call, std::size_t input) {
    std::vector<std::int32_t> numbers(call.input_elements(input));
    widen(call.inputs[input], call.node.input(input).type, numbers);
    return numbers;
}

std::span<const std::int32_t> of_inference(const TensorCall& call, std::size_t input,
                                           std::span<const std::int32_t> indices, std::size_t inference) {
    const ir::Value& value = call.node.input(input);
    const std::size_t count = value.shape.elements();
    return indices.subspan(value.constant ? 0 : inference * count, count);
}

std::optional<std::vector<std::int32_t>> known_indices(const ir::Value& value) {
    if (!value.constant || !value.constant->is_known() || !is_integer(value.type)) return std::nullopt;
    std::vector<std::int32_t> numbers(value.shape.elements());
    widen(value.constant->bytes().data(), value.type, numbers);
    return numbers;
}

std::optional<std::uint64_t> indexed_bytes(const ir::NodeView& node, std::size_t input) {
    if (input != 0) return std::nullopt;
    const ir::Value& table = node.input(0);
    return std::min(table.shape.elements(), node.output().shape.elements()) * bytes_of(table.type);
}

void check_index_type(const ir::Value& indices) {
    if (is_integer(indices.type)) return;
    throw ModelError(fmt::format("its indices are {}; they must be integers", name_of(indices.type)));
}

namespace {

std::uint32_t extent32(std::size_t count) {
    return static_cast<std::uint32_t>(count);
}

void require_int32(const ir::Node& node, const WordsBuilder& builder, ir::ValueId indices) {
    if (builder.value(indices).type == DataType::Int32) return;
    WordsBuilder::fail(node, fmt::format("its indices are {}; a tensor core needs those of int32",
                                         name_of(builder.value(indices).type)));
}

/// An index that may count from the end, counted from the first element of a line.
Word from_first(const Word& index, std::uint32_t count) {
    const Word behind = apply(WordOperation::AddInt, {index, constant_word(index.steps(), count)});
    const Word zero = constant_word(index.steps(), 0);
    return select(apply(WordOperation::LessInt, {index, zero}), behind, index);
}

}  // namespace

ir::ValueId rows_at_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId input,
                            const AxisLines& lines, ir::ValueId indices) {
    require_int32(node, builder, indices);
    const auto count = extent32(lines.count);
    const auto outer = extent32(lines.outer);
    if (counts_from_end(node)) {
        indices = builder.chain_as(DataType::Int32, {indices},
                                   [&](std::span<const Word> in) { return from_first(in[0], count); });
    }
    if (outer > 1) {
        // Each line has its own rows.
        std::vector<std::int32_t> first(outer);
        for (std::uint32_t i = 0; i < outer; ++i) first[i] = static_cast<std::int32_t>(i * count);
        const ir::ValueId lines_begin = builder.integers("lines", {1, outer, 1}, first);
        indices = builder.chain_as(DataType::Int32, {indices, lines_begin}, [&](std::span<const Word> in) {
            const Word none = constant_word(in[0].steps(), 0xFFFFFFFF);
            const Word zero = constant_word(in[0].steps(), 0);
            const Word inside = apply(WordOperation::LessInt, {in[0], constant_word(in[0].steps(), count)});
            const Word row = select(inside, apply(WordOperation::AddInt, {in[0], in[1]}), none);
            return select(apply(WordOperation::LessInt, {in[0], zero}), none, row);
        });
    }
    const auto rows = extent32(lines.outer * lines.count);
    const auto places = extent32(builder.shape_of(indices).elements());
    const bool has_batch = builder.value(input).has_batch();
    const ir::Shape shape =
        has_batch ? ir::Shape{1, rows, extent32(lines.inner)} : ir::Shape{rows, extent32(lines.inner)};
    return builder.append("gather", {{"axis", std::int64_t{has_batch ? 1 : 0}}, refuses_negative()},
                          {builder.reshape(input, shape), builder.reshape(indices, {1, places})});
}

ir::ValueId words_at_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId input,
                             const AxisLines& lines, ir::ValueId indices) {
    require_int32(node, builder, indices);
    const std::uint64_t places = builder.shape_of(indices)[2];
    const std::uint64_t elements = std::uint64_t{lines.outer} * lines.count * lines.inner;
    if (elements != 0 && places > most_compared_elements / elements) {
        WordsBuilder::fail(node, fmt::format("a tensor core compares each of {} elements with {} computed "
                                             "indices; there may be {} comparisons",
                                             elements, places, most_compared_elements));
    }
    const ir::ValueId all =
        builder.reshape(input, {1, extent32(lines.outer), 1, extent32(lines.count), extent32(lines.inner)});
    std::vector<std::int32_t> numbers(lines.count);
    std::iota(numbers.begin(), numbers.end(), 0);
    const ir::ValueId along = builder.integers("numbers", {1, 1, 1, extent32(lines.count), 1}, numbers);
    const bool from_end = counts_from_end(node);
    const ir::ValueId alone =
        builder.chain_as(DataType::Int32, {indices, along, all}, [&](std::span<const Word> in) {
            const Word zero = constant_word(in[0].steps(), 0);
            Word wanted = in[0];
            if (from_end) wanted = from_first(wanted, extent32(lines.count));
            return select(apply(WordOperation::EqualInt, {wanted, in[1]}), in[2], zero);
        });
    constexpr std::size_t compared_axis = 3;
    const ir::ValueId found = builder.reduce(systole::Reduction::Or, alone, {compared_axis}, false);
    const DataType type = builder.value(input).type;
    if (type == DataType::Int32) return found;
    return builder.chain_as(type, {found}, [](std::span<const Word> in) { return in[0]; });
}

}  // namespace systole::operators
