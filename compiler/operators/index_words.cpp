#include "compiler/operators/index_words.h"

#include <fmt/format.h>

#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace systole::operators {
namespace {

/// Rows of the zeros that are read to check indices: each is a row of lanes in the machine's memory.
constexpr std::size_t most_checked_elements = std::size_t{1} << 18U;

std::uint32_t extent32(std::size_t count) {
    return static_cast<std::uint32_t>(count);
}

}  // namespace

void check_compared(const ir::Node& node, std::uint64_t elements, std::uint64_t indices) {
    if (elements == 0 || indices <= most_compared_elements / elements) return;
    WordsBuilder::fail(node, fmt::format("a tensor core compares each of {} elements with {} computed "
                                         "indices; there may be {} comparisons",
                                         elements, indices, most_compared_elements));
}

ir::ValueId counted_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices,
                            std::size_t count) {
    const DataType type = builder.value(indices).type;
    if (type != DataType::Int32) {
        WordsBuilder::fail(
            node, fmt::format("its indices are {}; a tensor core needs those of int32", name_of(type)));
    }
    if (!counts_from_end(node)) return indices;
    return builder.chain_as(DataType::Int32, {indices}, [&](std::span<const Word> in) {
        const Word extent = constant_word(in[0].steps(), extent32(count));
        const Word behind = apply(WordOperation::AddInt, {in[0], extent});
        // Without a sign, what is still below 0 is above all extents.
        return select(apply(WordOperation::LessUint, {behind, extent}), behind, in[0]);
    });
}

ir::ValueId checked_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices,
                            std::size_t count) {
    const ir::ValueId counted = counted_indices(node, builder, indices, count);
    if (builder.value(indices).constant) return counted;
    if (count > most_checked_elements) {
        WordsBuilder::fail(
            node, fmt::format("its indices are of an axis of {} elements; a tensor core finds single "
                              "elements along at most {}",
                              count, most_checked_elements));
    }
    const ir::Shape shape = builder.shape_of(counted);
    const ir::ValueId flat = builder.reshape(counted, {1, extent32(shape.elements())});
    const ir::ValueId worst =
        shape.elements() == 1 ? flat : builder.reduce(systole::Reduction::MaximumUint, flat, {1});
    const ir::ValueId zeros =
        builder.integers("zeros", {extent32(count), 1}, std::vector<std::int32_t>(count, 0));
    const ir::ValueId zero = rows_at(builder, zeros, {.rows = count}, worst);
    const std::vector<std::uint32_t> ones(shape.rank(), 1);
    return builder.chain_as(DataType::Int32, {counted, builder.reshape(zero, ir::Shape(ones))},
                            [](std::span<const Word> in) {
                                return apply(WordOperation::AddInt, {in[0], in[1]});
                            });
}

ir::ValueId tuple_words(const ir::Node& node, WordsBuilder& builder, ir::ValueId indices,
                        const ir::Shape& shape, const IndexedAxes& axes) {
    const auto tuples = extent32(builder.shape_of(indices).elements() / axes.count);
    const auto index_axes = extent32(axes.count);
    const ir::ValueId all = builder.reshape(indices, {1, tuples, index_axes});
    ir::ValueId places = 0;
    for (std::uint32_t i = 0; i < index_axes; ++i) {
        const std::uint32_t extent = shape[axes.first + i];
        const ir::ValueId along = builder.reshape(builder.slice(all, {0, 0, i}, {1, tuples, 1}), {1, tuples});
        const ir::ValueId index = checked_indices(node, builder, along, extent);
        if (i == 0) {
            places = index;
            continue;
        }
        places = builder.chain_as(DataType::Int32, {places, index}, [&](std::span<const Word> in) {
            const Word lines =
                apply(WordOperation::MultiplyInt, {in[0], constant_word(in[0].steps(), extent)});
            return apply(WordOperation::AddInt, {lines, in[1]});
        });
    }
    return places;
}

ir::ValueId rows_at(WordsBuilder& builder, ir::ValueId input, const RowTable& table, ir::ValueId numbers) {
    const bool has_batch = builder.value(input).has_batch();
    const auto rows = extent32(table.rows);
    const auto columns = extent32(table.columns);
    const ir::Shape shape = has_batch ? ir::Shape{1, rows, columns} : ir::Shape{rows, columns};
    return builder.append("gather", {{"axis", std::int64_t{has_batch ? 1 : 0}}, refuses_negative()},
                          {builder.reshape(input, shape), numbers});
}

ir::ValueId words_at_indices(const ir::Node& node, WordsBuilder& builder, ir::ValueId input,
                             const AxisLines& lines, ir::ValueId indices) {
    check_compared(node, std::uint64_t{lines.outer} * lines.count * lines.inner,
                   builder.shape_of(indices)[2]);
    const ir::ValueId wanted = checked_indices(node, builder, indices, lines.count);
    const ir::ValueId all =
        builder.reshape(input, {1, extent32(lines.outer), 1, extent32(lines.count), extent32(lines.inner)});
    constexpr std::size_t compared_axis = 3;
    const ir::ValueId along = numbers_along(builder, 5, compared_axis, lines.count);
    const ir::ValueId alone =
        builder.chain_as(DataType::Int32, {wanted, along, all}, [&](std::span<const Word> in) {
            return select(apply(WordOperation::EqualInt, {in[0], in[1]}), in[2],
                          constant_word(in[0].steps(), 0));
        });
    const ir::ValueId found = builder.reduce(systole::Reduction::Or, alone, {compared_axis}, false);
    const DataType type = builder.value(input).type;
    if (type == DataType::Int32) return found;
    return builder.chain_as(type, {found}, [](std::span<const Word> in) { return in[0]; });
}

ir::ValueId numbers_along(WordsBuilder& builder, std::size_t rank, std::size_t axis, std::size_t count) {
    std::vector<std::uint32_t> extents(rank, 1);
    extents[axis] = extent32(count);
    std::vector<std::int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return builder.integers("numbers", ir::Shape(extents), std::move(numbers));
}

}  // namespace systole::operators
