#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace systole::schedule {

/// A number of rows that is needed from step `first_step` to step `last_step`, both included.
struct Lifetime {
    std::uint64_t rows = 0;
    std::uint32_t first_step = 0;
    std::uint32_t last_step = 0;
    /// The lifetime in whose rows this one lies, which lasts at least as long; it takes no rows of its own.
    std::optional<std::size_t> lies_in = {};

    bool overlaps(const Lifetime& other) const {
        return first_step <= other.last_step && other.first_step <= last_step;
    }
    bool operator==(const Lifetime&) const = default;
};

/// The first row of each lifetime, and the number of rows in use.
struct RowAllocation {
    std::vector<std::uint64_t> first_row;
    std::uint64_t rows = 0;
    std::uint64_t least_rows = 0;  ///< that live at once: no allocation takes fewer
};

/// The most rows that lifetimes need in one step: no allocation takes fewer.
std::uint64_t rows_at_once(std::span<const Lifetime> lifetimes);

/// Allocates rows such that lifetimes that overlap never share a row. Lifetimes are placed one after the
/// other, by descending number of rows (equal ones in the order of the list), each at the lowest place where
/// it fits. While that takes more rows than live at once, the one that ended up on top is placed before all
/// others, and all are placed again: at most 31 times, and fewer times for more than 2,048 lifetimes.
/// With more, one may lie higher than it could where many ranges of taken rows lie below.
/// What lies in another one has its rows.
RowAllocation allocate_rows(std::span<const Lifetime> lifetimes);

}  // namespace systole::schedule
