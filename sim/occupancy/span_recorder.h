#pragma once

#include <deque>

#include "hw/common/trace.h"
#include "sim/occupancy/level_windows.h"

/// What lay in the chip's memories, from when to when: found from a run's times.
namespace systole::occupancy {

/// When an instruction, all its repetitions together, was in its unit. `released` is 0 of one that never was.
struct Span {
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< its last row had moved
    Cycle complete = 0;  ///< its last result was in its place
};

/// By number; as many as were heard of. Of millions: a deque grows without a copy beside it.
using Spans = std::deque<Span>;

/// Keeps what the occupancy of a run's memories follows from: of the unified buffer and the accumulators the
/// times of the instructions, of the weight FIFO, through which tiles pass by the million, its windows.
class SpanRecorder final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override;
    void tile_fetched(const hw::TileTimes& times) override { weight_fifo_tiles.change(times.fetched, 1); }
    void tile(const hw::TileTimes& times) override { weight_fifo_tiles.change(times.shifted, -1); }

    Spans spans;
    LevelWindows weight_fifo_tiles;  ///< slots taken: from a fetch's issue until its tile is shifted
};

}  // namespace systole::occupancy
