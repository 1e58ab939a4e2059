#include "sim/occupancy/span_recorder.h"

#include <algorithm>

namespace systole::occupancy {

void SpanRecorder::instruction(const hw::InstructionTimes& times) {
    if (times.number >= spans_.instructions.size()) spans_.instructions.resize(times.number + 1);
    Span& span = spans_.instructions[times.number];
    const bool is_first = span.released == 0;
    span.begun = is_first ? times.begun : std::min(span.begun, times.begun);
    span.released = std::max(span.released, times.released);
    span.complete = std::max(span.complete, times.complete);
}

void SpanRecorder::tile(const hw::TileTimes& times) {
    spans_.tiles.push_back({.fetched = times.fetched, .shifted = times.shifted});
}

}  // namespace systole::occupancy
