#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace systole::schedule {

/// Hands out accumulator rows: equal parts in turn, so that some can be activated while the matrix unit
/// fills another. Two parts, the halves, are enough where a chunk passes several weight tiles. Where it
/// passes only one, more are on their way at any time: a chunk has its rows from their entry into the array
/// until, as many cycles and a delay later, all of them are activated.
class AccumulatorParts {
public:
    static constexpr std::uint32_t halves = 2;
    static constexpr std::uint32_t quarters = 4;
    static constexpr std::uint32_t most = 16;  ///< each chunk is an instruction of two units

    /// `rows` at least 1. Instructions address and count accumulator rows in 16 bits.
    explicit AccumulatorParts(std::uint32_t rows)
        : rows_(std::min<std::uint32_t>(rows, std::numeric_limits<std::uint16_t>::max())), last_(rows_ - 1) {}

    /// Rows a chunk can have at all.
    std::uint32_t rows() const { return rows_; }
    /// Rows a chunk may have to overlap with its neighbours; at least 1.
    std::uint32_t part(std::uint32_t parts) const { return std::max(rows_ / parts, 1U); }

    /// The fewest parts of one tile's rows that keep the array busy: `delay` cycles lie between a row's entry
    /// into the array and its activation, and the chunk that takes a part again waits for all of it. At
    /// least quarters, as sums are on their way; at most `most`, where more would not help enough.
    std::uint32_t parts_behind(std::uint64_t delay) const {
        std::uint32_t parts = quarters;
        while (parts < most && 2 * std::uint64_t{part(parts)} + delay > rows_) parts *= 2;
        return parts;
    }

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
