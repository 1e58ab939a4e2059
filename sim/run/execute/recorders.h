#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/system/system.h"
#include "sim/run/execute/level_windows.h"
#include "sim/run/execute/row_values.h"
#include "sim/run/record/record.h"

/// Listeners that collect the optional parts of a record during the run, and conversions of the chip and its
/// program into the other parts. No other code knows both the chip and the record.
namespace systole::run {

/// Collects the data for the occupancy of a run's memories: the times of the instructions for those whose
/// values are followed, and windows of peak occupancy for weight tiles, of which a run may have millions.
class SpanRecorder final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override;
    void tile_fetched(const hw::TileTimes& times) override { tiles_.change(times.fetched, 1); }
    void tile(const hw::TileTimes& times) override { tiles_.change(times.shifted, -1); }

    const Spans& spans() const { return spans_; }
    /// The occupancy of the memories among the units up to the end of the run.
    Occupancy occupancy(const isa::Program& program, Cycle cycles,
                        std::span<const machine::UnitDescription> units) &&;

private:
    Spans spans_;
    LevelWindows tiles_;  ///< slots taken: from a fetch's issue until it is shifted
};

/// Records the cycles in which the units of a run worked.
class ActivityRecorder final : public hw::TraceListener {
public:
    ActivityRecorder();

    void begun(const hw::TracedCore& core) override;
    void instruction(const hw::InstructionTimes& times) override;
    void stalled(const hw::StallTimes& times) override;
    void tile(const hw::TileTimes& times) override;

    const Work& work() const { return work_; }
    /// Adds the work of another core.
    void add(const ActivityRecorder& other);

private:
    Work work_;
    std::uint8_t first_of_tiles_ = 0;  ///< the activity of their fetches; that of their shifts follows
    std::vector<std::vector<hw::StallTimes>> stalls_;  ///< of the instruction under way in each unit
    Cycle last_whole_ = 0;                             ///< the memory delivers one tile after the other
};

/// Records the parts of a run in which the chip waits only for the host, and the times of its weight tiles.
class PhaseRecorder final : public hw::TraceListener {
public:
    void begun(const hw::TracedCore& core) override;
    void instruction(const hw::InstructionTimes& times) override;
    void tile(const hw::TileTimes& times) override;
    void matrix_idle(const hw::MatrixIdleTimes& times) override;

    const Phases& phases() const { return phases_; }

private:
    Phases phases_;
    std::array<hw::QueueTraces, isa::queue_count> queues_{};  ///< those of the core, by isa::QueueId
    bool seen_first_ = false;
};

/// Records the times of all instructions. A `sync` and what the sequencer executes take no time: they begin
/// and are complete in the cycle in which they are executed.
class TimesRecorder final : public hw::TraceListener {
public:
    /// The program must outlive the recorder.
    explicit TimesRecorder(const isa::Program& program) : program_(program) {}

    void instruction(const hw::InstructionTimes& times) override { times_.push_back(times); }
    void issued(const hw::IssueTimes& times) override;
    void queued(const hw::QueueTimes& times) override;
    const std::vector<hw::InstructionTimes>& times() const { return times_; }

private:
    const isa::Program& program_;
    std::vector<hw::InstructionTimes> times_;
};

/// All counters of the machine, unit by unit; of several cores and chips, their sums.
Counters counters_of(const hw::System& system);
/// What each core of several has counted, and what the cores of a chip share; empty for one core.
std::vector<MachinePart> parts_of(const hw::System& system);

ProgramFacts facts_of(const isa::Program& program, const machine::MachineConfig& machine);

/// The instructions up to `halt` with their times; `end` is the run's last cycle.
std::vector<InstructionLine> instruction_lines(const isa::Program& program,
                                               std::span<const hw::InstructionTimes> times, Cycle end);

}  // namespace systole::run
