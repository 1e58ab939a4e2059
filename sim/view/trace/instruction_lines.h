#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/isa/unit.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

/// The cycles of the matrix unit that belong to a stream: those before it and its own. They mean what the
/// counters of these names mean, and summed over a run they are those counters.
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

/// An instruction, or one repetition of it in the matrix unit.
struct InstructionLine {
    hw::InstructionNumber number = 0;
    std::uint32_t repetition = 0;
    hw::Tag tag = 0;
    std::string_view unit;  ///< whose queue takes it, or "sequencer"
    Cycle issued = 0;       ///< put into the unit's queue, or carried out by the sequencer
    Cycle begun = 0;        ///< its first row moved; a `sync` was carried out
    Cycle released = 0;     ///< the unit could begin the next
    Cycle complete = 0;     ///< its last result in its place; of `halt`, the run's cycles
    Cycle waited = 0;  ///< from being the first in its queue (a repetition: from the one before) to begun
    std::optional<MatrixCycles> matrix;  ///< of streams, and of `halt`: the cycles behind the last stream
};

/// Takes lines; the instruction is the program's of that number.
class LineWriter {
public:
    virtual ~LineWriter() = default;
    virtual void line(const InstructionLine& line, const isa::Instruction& instruction) = 0;
    /// Nothing follows.
    virtual void finish() = 0;
};

/// Puts together what is told of each instruction in the sequencer, in its queue and in its unit. A line is
/// given when its instruction has passed through the unit: those of a unit in their order.
class InstructionLines final : public hw::TraceListener {
public:
    /// All must outlive the object.
    InstructionLines(const isa::Program& program, const Window& window, LineWriter& writer)
        : program_(program), window_(window), writer_(writer) {}

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
        std::deque<hw::QueueTimes> taken;  ///< from the queue; not told of by the unit yet
        std::uint32_t repetition = 0;
        Cycle released = 0;
    };

    void give(const InstructionLine& line);
    /// Those of which both is known, the instruction's times and the cycles around it.
    void give_streams();

    const isa::Program& program_;
    const Window& window_;
    LineWriter& writer_;
    std::array<UnitState, isa::unit_count> units_;
    // The streams of which one thing is known: which comes first is the engine's affair.
    std::deque<InstructionLine> streams_;
    std::deque<hw::MatrixIdleTimes> entered_;
    std::optional<hw::IssueTimes> halt_;
};

}  // namespace systole::trace
