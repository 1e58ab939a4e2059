#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/base/arithmetic.h"
#include "hw/base/cycle.h"

/// The formulas that units and tests share, each term with its reason. docs/timing.md restates them
/// with worked examples.
namespace systole::machine {

/// A stream of rows into the array: `lines` lines of `line_rows` rows. A row takes `passes` cycles of
/// array input; a line takes `line_cycles`, its rows at the beginning. A plain stream of B rows is B
/// lines of one.
struct StreamShape {
    std::uint64_t lines = 0;
    std::uint64_t line_rows = 1;
    std::uint64_t passes = 1;
    std::uint64_t line_cycles = 1;  ///< at least line_rows * passes

    constexpr std::uint64_t rows() const { return lines * line_rows; }
    /// Cycles in which the array takes input.
    constexpr Cycle active_cycles() const { return rows() * passes; }
    /// From the first pass of the first row to the first pass of the next stream, at best.
    constexpr Cycle span() const { return lines * line_cycles; }
    /// From the first pass of the first row to the cycle after the last pass of the last row.
    constexpr Cycle input_span() const {
        return lines == 0 ? 0 : (lines - 1) * line_cycles + line_rows * passes;
    }
    /// Cycles inside the span without input: the data setup was still collecting a line.
    constexpr Cycle gaps() const { return span() - active_cycles(); }
};

/// From the cycle a row's last pass enters the array to its sums in the accumulators.
constexpr Cycle matrix_latency(std::uint64_t rows, std::uint64_t columns, Cycle mac_latency, Cycle setup,
                               Cycle write) {
    const Cycle down = rows * mac_latency;  // the partial sum passes every array row
    const Cycle across = columns - 1;       // the last column starts this much after the first
    return setup + down + across + write;
}

/// Shifting a tile into the shadow plane: one array row a cycle.
constexpr Cycle shift_cycles(std::uint64_t rows) {
    return rows;
}

/// Accesses of up to `row_bytes` consecutive bytes that fetch one kernel row of a line of windows:
/// overlapping windows share what they have in common, windows with gaps between them do not pay for
/// the gaps. `window_bytes` of each window are wanted, windows begin every `stride_bytes`.
constexpr std::uint64_t line_fetches(std::uint64_t windows, std::uint64_t window_bytes,
                                     std::uint64_t stride_bytes, std::uint64_t row_bytes) {
    const std::uint64_t together = divide_up((windows - 1) * stride_bytes + window_bytes, row_bytes);
    const std::uint64_t apart = windows * divide_up(window_bytes, row_bytes);
    return std::min(together, apart);
}

}  // namespace systole::machine
