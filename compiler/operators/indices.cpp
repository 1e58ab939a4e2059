#include "compiler/operators/indices.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/strided.h"

namespace systole::operators {
namespace {

constexpr const char* counts_from_end_name = "counts_from_end";

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

}  // namespace systole::operators
