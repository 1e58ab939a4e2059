// Rules of instructions whose places are computed.
#include <fmt/format.h>

#include <algorithm>

#include "base/message_text.h"
#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

bool is_integer(const Shape& shape) {
    return traits_of(shape.type).is_integer;
}

/// Fails unless the operands from `first` on are indices into operand 0: a scalar for each dimension, or one
/// vector of them.
void check_start_indices(const CheckedInstruction& at, std::size_t first) {
    const std::size_t rank = at.array(0).rank();
    const std::size_t count = at.operands() - first;
    bool fits = count == rank;
    for (std::size_t i = first; fits && i < at.operands(); ++i) {
        fits = at.array(i).is_scalar() && is_integer(at.array(i)) && at.operand_id(i) == at.operand_id(first);
    }
    if (!fits && count == 1) {
        const Shape& vector = at.array(first);
        fits = is_integer(vector) && vector.dimensions == Numbers{static_cast<std::int64_t>(rank)};
    }
    if (!fits) {
        CheckedInstruction::fail(
            fmt::format("it has {} for {}; it must have an integer for each dimension, all of one type",
                        counted(count, "index operand"), at.text_of(at.operand_id(0))));
    }
}

/// Fails unless sizes are from 0 to those of an array.
void check_sizes(const CheckedInstruction& at, std::string_view what, const Numbers& sizes,
                 const Shape& array) {
    bool fits = sizes.size() == array.rank();
    for (std::size_t i = 0; fits && i < sizes.size(); ++i)
        fits = sizes[i] >= 0 && sizes[i] <= array.dimensions[i];
    if (!fits) {
        CheckedInstruction::fail(fmt::format("{} {}; they must be from 0 to those of {}", what, joined(sizes),
                                             at.text_of(at.operand_id(0))));
    }
}

void check_sorted(std::string_view what, const Numbers& axes) {
    if (std::ranges::is_sorted(axes)) return;
    CheckedInstruction::fail(fmt::format("{} {}; they must be in order", what, joined(axes)));
}

/// Axes in order, each in range and named once.
void check_sorted_axes(const std::string& what, const Numbers& axes, std::size_t rank) {
    check_axes(fmt::format("one of {}", what), axes, rank);
    check_sorted(what + " are", axes);
}

/// The axes that gather and scatter name of their operand and of their indices.
struct IndexedAxes {
    const Numbers& skipped;  ///< of the operand: collapsed or inserted
    const Numbers& operand_batch;
    const Numbers& index_batch;
    const Numbers& mapped;  ///< of the operand, by the numbers in the vectors of indices
    std::int64_t vector_axis;
};

/// Fails unless the axes fit the operand and the indices. The sizes of the axes of the indices without that
/// of the vectors.
Numbers checked_index_extents(const Shape& operand, const Shape& indices, const IndexedAxes& axes) {
    if (!is_integer(indices)) {
        CheckedInstruction::fail(fmt::format("its indices are {}; they must be integers",
                                             array_text(indices.type, indices.dimensions)));
    }
    if (axes.vector_axis < 0 || static_cast<std::size_t>(axes.vector_axis) > indices.rank()) {
        CheckedInstruction::fail(
            fmt::format("index_vector_dim is {}; it must be from 0 to {}", axes.vector_axis, indices.rank()));
    }
    const auto vector_axis = static_cast<std::size_t>(axes.vector_axis);
    const std::int64_t length = vector_axis == indices.rank() ? 1 : indices.dimensions[vector_axis];
    if (length != static_cast<std::int64_t>(axes.mapped.size())) {
        CheckedInstruction::fail(fmt::format("its indices have {} numbers for {}; they must be as many",
                                             length, counted(axes.mapped.size(), "dimension")));
    }
    check_axes("a dimension of its operand", concatenated(axes.skipped, axes.operand_batch), operand.rank());
    check_axes("a dimension of its operand", concatenated(axes.mapped, axes.operand_batch), operand.rank());
    check_axes("a batch dimension of its indices", axes.index_batch, indices.rank());
    check_sorted("the collapsed or inserted dimensions are", axes.skipped);
    check_sorted("the batch dimensions of its operand are", axes.operand_batch);
    if (axes.operand_batch.size() != axes.index_batch.size()) {
        CheckedInstruction::fail(fmt::format(
            "it has {} and {} batch dimensions of its operand and its indices; they must be as many",
            axes.operand_batch.size(), axes.index_batch.size()));
    }
    if (contains(axes.index_batch, vector_axis)) {
        CheckedInstruction::fail(fmt::format(
            "a batch dimension of its indices is {}; it must not be index_vector_dim", vector_axis));
    }
    for (std::size_t i = 0; i < axes.operand_batch.size(); ++i) {
        const std::int64_t of_operand = extent_of(operand, axes.operand_batch[i]);
        const std::int64_t of_indices = extent_of(indices, axes.index_batch[i]);
        if (of_operand == of_indices) continue;
        CheckedInstruction::fail(fmt::format(
            "its batch dimensions have sizes {} and {}; they must be the same", of_operand, of_indices));
    }
    return other_extents(indices.dimensions, std::span(&axes.vector_axis, 1));
}

}  // namespace

void check_dynamic_slice(const CheckedInstruction& at) {
    const Numbers& sizes = at.attributes<DynamicSlice>().sizes;
    check_start_indices(at, 1);
    check_sizes(at, "the sizes of its slice are", sizes, at.array(0));
    at.expect(at.array(0).type, sizes);
}

void check_dynamic_update_slice(const CheckedInstruction& at) {
    const Shape& update = at.array(1);
    check_start_indices(at, 2);
    if (update.type != at.array(0).type) {
        CheckedInstruction::fail(fmt::format("its operands are {} and {}; their types must be the same",
                                             at.text_of(at.operand_id(0)), at.text_of(at.operand_id(1))));
    }
    check_sizes(at, "the sizes of its update are", update.dimensions, at.array(0));
    at.expect(at.operand_id(0));
}

void check_gather(const CheckedInstruction& at) {
    const auto& gather = at.attributes<Gather>();
    const Shape& operand = at.array(0);
    const Numbers batch =
        checked_index_extents(operand, at.array(1),
                              {gather.collapsed_axes, gather.operand_batch_axes, gather.index_batch_axes,
                               gather.start_index_map, gather.index_vector_axis});
    check_sizes(at, "the sizes of its slices are", gather.slice_sizes, operand);
    Numbers offsets;
    for (std::size_t axis = 0; axis < operand.rank(); ++axis) {
        if (!contains(gather.collapsed_axes, axis) && !contains(gather.operand_batch_axes, axis)) {
            offsets.push_back(gather.slice_sizes[axis]);
        } else if (gather.slice_sizes[axis] > 1) {
            CheckedInstruction::fail(
                fmt::format("the size of its slices is {} in dimension {}; it must be 1 at most there",
                            gather.slice_sizes[axis], axis));
        }
    }
    if (offsets.size() != gather.offset_axes.size()) {
        CheckedInstruction::fail(fmt::format("it has {}; it must have {}, those of its slices",
                                             counted(gather.offset_axes.size(), "offset dimension"),
                                             offsets.size()));
    }
    const std::size_t rank = batch.size() + offsets.size();
    if (rank > most_dimensions) {
        CheckedInstruction::fail(
            fmt::format("its result has {} dimensions; at most {} are supported", rank, most_dimensions));
    }
    check_sorted_axes("the offset dimensions", gather.offset_axes, rank);
    Numbers dimensions(rank);
    std::size_t next_offset = 0;
    std::size_t next_batch = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        dimensions[axis] = contains(gather.offset_axes, axis) ? offsets[next_offset++] : batch[next_batch++];
    }
    at.expect(operand.type, dimensions);
}

void check_scatter(const CheckedInstruction& at) {
    const auto& scatter = at.attributes<Scatter>();
    if (at.operands() % 2 != 1) {
        CheckedInstruction::fail(
            fmt::format("it has {}; it must have arrays, indices, and as many updates as arrays",
                        counted(at.operands(), "operand")));
    }
    const std::size_t count = at.operands() / 2;
    const Shape& operand = at.array(0);
    const Numbers batch = checked_index_extents(
        operand, at.array(count),
        {scatter.inserted_window_axes, scatter.operand_batch_axes, scatter.index_batch_axes,
         scatter.scatter_axes_to_operand_axes, scatter.index_vector_axis});
    const Shape& update = at.array(count + 1);
    check_sorted_axes("the window dimensions of its updates", scatter.update_window_axes, update.rank());
    const std::size_t windows = scatter.update_window_axes.size();
    const std::size_t named =
        windows + scatter.inserted_window_axes.size() + scatter.operand_batch_axes.size();
    if (named != operand.rank()) {
        CheckedInstruction::fail(fmt::format(
            "its window, inserted and batch dimensions are {}; they must be as many as those of {}", named,
            at.text_of(at.operand_id(0))));
    }
    if (update.rank() != windows + batch.size()) {
        CheckedInstruction::fail(
            fmt::format("its updates are {}; they must have {}, of the windows and of the indices",
                        at.text_of(at.operand_id(count + 1)), counted(windows + batch.size(), "dimension")));
    }
    std::size_t next_window = 0;
    std::size_t next_batch = 0;
    for (std::size_t axis = 0; axis < update.rank(); ++axis) {
        if (contains(scatter.update_window_axes, axis)) {
            while (contains(scatter.inserted_window_axes, next_window) ||
                   contains(scatter.operand_batch_axes, next_window)) {
                ++next_window;
            }
            if (update.dimensions[axis] <= operand.dimensions[next_window++]) continue;
        } else if (update.dimensions[axis] == batch[next_batch++]) {
            continue;
        }
        CheckedInstruction::fail(fmt::format(
            "its updates are {}, with a size in dimension {} that fits neither its operand nor its indices",
            at.text_of(at.operand_id(count + 1)), axis));
    }
    std::vector<ElementType> types;
    const std::vector<ShapeId> results = at.results(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Shape& array = at.array(i);
        const Shape& updates = at.array(count + 1 + i);
        types.push_back(array.type);
        if (array.dimensions != operand.dimensions || updates.dimensions != update.dimensions ||
            updates.type != array.type) {
            CheckedInstruction::fail(
                fmt::format("its operand {} is {}, its update {}; they must have the dimensions of {} and "
                            "{}, and one type",
                            i, at.text_of(at.operand_id(i)), at.text_of(at.operand_id(count + 1 + i)),
                            at.text_of(at.operand_id(0)), at.text_of(at.operand_id(count + 1))));
        }
        at.expect_part(results[i], array.type, array.dimensions);
    }
    check_combiner(at, 0, types);
}

}  // namespace systole::hlo
