#include "sim/run/execute/recorders.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "hw/isa/footprint.h"
#include "hw/isa/queue.h"

namespace systole::run {

void SpanRecorder::instruction(const hw::InstructionTimes& times) {
    if (times.number >= spans_.size()) spans_.resize(times.number + 1);
    Span& span = spans_[times.number];
    const bool is_first = span.released == 0;
    span.begun = is_first ? times.begun : std::min(span.begun, times.begun);
    span.released = std::max(span.released, times.released);
    span.complete = std::max(span.complete, times.complete);
}

Occupancy SpanRecorder::occupancy(const isa::Program& program, Cycle cycles,
                                  std::span<const machine::UnitDescription> units) && {
    const Levels tiles = std::move(tiles_).until(cycles);
    Occupancy occupancy{
        .values = find_values(program, spans_, units), .most_held = {}, .window_cycles = tiles.window_cycles};
    for (const machine::UnitDescription& unit : units) {
        if (!unit.occupied || isa::memory_named(unit.name)) continue;
        occupancy.most_held.push_back({.unit = unit.name, .windows = tiles.windows});
    }
    return occupancy;
}

ActivityRecorder::ActivityRecorder() {
    for (const std::string_view queue : isa::queue_names()) work_.activities.emplace_back(queue);
}

void ActivityRecorder::begun(const hw::TracedCore& core) {
    for (const hw::TracedQueue& queue : core.queues) {
        if (!queue.traces.tiles) continue;
        first_of_tiles_ = static_cast<std::uint8_t>(work_.activities.size());
        work_.activities.emplace_back(queue.traces.tiles->fetching);
        work_.activities.emplace_back(queue.traces.tiles->shifting);
    }
}

void ActivityRecorder::instruction(const hw::InstructionTimes& times) {
    const auto unit = static_cast<std::uint8_t>(times.unit);
    Cycle begin = times.begun;
    if (times.unit < stalls_.size()) {
        for (const hw::StallTimes& stall : stalls_[times.unit]) {
            if (begin < stall.from) work_.intervals.push_back({unit, times.tag, begin, stall.from});
            begin = stall.until;
        }
        stalls_[times.unit].clear();
    }
    work_.intervals.push_back({unit, times.tag, begin, times.released});
}

void ActivityRecorder::stalled(const hw::StallTimes& times) {
    if (times.unit >= stalls_.size()) stalls_.resize(times.unit + 1);
    stalls_[times.unit].push_back(times);
}

void ActivityRecorder::tile(const hw::TileTimes& times) {
    const Cycle begun = std::max(times.fetched, std::min(last_whole_, times.whole));
    const auto shift = static_cast<std::uint8_t>(first_of_tiles_ + 1);
    work_.intervals.push_back({first_of_tiles_, times.tag, begun, times.whole});
    work_.intervals.push_back({shift, times.tag, times.shifting, times.shifted});
    last_whole_ = times.whole;
}

void ActivityRecorder::add(const ActivityRecorder& other) {
    work_.intervals.insert(work_.intervals.end(), other.work_.intervals.begin(), other.work_.intervals.end());
}

void PhaseRecorder::begun(const hw::TracedCore& core) {
    for (const hw::TracedQueue& queue : core.queues) queues_.at(queue.unit) = queue.traces;
}

void PhaseRecorder::instruction(const hw::InstructionTimes& times) {
    const hw::QueueTraces& unit = queues_.at(times.unit);
    if (unit.is_main && !unit.tells_idle && !seen_first_) {
        seen_first_ = true;
        phases_.head = times.begun;
    }
    if (unit.computes) phases_.last_result = std::max(phases_.last_result, times.complete);
}

void PhaseRecorder::tile(const hw::TileTimes& times) {
    phases_.first_fetch = std::min(phases_.first_fetch.value_or(times.fetched), times.fetched);
    phases_.last_tile = std::max(phases_.last_tile, times.whole);
}

void PhaseRecorder::matrix_idle(const hw::MatrixIdleTimes& times) {
    if (seen_first_) return;
    seen_first_ = true;
    phases_.head = times.idle.without_rows;
}

void TimesRecorder::issued(const hw::IssueTimes& times) {
    if (isa::queue_of(program_.instructions[times.number])) return;
    times_.push_back({.number = times.number,
                      .tag = times.tag,
                      .issued = times.issued,
                      .begun = times.issued,
                      .released = times.issued,
                      .complete = times.issued});
}

void TimesRecorder::queued(const hw::QueueTimes& times) {
    const isa::Instruction& instruction = program_.instructions[times.number];
    if (!std::holds_alternative<isa::SyncWait>(instruction) &&
        !std::holds_alternative<isa::SyncSignal>(instruction)) {
        return;
    }
    times_.push_back({.unit = times.unit,
                      .number = times.number,
                      .tag = times.tag,
                      .issued = times.issued,
                      .begun = times.taken,
                      .released = times.taken,
                      .complete = times.taken});
}

}  // namespace systole::run
