// Instructions whose places are computed. No memory of the machine is addressed by data: the elements of all
// places are compared with the place that is asked for.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/hlo/axes.h"
#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using ir::Word;
using Words = std::span<const Word>;

/// What is compared with computed places, at most: elements of an array, and nodes.
constexpr std::int64_t most_compared_elements = std::int64_t{1} << 26;
constexpr std::int64_t most_places = 4096;

std::int64_t elements_of(const Numbers& dimensions) {
    std::int64_t elements = 1;
    for (const std::int64_t dimension : dimensions)
        elements = std::min(elements * dimension, most_compared_elements + 1);
    return elements;
}

/// The same of dimensions that have been checked.
std::uint64_t count_of(const Numbers& dimensions) {
    return static_cast<std::uint64_t>(elements_of(dimensions));
}

void check_compared(const Numbers& dimensions) {
    if (elements_of(dimensions) <= most_compared_elements) return;
    throw ModelError(
        fmt::format("it compares {} elements or more with computed places; programs are compiled "
                    "with at most {}",
                    most_compared_elements + 1, most_compared_elements));
}

void check_places(std::int64_t places) {
    if (places <= most_places) return;
    throw ModelError(
        fmt::format("its slices have {} places along a dimension; programs are compiled with at "
                    "most {}",
                    places, most_places));
}

/// A place as s32; larger ones of types without a sign are its largest number.
Array as_place(GraphMaker& maker, const Array& index) {
    const ElementType type = number_in_32_bits(maker, index);
    return maker.chain(ElementType::S32, index.dimensions, {index}, [&](Words in) {
        if (is_signed(type) || word_bits(type) < 32) return in[0];
        return apply(WordOperation::MinimumUint, in[0], word(in[0], highest_word(ElementType::S32)));
    });
}

Array clamped(GraphMaker& maker, const Array& start, std::int64_t most) {
    return maker.chain(ElementType::S32, start.dimensions, {start}, [&](Words in) {
        return apply(WordOperation::MinimumInt, apply(WordOperation::MaximumInt, in[0], word(in[0], 0)),
                     word(in[0], static_cast<std::uint32_t>(most)));
    });
}

/// The same words, as another type.
Array as_type(GraphMaker& maker, const Array& array, ElementType type) {
    return maker.chain(type, array.dimensions, {array}, [](Words in) { return in[0]; });
}

/// An array of single numbers in the dimensions of others.
Array broadcast(Array array, const Numbers& dimensions) {
    array.dimensions = dimensions;
    return array;
}

Array range_along(GraphMaker& maker, const Numbers& dimensions, std::size_t axis) {
    return maker.iota(ElementType::S32, dimensions, axis);
}

/// Where `a` + `offset` is `b`.
Array places_meet(GraphMaker& maker, const Numbers& dimensions, const Array& a, std::int64_t offset,
                  const Array& b) {
    return maker.chain(ElementType::Pred, dimensions, {a, b}, [&](Words in) {
        const Word shifted = offset == 0 ? in[0]
                                         : apply(WordOperation::AddInt, in[0],
                                                 word(in[0], static_cast<std::uint32_t>(offset)));
        return apply(WordOperation::EqualInt, shifted, in[1]);
    });
}

/// `size` elements of an axis from a place on that is inside. The place has dimensions that are broadcast to
/// those of the array, with 1 along the axis.
Array taken_along(GraphMaker& maker, const Array& array, std::size_t axis, const Array& start,
                  std::int64_t size) {
    const std::int64_t extent = array.dimensions[axis];
    if (size == extent) return array;
    if (const auto place = maker.word_of(start)) return maker.part(array, axis, *place, size);
    check_compared(array.dimensions);
    const std::size_t first_node = maker.nodes();
    Numbers found = array.dimensions;
    found[axis] = size;
    const std::int64_t starts = extent - size + 1;
    if (size > 1 && starts <= size) {
        check_places(starts);
        Array result = maker.part(array, axis, 0, size);
        for (std::int64_t place = 1; place < starts; ++place) {
            const Array each = maker.part(array, axis, place, size);
            const Array here = maker.constant(ElementType::S32, {}, static_cast<std::uint32_t>(place));
            const Array meets =
                places_meet(maker, each.dimensions, broadcast(start, each.dimensions), 0, here);
            result = maker.select(meets, each, result);
        }
        maker.note_lookup(first_node, count_of(found), count_of(found) * (count_of({starts}) - 1));
        return result;
    }
    check_places(size);
    const Array places = range_along(maker, array.dimensions, axis);
    std::vector<Array> elements;
    for (std::int64_t i = 0; i < size; ++i) {
        const Array meets =
            places_meet(maker, array.dimensions, broadcast(start, array.dimensions), i, places);
        const Numbers along{static_cast<std::int64_t>(axis)};
        // All bits but those of the one element are 0.
        const Array zero = maker.constant(ElementType::S32, {}, 0);
        const Array alone =
            maker.chain(ElementType::S32, array.dimensions, {meets, array, zero},
                        [](Words in) { return apply(WordOperation::Select, in[0], in[1], in[2]); });
        elements.push_back(as_type(maker, maker.reduce("or", alone, along), array.type));
    }
    Array result = maker.concatenate(elements, axis);
    maker.note_lookup(first_node, count_of(found), count_of(array.dimensions) * count_of({size}));
    return result;
}

/// The axes of the operand and of the indices of a gather or scatter, in the order in which they are worked
/// on: those that both have, all other ones of the indices as one, and the other ones of the operand.
class IndexedArrays {
public:
    IndexedArrays(const Numbers& operand, const Numbers& indices, const Numbers& operand_batch,
                  const Numbers& index_batch, std::int64_t vector_axis)
        : operand_(operand), vector_axis_(vector_axis), operand_batch_(operand_batch) {
        for (std::size_t axis = 0; axis < indices.size(); ++axis) {
            if (static_cast<std::int64_t>(axis) == vector_axis) continue;
            const auto common = std::ranges::find(index_batch, static_cast<std::int64_t>(axis));
            if (common == index_batch.end()) {
                own_.push_back(static_cast<std::int64_t>(batch_.size()));
            } else {
                const auto number = static_cast<std::size_t>(common - index_batch.begin());
                common_of_operand_.push_back(operand_batch[number]);
                common_.push_back(static_cast<std::int64_t>(batch_.size()));
            }
            batch_.push_back(indices[axis]);
        }
        kept_ = other_axes(operand.size(), operand_batch);
        for (const std::int64_t axis : own_) windows_ *= batch_[place(axis)];
    }

    /// The place of an axis of the operand.
    std::size_t place_of(std::int64_t axis) const {
        const auto found = std::ranges::find(kept_, axis);
        return common_.size() + 1 + static_cast<std::size_t>(found - kept_.begin());
    }
    std::size_t windows_axis() const { return common_.size(); }
    std::int64_t windows() const { return windows_; }
    /// Axes of the operand that the indices do not have, too.
    const Numbers& kept() const { return kept_; }

    /// The operand, the same for all windows.
    Array operand(GraphMaker& maker, const Array& array) const {
        const Array moved = maker.transpose(array, concatenated(common_of_operand_, kept_));
        Numbers dimensions = moved.dimensions;
        dimensions.insert(dimensions.begin() + static_cast<std::ptrdiff_t>(common_.size()), 1);
        return maker.reshape(moved, dimensions);
    }
    /// Back from `operand`.
    Array in_own_order(GraphMaker& maker, const Array& array) const {
        return maker.transpose_back(array, concatenated(common_of_operand_, kept_), operand_);
    }
    /// Number `component` of each vector of indices.
    Array index(GraphMaker& maker, const Array& indices, std::size_t component) const {
        Array number = indices;
        if (static_cast<std::size_t>(vector_axis_) < indices.dimensions.size()) {
            number = maker.part(indices, place(vector_axis_), static_cast<std::int64_t>(component), 1);
            number = maker.reshape(number, batch_);
        }
        number = maker.transpose(number, concatenated(common_, own_));
        Numbers dimensions = common_extents();
        dimensions.push_back(windows_);
        dimensions.insert(dimensions.end(), kept_.size(), 1);
        return maker.reshape(as_place(maker, number), dimensions);
    }
    /// Windows with the axes of the indices (`batch`, in an array's order) and their own ones.
    Array windows(GraphMaker& maker, const Array& array, const Numbers& window_axes,
                  const Numbers& window_extents) const {
        const Numbers batch_axes = other_axes(array.dimensions.size(), window_axes);
        Numbers axes;
        for (const std::int64_t axis : common_) axes.push_back(batch_axes[place(axis)]);
        for (const std::int64_t axis : own_) axes.push_back(batch_axes[place(axis)]);
        axes.insert(axes.end(), window_axes.begin(), window_axes.end());
        Numbers dimensions = common_extents();
        dimensions.push_back(windows_);
        dimensions.insert(dimensions.end(), window_extents.begin(), window_extents.end());
        return maker.reshape(maker.transpose(array, axes), dimensions);
    }
    /// Back from windows without collapsed axes to a result with these offset axes.
    Array result(GraphMaker& maker, const Array& array, const Numbers& offset_axes,
                 const Numbers& result_dimensions) const {
        Numbers order;  // the axes of the result in the order of `array`
        const Numbers batch_axes = other_axes(result_dimensions.size(), offset_axes);
        for (const std::int64_t axis : common_) order.push_back(batch_axes[place(axis)]);
        for (const std::int64_t axis : own_) order.push_back(batch_axes[place(axis)]);
        order.insert(order.end(), offset_axes.begin(), offset_axes.end());
        return maker.transpose_back(array, order, result_dimensions);
    }

private:
    Numbers common_extents() const {
        Numbers extents;
        for (const std::int64_t axis : common_) extents.push_back(batch_[place(axis)]);
        return extents;
    }

    Numbers operand_;
    std::int64_t vector_axis_;
    Numbers operand_batch_;
    Numbers batch_;              ///< the extents of the indices without their vectors
    Numbers common_;             ///< of `batch_`
    Numbers common_of_operand_;  ///< the same axes of the operand
    Numbers own_;                ///< of `batch_`
    Numbers kept_;               ///< axes of the operand
    std::int64_t windows_ = 1;
};

/// Where updates go, and what goes there.
struct Placed {
    Array values;
    Array mask;  ///< the places that an update meets
};

/// An axis of windows along which they begin at computed places of a longer axis. `start` may be outside:
/// then the window has no place at all.
void place_along(GraphMaker& maker, Placed& placed, std::size_t axis, std::int64_t extent,
                 const Array& start) {
    const std::int64_t size = placed.values.dimensions[axis];
    Numbers dimensions = placed.values.dimensions;
    dimensions[axis] = extent;
    check_compared(dimensions);
    const std::size_t first_node = maker.nodes();
    const std::uint64_t written = count_of(placed.values.dimensions);
    const Array begin = broadcast(start, dimensions);
    const Array places = range_along(maker, dimensions, axis);
    Array values = placed.values;
    if (size > 1 && size < extent) {
        check_places(size);
        Array all = broadcast(maker.part(placed.values, axis, 0, 1), dimensions);
        for (std::int64_t i = 1; i < size; ++i) {
            const Array element = broadcast(maker.part(placed.values, axis, i, 1), dimensions);
            all = maker.select(places_meet(maker, dimensions, begin, i, places), element, all);
        }
        values = all;
    }
    values.dimensions = dimensions;
    const Array before = broadcast(placed.mask, dimensions);
    // Inside: from 0 to the last start, and the place is from the start on.
    placed.mask = maker.chain(ElementType::Pred, dimensions, {before, begin, places}, [&](Words in) {
        const Word offset = apply(WordOperation::SubtractInt, in[2], in[1]);
        const Word meets =
            apply(WordOperation::LessUint, offset, word(in[1], static_cast<std::uint32_t>(size)));
        const Word is_inside =
            apply(WordOperation::LessUint, in[1], word(in[1], static_cast<std::uint32_t>(extent - size + 1)));
        return apply(WordOperation::And, in[0], apply(WordOperation::And, meets, is_inside));
    });
    placed.values = values;
    if (!maker.word_of(start)) maker.note_lookup(first_node, written, count_of(dimensions));
}

std::vector<Array> start_indices(GraphMaker& maker, const Operation& operation, std::size_t first,
                                 std::size_t rank) {
    std::vector<Array> starts;
    if (operation.operands.size() == first + rank &&
        (rank != 1 || operation.operand(first).dimensions.empty())) {
        for (std::size_t i = 0; i < rank; ++i)
            starts.push_back(as_place(maker, operation.operand(first + i)));
        return starts;
    }
    for (std::size_t i = 0; i < rank; ++i) {
        const Array one = maker.part(operation.operand(first), 0, static_cast<std::int64_t>(i), 1);
        starts.push_back(as_place(maker, maker.reshape(one, {})));
    }
    return starts;
}

}  // namespace

Arrays map_dynamic_slice(GraphMaker& maker, const Operation& operation) {
    Array array = operation.operand(0);
    const Numbers& sizes = operation.attributes<DynamicSlice>().sizes;
    const std::vector<Array> starts = start_indices(maker, operation, 1, sizes.size());
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        const std::int64_t most = array.dimensions[axis] - sizes[axis];
        const Array start = clamped(maker, starts[axis], most);
        array = taken_along(maker, array, axis, start, sizes[axis]);
    }
    return {array};
}

Arrays map_dynamic_update_slice(GraphMaker& maker, const Operation& operation) {
    const Array& array = operation.operand(0);
    const Array& update = operation.operand(1);
    const std::vector<Array> starts = start_indices(maker, operation, 2, array.dimensions.size());
    Placed placed{.values = update, .mask = maker.constant(ElementType::Pred, update.dimensions, 1)};
    for (std::size_t axis = 0; axis < starts.size(); ++axis) {
        const std::int64_t most = array.dimensions[axis] - update.dimensions[axis];
        if (most == 0) continue;
        place_along(maker, placed, axis, array.dimensions[axis], clamped(maker, starts[axis], most));
    }
    if (placed.values.dimensions == update.dimensions && array.dimensions == update.dimensions)
        return {update};
    return {maker.select(placed.mask, placed.values, array)};
}

Arrays map_gather(GraphMaker& maker, const Operation& operation) {
    const auto& gather = operation.attributes<Gather>();
    const Array& operand = operation.operand(0);
    const Array& indices = operation.operand(1);
    const IndexedArrays arrays(operand.dimensions, indices.dimensions, gather.operand_batch_axes,
                               gather.index_batch_axes, gather.index_vector_axis);
    if (std::ranges::find(gather.slice_sizes, 0) != gather.slice_sizes.end())
        throw ModelError("its slices have a dimension of size 0; programs are compiled without such slices");
    Array taken = arrays.operand(maker, operand);
    taken.dimensions[arrays.windows_axis()] = arrays.windows();
    for (std::size_t i = 0; i < gather.start_index_map.size(); ++i) {
        const std::int64_t axis = gather.start_index_map[i];
        const std::int64_t size = gather.slice_sizes[place(axis)];
        const std::int64_t most = operand.dimensions[place(axis)] - size;
        const Array start = clamped(maker, arrays.index(maker, indices, i), most);
        taken = taken_along(maker, taken, arrays.place_of(axis), start, size);
    }
    // Other axes have slices from their beginning.
    for (const std::int64_t axis : arrays.kept()) {
        const std::size_t at = arrays.place_of(axis);
        if (taken.dimensions[at] != gather.slice_sizes[place(axis)])
            taken = maker.part(taken, at, 0, gather.slice_sizes[place(axis)]);
    }
    return {arrays.result(maker, taken, gather.offset_axes, maker.result_of(operation).dimensions)};
}

Arrays map_scatter(GraphMaker& maker, const Operation& operation) {
    const auto& scatter = operation.attributes<Scatter>();
    if (operation.operands.size() != 3) {
        throw ModelError(fmt::format("it has {} arrays; programs are compiled with scatters of one",
                                     operation.operands.size() / 2));
    }
    const Array& operand = operation.operand(0);
    const Array& indices = operation.operand(1);
    const Computation& computation = maker.module().computations.at(operation.instruction.called.front());
    const bool sets = computation.root == computation.parameters[1];
    const auto opcode = only_operation(computation);
    const auto reduction = opcode ? machine_reduction(*opcode, operand.type) : std::nullopt;
    if (!sets) require_32_bits(operand);
    if (!sets && !reduction)
        throw ModelError("it combines by a computation of several instructions, which is not compiled");
    const IndexedArrays arrays(operand.dimensions, indices.dimensions, scatter.operand_batch_axes,
                               scatter.index_batch_axes, scatter.index_vector_axis);
    // The extents of windows by the axes of the operand that they have: 1 where they are inserted.
    Numbers extents;
    std::size_t next = 0;
    for (const std::int64_t axis : arrays.kept()) {
        extents.push_back(contains(scatter.inserted_window_axes, place(axis))
                              ? 1
                              : operation.operand(2).dimensions[place(scatter.update_window_axes[next++])]);
    }
    Placed placed{.values = arrays.windows(maker, operation.operand(2), scatter.update_window_axes, extents),
                  .mask = {}};
    placed.mask = maker.constant(ElementType::Pred, placed.values.dimensions, 1);
    const Array zero = maker.constant(ElementType::S32, {}, 0);
    for (const std::int64_t axis : arrays.kept()) {
        const auto mapped = std::ranges::find(scatter.scatter_axes_to_operand_axes, axis);
        const std::size_t at = arrays.place_of(axis);
        const std::int64_t extent = operand.dimensions[place(axis)];
        if (mapped != scatter.scatter_axes_to_operand_axes.end()) {
            const auto component =
                static_cast<std::size_t>(mapped - scatter.scatter_axes_to_operand_axes.begin());
            place_along(maker, placed, at, extent, arrays.index(maker, indices, component));
        } else if (placed.values.dimensions[at] != extent) {
            place_along(maker, placed, at, extent, zero);
        }
    }
    const Array target = arrays.operand(maker, operand);
    const std::size_t axis = arrays.windows_axis();
    const Numbers along{static_cast<std::int64_t>(axis)};
    if (sets) {
        if (arrays.windows() == 1)
            return {arrays.in_own_order(maker, maker.select(placed.mask, placed.values, target))};
        // Of several updates of a place, the last one stays.
        const Numbers& dimensions = placed.values.dimensions;
        const Array number = range_along(maker, dimensions, axis);
        const Array none = maker.constant(ElementType::S32, {}, ~std::uint32_t{0});
        const Array last = maker.reduce(
            "maximum_int", maker.select(placed.mask, number, broadcast(none, dimensions)), along);
        const Array alone = maker.chain(
            ElementType::S32, dimensions, {broadcast(last, dimensions), number, placed.values}, [](Words in) {
                return apply(WordOperation::Select, apply(WordOperation::EqualInt, in[0], in[1]), in[2],
                             word(in[0], 0));
            });
        const Array value = as_type(maker, maker.reduce("or", alone, along), operand.type);
        const Array result =
            maker.chain(operand.type, target.dimensions, {last, value, target}, [](Words in) {
                return apply(WordOperation::Select, apply(WordOperation::LessInt, in[0], word(in[0], 0)),
                             in[2], in[1]);
            });
        return {arrays.in_own_order(maker, result)};
    }
    const Array neutral = maker.constant(operand.type, {}, reduction->neutral);
    Array sums = maker.select(placed.mask, placed.values, broadcast(neutral, placed.values.dimensions));
    sums = fitted_result(maker, maker.reduce(reduction->name, sums, along));
    const Array result = maker.chain(operand.type, target.dimensions, {target, sums},
                                     [&](Words in) { return combined(*opcode, operand.type, in[0], in[1]); });
    return {arrays.in_own_order(maker, result)};
}

}  // namespace systole::hlo
