#include "sim/view/trace/instruction_lines.h"

#include <algorithm>
#include <variant>

#include "hw/isa/footprint.h"
#include "sim/view/trace/bound_instructions.h"

namespace systole::trace {
namespace {

constexpr auto matrix_queue = static_cast<std::size_t>(isa::QueueId::Matrix);

std::string_view unit_name(std::size_t unit) {
    return isa::name(static_cast<isa::QueueId>(unit));
}

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

void InstructionLines::give(const InstructionLine& line) {
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
    if (!is_sync(program_.instructions[times.number])) {
        units_.at(times.unit).taken.push_back(times);
        return;
    }
    give_moment(times, unit_name(times.unit), times.taken, times.first);
}

void InstructionLines::instruction(const hw::InstructionTimes& times) {
    UnitState& state = units_.at(times.unit);
    InstructionLine line{.number = times.number,
                         .tag = times.tag,
                         .unit = unit_name(times.unit),
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
    if (times.unit != matrix_queue) {
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
    give({.number = halt_->number,
          .tag = tag,
          .unit = "sequencer",
          .issued = halt_->issued,
          .begun = halt_->issued,
          .released = end,
          .complete = end,
          .waited = halt_->issued - halt_->asked,
          .matrix = MatrixCycles{.non_matrix = end - units_[matrix_queue].released}});
}

}  // namespace systole::trace
