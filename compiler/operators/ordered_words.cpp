#include "compiler/operators/ordered_words.h"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compiler/operators/axis_lines.h"
#include "compiler/operators/index_words.h"

namespace systole::operators {
namespace {

constexpr std::uint32_t infinity_word = 0x7F800000;
constexpr std::uint32_t least_word = 0x80000000;
constexpr std::uint32_t largest_word = 0x7FFFFFFF;
constexpr std::uint32_t minus_one = ~std::uint32_t{0};

/// Elements found one after the other, at most: each takes a few nodes.
constexpr std::size_t most_in_turn = 256;

Word less_int(const Word& a, const Word& b) {
    return apply(WordOperation::LessInt, {a, b});
}
Word equal_int(const Word& a, const Word& b) {
    return apply(WordOperation::EqualInt, {a, b});
}
Word both(const Word& a, const Word& b) {
    return apply(WordOperation::And, {a, b});
}
Word either(const Word& a, const Word& b) {
    return apply(WordOperation::Or, {a, b});
}
Word same_for_all(const Word& of, std::uint32_t word) {
    return constant_word(of.steps(), word);
}

/// The elements that the vector unit works on if each element is found behind the one before.
std::uint64_t work_in_turn(std::uint64_t line, std::uint64_t count) {
    constexpr std::uint64_t passes = 4;
    return passes * count * line;
}
/// The same if each element of a line is compared with all.
std::uint64_t work_by_rank(std::uint64_t line, std::uint64_t count) {
    return line * line + line * count;
}

/// Each element is the largest one behind the one before it: a lower number, or an equal one further on.
ir::ValueId found_in_turn(WordsBuilder& builder, ir::ValueId ordered, std::size_t axis, std::size_t count) {
    const ir::Shape shape = builder.shape_of(ordered);
    const ir::ValueId numbers = numbers_along(builder, shape.rank(), axis, shape[axis]);
    const auto whole = [&](const std::vector<ir::ValueId>& inputs, const WordFormula& formula) {
        return builder.chain_as(DataType::Int32, inputs, formula);
    };
    std::vector<ir::ValueId> found;
    ir::ValueId before = 0;  // the number found last
    for (std::size_t i = 0; i < count; ++i) {
        ir::ValueId rest = ordered;
        if (i > 0) {
            rest = whole({ordered, numbers, before, found.back()}, [](std::span<const Word> in) {
                const Word is_behind =
                    either(less_int(in[0], in[2]), both(equal_int(in[0], in[2]), less_int(in[3], in[1])));
                return select(is_behind, in[0], same_for_all(in[0], least_word));
            });
        }
        const ir::ValueId largest = builder.reduce(systole::Reduction::MaximumInt, rest, {axis});
        ir::ValueId places = 0;
        if (i == 0) {
            places = whole({ordered, numbers, largest}, [](std::span<const Word> in) {
                return select(equal_int(in[0], in[2]), in[1], same_for_all(in[0], largest_word));
            });
        } else {
            // Equal numbers come from behind the one before alone.
            const ir::ValueId from = whole({largest, before, found.back()}, [](std::span<const Word> in) {
                return select(less_int(in[0], in[1]), same_for_all(in[0], minus_one), in[2]);
            });
            places = whole({ordered, numbers, largest, from}, [](std::span<const Word> in) {
                return select(both(equal_int(in[0], in[2]), less_int(in[3], in[1])), in[1],
                              same_for_all(in[0], largest_word));
            });
        }
        found.push_back(builder.reduce(systole::Reduction::MinimumInt, places, {axis}));
        before = largest;
    }
    if (found.size() == 1) return found.front();
    return builder.append("concat", {{"axis", static_cast<std::int64_t>(axis)}}, std::move(found));
}

/// The rank of an element is how many others come before it.
ir::ValueId found_by_rank(WordsBuilder& builder, ir::ValueId ordered, std::size_t axis, std::size_t count) {
    const ir::Shape shape = builder.shape_of(ordered);
    const AxisLines lines = lines_along(shape, axis);
    const auto outer = static_cast<std::uint32_t>(lines.outer);
    const auto line = static_cast<std::uint32_t>(lines.count);
    const auto inner = static_cast<std::uint32_t>(lines.inner);
    // [1][outer][an element][another one][inner]
    constexpr std::size_t rank = 5;
    constexpr std::size_t one_axis = 2;
    constexpr std::size_t other_axis = 3;
    const ir::ValueId other = builder.reshape(ordered, {1, outer, 1, line, inner});
    const ir::ValueId comes_before = builder.chain_as(
        DataType::Int32,
        {builder.reshape(ordered, {1, outer, line, 1, inner}), other,
         numbers_along(builder, rank, one_axis, line), numbers_along(builder, rank, other_axis, line)},
        [](std::span<const Word> in) {
            return either(less_int(in[0], in[1]), both(equal_int(in[0], in[1]), less_int(in[3], in[2])));
        });
    const ir::ValueId ranks = builder.reduce(systole::Reduction::SumInt, comes_before, {other_axis});
    const ir::ValueId alone = builder.chain_as(
        DataType::Int32,
        {builder.reshape(ranks, {1, outer, 1, line, inner}), numbers_along(builder, rank, one_axis, count),
         numbers_along(builder, rank, other_axis, line)},
        [](std::span<const Word> in) {
            return select(equal_int(in[0], in[1]), in[2], same_for_all(in[0], 0));
        });
    const ir::ValueId found = builder.reduce(systole::Reduction::Or, alone, {other_axis});
    std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
    extents[axis] = static_cast<std::uint32_t>(count);
    return builder.reshape(found, ir::Shape(extents));
}

/// What NaN becomes, before the order is turned around.
constexpr std::uint32_t nan_word = infinity_word + 1;

}  // namespace

ir::ValueId ordered_words(WordsBuilder& builder, ir::ValueId input, bool ascending) {
    const bool is_real = builder.value(input).type != DataType::Int32;
    if (!is_real && ascending) return input;
    return builder.chain_as(DataType::Int32, {input}, [&](std::span<const Word> in) {
        Word number = in[0];
        if (is_real) {
            const Word size = both(in[0], same_for_all(in[0], largest_word));
            const Word zero = same_for_all(in[0], 0);
            const Word signed_size =
                select(less_int(in[0], zero), apply(WordOperation::SubtractInt, {zero, size}), size);
            const Word nan = same_for_all(in[0], nan_word);
            number = select(less_int(size, nan), signed_size, nan);
        }
        // The complement has the opposite order.
        return ascending ? number : apply(WordOperation::Xor, {number, same_for_all(in[0], minus_one)});
    });
}

ir::ValueId ordered_behind_nan(WordsBuilder& builder, ir::ValueId input, bool ascending, std::size_t axis) {
    const ir::ValueId ordered = ordered_words(builder, input, ascending);
    if (builder.value(input).type == DataType::Int32) return ordered;
    const ir::Shape shape = builder.shape_of(input);
    const ir::ValueId numbers = numbers_along(builder, shape.rank(), axis, shape[axis]);
    return builder.chain_as(DataType::Int32, {ordered, numbers}, [&](std::span<const Word> in) {
        const Word is_first = equal_int(in[1], same_for_all(in[0], 0));
        const Word of_nan =
            select(is_first, same_for_all(in[0], largest_word), same_for_all(in[0], least_word));
        const Word nan = same_for_all(in[0], ascending ? nan_word : ~nan_word);
        return select(equal_int(in[0], nan), of_nan, in[0]);
    });
}

ir::ValueId largest_in_lines(WordsBuilder& builder, ir::ValueId ordered, std::size_t axis, bool last) {
    const ir::Shape shape = builder.shape_of(ordered);
    const ir::ValueId numbers = numbers_along(builder, shape.rank(), axis, shape[axis]);
    const ir::ValueId largest = builder.reduce(systole::Reduction::MaximumInt, ordered, {axis});
    const ir::ValueId places =
        builder.chain_as(DataType::Int32, {ordered, largest, numbers}, [&](std::span<const Word> in) {
            return select(equal_int(in[0], in[1]), in[2],
                          same_for_all(in[0], last ? minus_one : largest_word));
        });
    return builder.reduce(last ? systole::Reduction::MaximumInt : systole::Reduction::MinimumInt, places,
                          {axis});
}

ir::ValueId first_in_lines(const ir::Node& node, WordsBuilder& builder, ir::ValueId ordered, std::size_t axis,
                           std::size_t count) {
    const ir::Shape shape = builder.shape_of(ordered);
    const std::uint64_t line = shape[axis];
    const bool can_rank = shape.elements() <= most_compared_elements / line;
    if (count <= most_in_turn && (!can_rank || work_in_turn(line, count) <= work_by_rank(line, count)))
        return found_in_turn(builder, ordered, axis, count);
    if (can_rank) return found_by_rank(builder, ordered, axis, count);
    WordsBuilder::fail(node,
                       fmt::format("its k is {}, of lines of {} elements; a tensor core finds at most {}, or "
                                   "compares all {} elements with those of their lines, {} pairs at most",
                                   count, line, most_in_turn, shape.elements(), most_compared_elements));
}

}  // namespace systole::operators
