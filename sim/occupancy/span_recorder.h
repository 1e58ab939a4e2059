#pragma once

#include <vector>

#include "hw/common/trace.h"

/// What lay in the chip's memories, from when to when: found from a finished run's times.
namespace systole::occupancy {

using Cycle = hw::Cycle;

/// When an instruction, all its repetitions together, was in its unit. `released` is 0 of one that never was.
struct Span {
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< its last row had moved
    Cycle complete = 0;  ///< its last result was in its place
};

/// A slot of the weight FIFO that was taken.
struct TileSpan {
    Cycle fetched = 0;
    Cycle shifted = 0;
};

struct Spans {
    std::vector<Span> instructions;  ///< by number; as many as were heard of
    std::vector<TileSpan> tiles;
};

/// Keeps the times of a run that the occupancy of its memories follows from.
class SpanRecorder final : public hw::TraceListener {
public:
    explicit SpanRecorder(Spans& spans) : spans_(spans) {}

    void instruction(const hw::InstructionTimes& times) override;
    void tile(const hw::TileTimes& times) override;

private:
    Spans& spans_;
};

}  // namespace systole::occupancy
