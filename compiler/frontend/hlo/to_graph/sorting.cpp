// Sorts along an axis, by a network of comparisons.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using Words = std::span<const ir::Word>;

/// Longer axes take too many comparisons.
constexpr std::int64_t most_sorted = std::int64_t{1} << 16;

/// Whether elements of `a` go before those of `b`.
using Before = std::function<Array(const std::vector<Array>& a, const std::vector<Array>& b)>;

/// A bitonic network: equal elements keep their order, as their numbers decide.
class Sorter {
public:
    Sorter(GraphMaker& maker, Before before) : maker_(maker), before_(std::move(before)) {}

    std::vector<Array> sort(const std::vector<Array>& arrays, std::size_t axis) {
        const Numbers whole = arrays.front().dimensions;
        count_ = whole[axis];
        if (count_ > most_sorted) {
            throw ModelError(fmt::format("it sorts {} elements; programs are compiled with at most {}",
                                         count_, most_sorted));
        }
        if (count_ == 1) return arrays;
        extent_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count_)));
        outer_ = 1;
        inner_ = 1;
        for (std::size_t i = 0; i < axis; ++i) outer_ *= whole[i];
        for (std::size_t i = axis + 1; i < whole.size(); ++i) inner_ *= whole[i];
        // The last array has the numbers of the elements; those from `count_` on are none.
        std::vector<Array> lines;
        lines.reserve(arrays.size() + 1);
        for (const Array& array : arrays) lines.push_back(padded(array));
        lines.push_back(maker_.iota(ElementType::S32, {outer_, extent_, inner_}, 1));
        for (std::int64_t sorted = 2; sorted <= extent_; sorted *= 2) {
            for (std::int64_t apart = sorted / 2; apart > 0; apart /= 2) exchange(lines, sorted, apart);
        }
        lines.pop_back();
        std::vector<Array> results;
        for (const Array& line : lines) {
            const Array kept = maker_.slice(line, {0, 0, 0}, {1, 1, 1}, {outer_, count_, inner_});
            results.push_back(maker_.reshape(kept, whole));
        }
        return results;
    }

private:
    Array padded(const Array& array) {
        Array lines = maker_.reshape(array, {outer_, count_, inner_});
        if (extent_ == count_) return lines;
        const std::vector<PaddingDimension> padding{
            {}, {.low = 0, .high = extent_ - count_, .interior = 0}, {}};
        return maker_.pad(lines, padding, maker_.constant(array.type, {}, 0));
    }

    /// Orders pairs of elements that lie so far apart; blocks of `sorted` elements go up and down in turn.
    void exchange(std::vector<Array>& lines, std::int64_t sorted, std::int64_t apart) {
        const std::int64_t blocks = extent_ / (2 * apart);
        const Numbers pairs{outer_, blocks, 2, apart * inner_};
        const Numbers side{outer_, blocks, 1, apart * inner_};
        std::vector<Array> low;
        std::vector<Array> high;
        for (const Array& line : lines) {
            const Array both = maker_.reshape(maker_.whole(line), pairs);
            low.push_back(maker_.slice(both, {0, 0, 0, 0}, {1, 1, 1, 1}, side));
            high.push_back(maker_.slice(both, {0, 0, 1, 0}, {1, 1, 1, 1}, side));
        }
        std::vector<std::uint32_t> falls;
        for (std::int64_t block = 0; block < blocks; ++block)
            falls.push_back((block * 2 * apart & sorted) != 0 ? 1 : 0);
        Array direction = maker_.constant(ElementType::Pred, {1, blocks, 1, 1}, std::move(falls));
        direction.dimensions = side;
        const Array first_number = low.back();
        const Array second_number = high.back();
        const std::vector<Array> first(low.begin(), low.end() - 1);
        const std::vector<Array> second(high.begin(), high.end() - 1);
        const Array high_first = before_(second, first);
        const Array low_first = before_(first, second);
        // Numbers that are none go behind all others; equal elements keep their order.
        const Array by_number = maker_.chain(
            ElementType::Pred, side, {low_first, high_first, first_number, second_number}, [&](Words in) {
                const ir::Word number_is_less = apply(WordOperation::LessInt, in[3], in[2]);
                const ir::Word ordered = apply(WordOperation::Or, in[0], in[1]);
                return apply(WordOperation::Select, ordered, in[1], number_is_less);
            });
        const Array swaps = maker_.chain(
            ElementType::Pred, side, {by_number, first_number, second_number, direction}, [&](Words in) {
                const ir::Word limit = word(in[0], static_cast<std::uint32_t>(count_ - 1));
                const ir::Word first_is_none = apply(WordOperation::LessInt, limit, in[1]);
                const ir::Word second_is_none = apply(WordOperation::LessInt, limit, in[2]);
                const ir::Word some_are = apply(WordOperation::Xor, first_is_none, second_is_none);
                const ir::Word up = apply(WordOperation::Select, some_are, first_is_none, in[0]);
                return apply(WordOperation::Xor, up, in[3]);
            });
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const Array joined = maker_.concatenate(
                {maker_.select(swaps, high[i], low[i]), maker_.select(swaps, low[i], high[i])}, 2);
            lines[i] = maker_.reshape(joined, {outer_, extent_, inner_});
        }
    }

    GraphMaker& maker_;
    Before before_;
    std::int64_t count_ = 0;
    std::int64_t extent_ = 0;  ///< a power of two
    std::int64_t outer_ = 1;
    std::int64_t inner_ = 1;
};

}  // namespace

Arrays map_sort(GraphMaker& maker, const Operation& operation) {
    const ComputationId comparator = operation.instruction.called.front();
    const Before before = [&](const std::vector<Array>& a, const std::vector<Array>& b) {
        std::vector<SharedArrays> arguments;
        for (std::size_t i = 0; i < a.size(); ++i) {
            arguments.push_back(std::make_shared<const Arrays>(Arrays{a[i]}));
            arguments.push_back(std::make_shared<const Arrays>(Arrays{b[i]}));
        }
        const Numbers dimensions = a.front().dimensions;
        return maker.evaluate(comparator, std::move(arguments), &dimensions)->front();
    };
    return Sorter(maker, before).sort(operation.all_arrays(), place(operation.attributes<Sort>().axis));
}

Arrays map_topk(GraphMaker& maker, const Operation& operation) {
    const auto& topk = operation.attributes<Topk>();
    const Array& array = operation.operand(0);
    const std::size_t axis = array.dimensions.size() - 1;
    const ElementType type = number_in_32_bits(maker, array);
    const Before before = [&](const std::vector<Array>& a, const std::vector<Array>& b) {
        return maker.chain(ElementType::Pred, a.front().dimensions, {a.front(), b.front()}, [&](Words in) {
            const Compare compare{topk.is_largest ? Direction::Gt : Direction::Lt,
                                  ComparisonType::TotalOrder};
            return compared(type, compare, in[0], in[1]);
        });
    };
    const Array numbers = maker.iota(ElementType::S32, array.dimensions, axis);
    std::vector<Array> sorted = Sorter(maker, before).sort({array, numbers}, axis);
    Numbers count = array.dimensions;
    count[axis] = topk.k;
    for (Array& each : sorted)
        each = maker.slice(each, Numbers(count.size(), 0), Numbers(count.size(), 1), count);
    return sorted;
}

}  // namespace systole::hlo
