#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace systole::schedule {

/// Hands out accumulator rows: equal parts in turn, so that some can be activated while the matrix unit
/// fills another. Two parts, the halves, are enough where a chunk passes several weight tiles. Where it
/// passes only one, a chunk's sums are complete, by the depth of the array, later than the next chunk
/// begins, and a third of the rows are on their way at any time: then four parts keep the array busy.
class AccumulatorParts {
public:
    static constexpr std::uint32_t halves = 2;
    static constexpr std::uint32_t quarters = 4;

    /// `rows` at least 1. Instructions address and count accumulator rows in 16 bits.
    explicit AccumulatorParts(std::uint32_t rows)
        : rows_(std::min<std::uint32_t>(rows, std::numeric_limits<std::uint16_t>::max())), last_(rows_ - 1) {}

    /// Rows a chunk can have at all.
    std::uint32_t rows() const { return rows_; }
    /// Rows a chunk may have to overlap with its neighbours; at least 1.
    std::uint32_t part(std::uint32_t parts) const { return std::max(rows_ / parts, 1U); }

    /// The first of `rows` rows for the next chunk, one of `parts` parts; all rows where it does not fit.
    std::uint32_t take(std::uint32_t rows, std::uint32_t parts) {
        const std::uint32_t size = rows_ / parts;
        if (rows > size) {
            last_ = rows_ - 1;
            return 0;
        }
        // Rows behind the last whole part belong to it.
        const std::uint32_t next = (std::min(last_ / size, parts - 1) + 1) % parts;
        last_ = (next + 1) * size - 1;
        return next * size;
    }

private:
    std::uint32_t rows_;
    std::uint32_t last_;  ///< end of the part given out last
};

}  // namespace systole::schedule
