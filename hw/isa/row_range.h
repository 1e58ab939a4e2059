#pragma once

#include <cstdint>

namespace systole::isa {

/// Rows [first, last) of a memory.
struct RowRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    bool empty() const { return first >= last; }
    std::uint64_t count() const { return empty() ? 0 : last - first; }
    bool overlaps(const RowRange& other) const { return first < other.last && other.first < last; }
    bool operator==(const RowRange&) const = default;
};

}  // namespace systole::isa
