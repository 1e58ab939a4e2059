#include "compiler/schedule/row_allocation.h"

#include <algorithm>
#include <numeric>

namespace systole::schedule {
namespace {

struct Occupied {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// The lowest row from which `rows` rows are free. `occupied` is sorted by first row.
std::uint64_t lowest_gap(std::span<const Occupied> occupied, std::uint64_t rows) {
    std::uint64_t candidate = 0;
    for (const Occupied& range : occupied) {
        if (candidate + rows <= range.first) break;
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
    for (std::size_t placed = 0; placed < order.size(); ++placed) {
        const Lifetime& lifetime = lifetimes[order[placed]];
        std::vector<Occupied> occupied;
        for (std::size_t i = 0; i < placed; ++i) {
            const Lifetime& other = lifetimes[order[i]];
            const std::uint64_t first = allocation.first_row[order[i]];
            if (other.overlaps(lifetime)) occupied.push_back({first, first + other.rows});
        }
        std::sort(occupied.begin(), occupied.end(),
                  [](const Occupied& a, const Occupied& b) { return a.first < b.first; });
        const std::uint64_t row = lowest_gap(occupied, lifetime.rows);
        allocation.first_row[order[placed]] = row;
        allocation.rows = std::max(allocation.rows, row + lifetime.rows);
    }
    return allocation;
}

}  // namespace systole::schedule
