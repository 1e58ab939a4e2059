#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/operators/operator.h"

/// Operators that find places in a tensor by numbers of another one: indices along its axes.
namespace systole::operators {

/// The attribute `counts_from_end`: whether negative indices count from the end, or are refused.
ir::AttributeDeclaration counts_from_end_attribute();
/// The attribute that a file gives where negative indices are refused.
ir::NamedAttribute refuses_negative();
bool counts_from_end(const ir::Node& node);

/// The element of an axis that an index names. Throws ModelError if it is outside.
std::size_t element_at(std::int32_t index, const ir::Shape& shape, std::size_t axis, bool counts_from_end);

/// Indices along some neighbouring axes of a tensor, of which each tuple names one place.
struct IndexedAxes {
    std::size_t first = 0;
    std::size_t count = 1;
    bool counts_from_end = true;
};
/// The places that tuples of indices name, numbered row-major along their axes alone. Throws ModelError if
/// one is outside.
std::vector<std::size_t> tuple_places(const ir::Shape& shape, const IndexedAxes& axes,
                                      std::span<const std::int32_t> indices);

/// Throws ModelError unless indices lie beside the elements of a tensor that they name along an axis: both
/// have as many axes, and along the others there are no more indices than elements.
void check_indices_beside(const ir::Shape& shape, const ir::Shape& indices, std::size_t axis);
/// The elements of a tensor that such indices name: those of their own places along the other axes. Throws
/// ModelError if one is outside.
std::vector<std::size_t> places_beside(const ir::Shape& shape, const ir::Shape& indices, std::size_t axis,
                                       std::span<const std::int32_t> numbers, bool counts_from_end);

/// The indices that an input of a call holds; those of a constant are there once.
std::vector<std::int32_t> indices_of(const TensorCall& call, std::size_t input);
/// The indices of one inference among them.
std::span<const std::int32_t> of_inference(const TensorCall& call, std::size_t input,
                                           std::span<const std::int32_t> indices, std::size_t inference);
/// The indices of a constant; nullopt if they are known only when the network runs.
std::optional<std::vector<std::int32_t>> known_indices(const ir::Value& value);

/// The bytes that a node reads of its first input, a constant, as a table: as many elements as its result
/// has, or all of them; nullopt for other inputs (Operator::bytes_read).
std::optional<std::uint64_t> indexed_bytes(const ir::NodeView& node, std::size_t input);
/// Throws ModelError unless indices are integers.
void check_index_type(const ir::Value& indices);

}  // namespace systole::operators
