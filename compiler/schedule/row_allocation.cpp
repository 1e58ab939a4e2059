#include "compiler/schedule/row_allocation.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace systole::schedule {
namespace {

/// Rows, as ranges that neither touch nor overlap.
class RowSet {
public:
    void add(std::uint64_t first, std::uint64_t end) {
        const auto begin = std::ranges::lower_bound(ranges_, first, {}, &Range::end);
        auto behind = begin;
        for (; behind != ranges_.end() && behind->first <= end; ++behind) {
            first = std::min(first, behind->first);
            end = std::max(end, behind->end);
        }
        if (begin == behind) {
            ranges_.insert(begin, {.first = first, .end = end});
            return;
        }
        *begin = {.first = first, .end = end};
        ranges_.erase(begin + 1, behind);
    }

    /// The end of the range with one of the rows from `first` on, or `first` if none has any.
    std::uint64_t behind(std::uint64_t first, std::uint64_t rows) const {
        const auto range = std::ranges::upper_bound(ranges_, first, {}, &Range::end);
        return range == ranges_.end() || range->first >= first + rows ? first : range->end;
    }

    std::uint64_t end() const { return ranges_.empty() ? 0 : ranges_.back().end; }

private:
    struct Range {
        std::uint64_t first = 0;
        std::uint64_t end = 0;
    };
    std::vector<Range> ranges_;
};

/// The rows that lifetimes take, by step: a segment tree over the steps. Node 1 has all steps; the children
/// 2n and 2n + 1 of a node halve its steps. A lifetime's steps are those of a few nodes, one beside the
/// other.
class TakenRows {
public:
    explicit TakenRows(std::size_t steps) : leaves_(std::bit_ceil(steps)), nodes_(2 * leaves_) {}

    /// The lowest row from which the lifetime's rows are free. If more than `most_ranges` ranges of taken
    /// rows lie before it: a row behind that of the last lifetime with as many rows, or behind all.
    std::uint64_t gap(const Lifetime& lifetime, std::size_t most_ranges) {
        std::uint64_t& last = last_gap_[lifetime.rows];
        auto row = gap_from(0, lifetime, most_ranges);
        if (!row) row = gap_from(last, lifetime, most_ranges);
        last = row ? *row : end(lifetime);
        return last;
    }

    void take(const Lifetime& lifetime, std::uint64_t row) {
        const std::uint64_t end = row + lifetime.rows;
        for_each_above(lifetime, [&](std::size_t node) { nodes_[node].in_some_step.add(row, end); });
        for_each_inside(lifetime, [&](std::size_t node) {
            nodes_[node].in_some_step.add(row, end);
            nodes_[node].in_all_steps.add(row, end);
        });
    }

private:
    struct Node {
        RowSet in_all_steps;  ///< of lifetimes that have all steps of the node, and not of the one above
        RowSet in_some_step;  ///< of those with steps of the node, and not all of the one above
    };

    /// The lowest row, from `first` on; absent behind too many ranges.
    std::optional<std::uint64_t> gap_from(std::uint64_t first, const Lifetime& lifetime,
                                          std::size_t most_ranges) const {
        std::uint64_t row = first;
        std::size_t ranges = 0;
        const auto pass = [&](const RowSet& rows) {
            const std::uint64_t behind = rows.behind(row, lifetime.rows);
            if (behind != row) ++ranges;
            row = behind;
        };
        for (std::size_t before = 1; before != ranges;) {
            before = ranges;
            for_each_above(lifetime, [&](std::size_t node) { pass(nodes_[node].in_all_steps); });
            for_each_inside(lifetime, [&](std::size_t node) { pass(nodes_[node].in_some_step); });
            if (ranges > most_ranges) return std::nullopt;
            if (ranges == 0) break;
        }
        return row;
    }

    /// The row behind all that are taken in the lifetime's steps.
    std::uint64_t end(const Lifetime& lifetime) const {
        std::uint64_t row = 0;
        for_each_above(lifetime,
                       [&](std::size_t node) { row = std::max(row, nodes_[node].in_all_steps.end()); });
        for_each_inside(lifetime,
                        [&](std::size_t node) { row = std::max(row, nodes_[node].in_some_step.end()); });
        return row;
    }

    /// Visits the largest nodes with steps of the lifetime alone.
    template <typename Visit>
    void for_each_inside(const Lifetime& lifetime, const Visit& visit) const {
        std::size_t first = leaves_ + lifetime.first_step;
        std::size_t end = leaves_ + lifetime.last_step + 1;
        for (; first < end; first /= 2, end /= 2) {
            if (first % 2 == 1) visit(first++);
            if (end % 2 == 1) visit(--end);
        }
    }
    /// Visits the nodes above these: all that have the first or the last step. A few of those inside are
    /// among them, for which both sets may hold more.
    template <typename Visit>
    void for_each_above(const Lifetime& lifetime, const Visit& visit) const {
        std::size_t first = (leaves_ + lifetime.first_step) / 2;
        std::size_t last = (leaves_ + lifetime.last_step) / 2;
        for (; first > 0; first /= 2, last /= 2) {
            visit(first);
            if (last != first) visit(last);
        }
    }

    std::size_t leaves_;
    std::vector<Node> nodes_;
    std::map<std::uint64_t, std::uint64_t> last_gap_;  ///< by number of rows
};

/// Orders that are tried in all where the first takes more rows than live at once, at most: fewer where they
/// would place more lifetimes in all.
constexpr std::size_t most_orders = 32;
constexpr std::size_t most_placements = 65'536;
/// Ranges of taken rows that all lifetimes of an order pass, at most, before they lie further up than they
/// could. Up to 2,048 lifetimes never do: none passes more ranges than there are lifetimes.
constexpr std::size_t most_ranges = std::size_t{1} << 22;

std::size_t steps_of(std::span<const Lifetime> lifetimes) {
    std::size_t steps = 0;
    for (const Lifetime& lifetime : lifetimes) steps = std::max<std::size_t>(steps, lifetime.last_step + 1U);
    return steps;
}

/// Places lifetimes in an order, each at the lowest place where it fits.
RowAllocation allocate_in_order(std::span<const Lifetime> lifetimes, std::span<const std::size_t> numbers) {
    RowAllocation allocation{
        .first_row = std::vector<std::uint64_t>(lifetimes.size(), 0), .rows = 0, .least_rows = 0};
    TakenRows taken(std::max<std::size_t>(steps_of(lifetimes), 1));
    const std::size_t ranges = most_ranges / std::max<std::size_t>(lifetimes.size(), 1);
    for (const std::size_t number : numbers) {
        const Lifetime& lifetime = lifetimes[number];
        if (lifetime.rows == 0) continue;  // fits everywhere
        const std::uint64_t row = taken.gap(lifetime, ranges);
        allocation.first_row[number] = row;
        allocation.rows = std::max(allocation.rows, row + lifetime.rows);
        taken.take(lifetime, row);
    }
    return allocation;
}

}  // namespace

std::uint64_t rows_at_once(std::span<const Lifetime> lifetimes) {
    const std::size_t steps = steps_of(lifetimes);
    std::vector<std::uint64_t> begin(steps + 1);
    std::vector<std::uint64_t> end(steps + 1);
    for (const Lifetime& lifetime : lifetimes) {
        if (lifetime.lies_in) continue;
        begin[lifetime.first_step] += lifetime.rows;
        end[lifetime.last_step + 1U] += lifetime.rows;
    }
    std::uint64_t rows = 0;
    std::uint64_t most = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        rows += begin[step];
        rows -= end[step];
        most = std::max(most, rows);
    }
    return most;
}

RowAllocation allocate_rows(std::span<const Lifetime> lifetimes) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
        if (!lifetimes[i].lies_in) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return lifetimes[i].rows; });
    RowAllocation best = allocate_in_order(lifetimes, order);
    best.least_rows = rows_at_once(lifetimes);
    RowAllocation last = best;
    const std::size_t tried = std::min(most_orders, most_placements / std::max<std::size_t>(order.size(), 1));
    for (std::size_t orders = 1; orders < tried && best.rows > best.least_rows; ++orders) {
        const auto topmost = std::ranges::find_if(
            order, [&](std::size_t i) { return last.first_row[i] + lifetimes[i].rows == last.rows; });
        if (topmost == order.begin()) break;
        std::rotate(order.begin(), topmost, topmost + 1);
        last = allocate_in_order(lifetimes, order);
        if (last.rows >= best.rows) continue;
        best.rows = last.rows;
        best.first_row = last.first_row;
    }
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
        if (lifetimes[i].lies_in) best.first_row[i] = best.first_row[*lifetimes[i].lies_in];
    }
    return best;
}

}  // namespace systole::schedule
