#include "compiler/schedule/row_allocation.h"

#include <algorithm>
#include <functional>

namespace systole::schedule {
namespace {

/// Rows that are taken in some steps.
struct Occupied {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  ///< exclusive
    Lifetime lifetime;
};

/// The lowest row from which the lifetime's rows are free. `occupied` is sorted by first row.
std::uint64_t lowest_gap(std::span<const Occupied> occupied, const Lifetime& lifetime) {
    std::uint64_t candidate = 0;
    for (const Occupied& range : occupied) {
        if (!range.lifetime.overlaps(lifetime)) continue;
        if (candidate + lifetime.rows <= range.first) break;
        candidate = std::max(candidate, range.last);
    }
    return candidate;
}

/// Orders that are tried in all where the first takes more rows than live at once.
constexpr int most_orders = 32;

/// Places lifetimes in an order, each at the lowest place where it fits.
RowAllocation allocate_in_order(std::span<const Lifetime> lifetimes, std::span<const std::size_t> numbers) {
    RowAllocation allocation{
        .first_row = std::vector<std::uint64_t>(lifetimes.size(), 0), .rows = 0, .least_rows = 0};
    std::vector<Occupied> occupied;
    occupied.reserve(lifetimes.size());
    for (const std::size_t number : numbers) {
        const Lifetime& lifetime = lifetimes[number];
        const std::uint64_t row = lowest_gap(occupied, lifetime);
        allocation.first_row[number] = row;
        allocation.rows = std::max(allocation.rows, row + lifetime.rows);
        const auto place = std::ranges::upper_bound(occupied, row, {}, &Occupied::first);
        occupied.insert(place, {.first = row, .last = row + lifetime.rows, .lifetime = lifetime});
    }
    return allocation;
}

}  // namespace

std::uint64_t rows_at_once(std::span<const Lifetime> lifetimes) {
    std::size_t steps = 0;
    for (const Lifetime& lifetime : lifetimes) steps = std::max<std::size_t>(steps, lifetime.last_step + 1U);
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
    for (int orders = 1; orders < most_orders && best.rows > best.least_rows; ++orders) {
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
