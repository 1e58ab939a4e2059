#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

/// The cycles of the matrix unit that belong to a stream: the idle cycles before it and its own cycles. Names
/// and meanings are those of counters; the sums over a run are the counters.
struct MatrixCycles {
    Cycle active = 0;
    Cycle weight_stall = 0;
    Cycle weight_shift = 0;
    Cycle non_matrix = 0;
    // Reasons for non-matrix cycles.
    Cycle raw_stall = 0;
    Cycle input_stall = 0;
    Cycle setup_stall = 0;
    Cycle port_stall = 0;
};

/// The names of these cycles, in the order of the columns of traces.
inline constexpr std::array<std::pair<std::string_view, Cycle MatrixCycles::*>, 8> matrix_columns{
    {{"active", &MatrixCycles::active},
     {"weight_stall", &MatrixCycles::weight_stall},
     {"weight_shift", &MatrixCycles::weight_shift},
     {"non_matrix", &MatrixCycles::non_matrix},
     {"raw_stall", &MatrixCycles::raw_stall},
     {"input_stall", &MatrixCycles::input_stall},
     {"setup_stall", &MatrixCycles::setup_stall},
     {"port_stall", &MatrixCycles::port_stall}}};

/// An instruction, or one repetition of it in the matrix unit.
struct InstructionLine {
    hw::InstructionNumber number = 0;
    std::uint32_t repetition = 0;
    hw::Tag tag = 0;
    std::string_view unit;       ///< the unit whose queue takes it, or "sequencer"
    std::string_view core = {};  ///< empty of a machine with one
    Cycle issued = 0;            ///< put into the unit's queue, or executed by the sequencer
    Cycle begun = 0;             ///< its first row moved; a `sync` was executed
    Cycle released = 0;          ///< the unit could begin the next instruction
    Cycle complete = 0;          ///< its last result was in place; for `halt`, the run's cycles
    Cycle waited = 0;  ///< cycles as the first in its queue, or since the repetition before, until `begun`
    std::optional<MatrixCycles> matrix;  ///< of streams; of `halt`, the cycles after the last stream
};

/// Receives lines, each with the program's instruction of that number.
class LineWriter {
public:
    virtual ~LineWriter() = default;
    virtual void line(const InstructionLine& line, const isa::Instruction& instruction) = 0;
    /// Called after the last line.
    virtual void finish() = 0;
};

/// Combines the events of each instruction in the sequencer, in its queue and in its unit into a line. The
/// line is passed on when the instruction has left the unit; lines of one unit are in program order.
class InstructionLines final : public hw::TraceListener {
public:
    /// All must outlive the object. `core`: the name of that whose events it is told, if there are several.
    InstructionLines(const isa::Program& program, const Window& window, LineWriter& writer, std::string core)
        : program_(program), window_(window), writer_(writer), core_(std::move(core)) {}

    void begun(const hw::TracedCore& core) override;
    void instruction(const hw::InstructionTimes& times) override;
    void issued(const hw::IssueTimes& times) override;
    void queued(const hw::QueueTimes& times) override;
    void matrix_idle(const hw::MatrixIdleTimes& times) override {
        entered_.push_back(times);
        give_streams();
    }
    void ended(Cycle end, hw::Tag tag) override;

private:
    struct UnitState {
        std::string_view name;
        bool tells_idle = false;
        std::deque<hw::QueueTimes> taken;  ///< taken from the queue; the unit has not reported them yet
        std::uint32_t repetition = 0;
        Cycle released = 0;
    };

    void give(InstructionLine line);
    /// The line of an instruction that takes no time, executed at `at`.
    template <class Times>
    void give_moment(const Times& times, std::string_view unit, Cycle at, Cycle waits_since);
    /// Passes on the streams for which the instruction's times and the idle cycles before it are both known.
    void give_streams();

    const isa::Program& program_;
    const Window& window_;
    LineWriter& writer_;
    const std::string core_;
    std::vector<UnitState> units_;  ///< by the number of the queue
    // Streams for which only one of the two is known; which one comes first depends on the engine.
    std::deque<InstructionLine> streams_;
    std::deque<hw::MatrixIdleTimes> entered_;
    std::optional<hw::IssueTimes> halt_;
};

}  // namespace systole::trace
