#pragma once

#include <optional>
#include <vector>

#include "hw/common/trace.h"
#include "sim/run/record/record.h"
#include "sim/view/occupancy/level_windows.h"
#include "sim/view/occupancy/row_values.h"

/// Listeners that keep for a record what it is asked to hold of a run's course.
namespace systole::run {

/// Keeps what the occupancy of a run's memories follows from: of the unified buffer and the accumulators the
/// times of the instructions, of the weight FIFO, through which tiles pass by the million, its windows.
class SpanRecorder final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override;
    void tile_fetched(const hw::TileTimes& times) override { weight_fifo_tiles_.change(times.fetched, 1); }
    void tile(const hw::TileTimes& times) override { weight_fifo_tiles_.change(times.shifted, -1); }

    const occupancy::Spans& spans() const { return spans_; }
    /// What lay in the memories until the run's end.
    Occupancy occupancy(const isa::Program& program, Cycle cycles) &&;

private:
    occupancy::Spans spans_;
    occupancy::LevelWindows weight_fifo_tiles_;  ///< slots taken: from a fetch's issue until it is shifted
};

/// Notes when the units of a run worked.
class ActivityRecorder final : public hw::TraceListener {
public:
    explicit ActivityRecorder(std::vector<WorkInterval>& intervals) : intervals_(intervals) {}

    void instruction(const hw::InstructionTimes& times) override;
    void tile(const hw::TileTimes& times) override;

private:
    std::vector<WorkInterval>& intervals_;
    Cycle last_whole_ = 0;  ///< the memory delivers one tile after the other
};

/// Notes where the host is all that the chip waits for, and when weights came.
class PhaseRecorder final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override;
    void tile(const hw::TileTimes& times) override;
    void matrix_idle(const hw::MatrixIdleTimes& times) override;

    const Phases& phases() const { return phases_; }

private:
    Phases phases_;
    bool seen_first_ = false;
};

/// Keeps the times of all instructions.
class TimesRecorder final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override { times_.push_back(times); }
    const std::vector<hw::InstructionTimes>& times() const { return times_; }

private:
    std::vector<hw::InstructionTimes> times_;
};

}  // namespace systole::run
