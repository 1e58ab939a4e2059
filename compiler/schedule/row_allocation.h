#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace systole::schedule {

/// Something that needs rows of its own from step `first_step` to step `last_step`, both included.
struct Lifetime {
    std::uint64_t rows = 0;
    std::uint32_t first_step = 0;
    std::uint32_t last_step = 0;

    bool overlaps(const Lifetime& other) const {
        return first_step <= other.last_step && other.first_step <= last_step;
    }
    bool operator==(const Lifetime&) const = default;
};

/// Where each of them begins, and how many rows they take together.
struct RowAllocation {
    std::vector<std::uint64_t> first_row;
    std::uint64_t rows = 0;
};

/// Gives rows to all: two that live at the same step never share one. The largest choose first (of equal
/// ones, the first in the list), each the lowest place where it fits.
RowAllocation allocate_rows(std::span<const Lifetime> lifetimes);

}  // namespace systole::schedule
