#include "compiler/schedule/row_allocation.h"

#include <algorithm>
#include <numeric>

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

}  // namespace

std::uint64_t rows_at_once(std::span<const Lifetime> lifetimes) {
    std::size_t steps = 0;
    for (const Lifetime& lifetime : lifetimes) steps = std::max<std::size_t>(steps, lifetime.last_step + 1U);
    std::vector<std::uint64_t> begin(steps + 1);
    std::vector<std::uint64_t> end(steps + 1);
    for (const Lifetime& lifetime : lifetimes) {
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
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lifetimes[a].rows > lifetimes[b].rows; });

    RowAllocation allocation{.first_row = std::vector<std::uint64_t>(lifetimes.size(), 0), .rows = 0};
    std::vector<Occupied> occupied;
    occupied.reserve(lifetimes.size());
    for (const std::size_t number : order) {
        const Lifetime& lifetime = lifetimes[number];
        const std::uint64_t row = lowest_gap(occupied, lifetime);
        allocation.first_row[number] = row;
        allocation.rows = std::max(allocation.rows, row + lifetime.rows);
        const auto place = std::ranges::upper_bound(occupied, row, {}, &Occupied::first);
        occupied.insert(place, {.first = row, .last = row + lifetime.rows, .lifetime = lifetime});
    }
    return allocation;
}

}  // namespace systole::schedule
