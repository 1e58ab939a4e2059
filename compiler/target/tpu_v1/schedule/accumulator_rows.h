#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace systole::tpu_v1 {

/// Gives rows of accumulators to chunks of any size, where they are free first, and knows when that is.
class AccumulatorRows {
public:
    /// `rows` is at least 1; more than 65535 rows are not used, because instructions count rows in 16 bits.
    explicit AccumulatorRows(std::uint32_t rows)
        : rows_(std::min<std::uint32_t>(rows, std::numeric_limits<std::uint16_t>::max())) {}

    /// The cycle in which the rows are free that a chunk of `rows` rows would get which cannot use them
    /// before `ready`; nullopt if sums that are not complete leave it no rows.
    std::optional<double> free(std::uint32_t rows, double ready) const {
        const double free = free_at(best_place(rows, ready), rows);
        return free == never ? std::nullopt : std::optional(free);
    }

    /// Takes rows for a chunk, until its sums are complete and activated, and returns the first.
    std::uint32_t take(std::uint32_t rows, double ready) {
        const std::uint32_t first = best_place(rows, ready);
        std::erase_if(taken_, [&](const Taken& taken) { return taken.overlaps(first, rows); });
        taken_.push_back({.first = first, .rows = rows, .until = never});
        return first;
    }

    /// The sums in the rows from `first` on, which were taken together, have been activated in this cycle.
    void release(std::uint32_t first, double cycle) {
        for (Taken& taken : taken_) {
            if (taken.first == first) taken.until = cycle;
        }
    }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    struct Taken {
        std::uint32_t first = 0;
        std::uint32_t rows = 0;
        double until = 0;

        bool overlaps(std::uint32_t other, std::uint32_t other_rows) const {
            return first < other + other_rows && other < first + rows;
        }
    };

    double free_at(std::uint32_t first, std::uint32_t rows) const {
        double free = 0;
        for (const Taken& taken : taken_) {
            if (taken.overlaps(first, rows)) free = std::max(free, taken.until);
        }
        return free;
    }

    /// The place that is free first. Of several, large chunks take the lowest and small ones the highest,
    /// which leaves room for large chunks. One is at an end of the accumulators or beside rows that were
    /// taken.
    std::uint32_t best_place(std::uint32_t rows, double ready) const {
        const bool is_small = rows < rows_ / 8;
        std::uint32_t best = 0;
        double free = std::max(ready, free_at(0, rows));
        const auto consider = [&](std::uint64_t first) {
            if (first + rows > rows_) return;
            const auto place = static_cast<std::uint32_t>(first);
            const double at = std::max(ready, free_at(place, rows));
            if (at < free || (at == free && is_small == (place > best))) {
                best = place;
                free = at;
            }
        };
        consider(rows_ - rows);
        for (const Taken& taken : taken_) {
            consider(std::uint64_t{taken.first} + taken.rows);
            if (taken.first >= rows) consider(taken.first - rows);
        }
        return best;
    }

    std::uint32_t rows_;
    std::vector<Taken> taken_;
};

}  // namespace systole::tpu_v1
