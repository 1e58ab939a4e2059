#include "sim/view/trace/instruction_lines.h"

#include <algorithm>
#include <variant>

#include "hw/common/bound_instructions.h"

namespace systole::trace {
namespace {

/// `span` counts from the stream's first cycle to the cycle in which the next stream may enter.
MatrixCycles matrix_cycles(Cycle span, const hw::MatrixIdleTimes& entered) {
    const hw::IdleCycles& idle = entered.idle;
    return {.active = span - entered.gaps,
            .weight_stall = idle.without_tile,
            .weight_shift = idle.shifting,
            .non_matrix = idle.without_rows + idle.without_port + entered.gaps,
            .raw_stall = entered.activations,
            .input_stall = entered.inputs,
            .setup_stall = entered.gaps,
            .port_stall = idle.without_port};
}

}  // namespace

void InstructionLines::begun(const hw::TracedCore& core) {
    for (const hw::TracedQueue& queue : core.queues) {
        if (queue.unit >= units_.size()) units_.resize(queue.unit + 1);
        units_[queue.unit].name = queue.name;
        units_[queue.unit].tells_idle = queue.traces.tells_idle;
    }
}

void InstructionLines::give(InstructionLine line) {
    line.core = core_;
    const Cycle end = std::max(line.released, line.complete);
    if (window_.takes(line.tag, line.begun - line.waited, end)) {
        writer_.line(line, program_.instructions[line.number]);
    }
}

template <class Times>
void InstructionLines::give_moment(const Times& times, std::string_view unit, Cycle at, Cycle waits_since) {
    give({.number = times.number,
          .tag = times.tag,
          .unit = unit,
          .issued = times.issued,
          .begun = at,
          .released = at,
          .complete = at,
          .waited = at - waits_since,
          .matrix = {}});
}

void InstructionLines::issued(const hw::IssueTimes& times) {
    const isa::Instruction& instruction = program_.instructions[times.number];
    if (std::holds_alternative<isa::Halt>(instruction)) {
        halt_ = times;
    } else if (!isa::queue_of(instruction)) {
        give_moment(times, "sequencer", times.issued, times.asked);
    }
}

void InstructionLines::queued(const hw::QueueTimes& times) {
    if (!hw::is_sync(program_.instructions[times.number])) {
        units_.at(times.unit).taken.push_back(times);
        return;
    }
    give_moment(times, units_.at(times.unit).name, times.taken, times.first);
}

void InstructionLines::instruction(const hw::InstructionTimes& times) {
    UnitState& state = units_.at(times.unit);
    InstructionLine line{.number = times.number,
                         .tag = times.tag,
                         .unit = state.name,
                         .issued = times.issued,
                         .begun = times.begun,
                         .released = times.released,
                         .complete = times.complete,
                         .matrix = {}};
    if (!state.taken.empty() && state.taken.front().number == times.number) {
        line.waited = times.begun - state.taken.front().first;
        state.taken.pop_front();
        state.repetition = 0;
    } else {
        line.waited = times.begun - state.released;
        line.repetition = ++state.repetition;
    }
    state.released = times.released;
    if (!state.tells_idle) {
        give(line);
        return;
    }
    streams_.push_back(line);
    give_streams();
}

void InstructionLines::give_streams() {
    while (!streams_.empty() && !entered_.empty()) {
        InstructionLine& line = streams_.front();
        line.matrix = matrix_cycles(line.released - line.begun, entered_.front());
        give(line);
        streams_.pop_front();
        entered_.pop_front();
    }
}

void InstructionLines::ended(Cycle end, hw::Tag tag) {
    if (!halt_) return;
    std::optional<MatrixCycles> after;
    for (const UnitState& unit : units_) {
        if (unit.tells_idle) after = MatrixCycles{.non_matrix = end - unit.released};
    }
    give({.number = halt_->number,
          .tag = tag,
          .unit = "sequencer",
          .issued = halt_->issued,
          .begun = halt_->issued,
          .released = end,
          .complete = end,
          .waited = halt_->issued - halt_->asked,
          .matrix = after});
}

}  // namespace systole::trace
