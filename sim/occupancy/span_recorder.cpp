#include "sim/occupancy/span_recorder.h"

#include <algorithm>

namespace systole::occupancy {

void SpanRecorder::instruction(const hw::InstructionTimes& times) {
    if (times.number >= spans.size()) spans.resize(times.number + 1);
    Span& span = spans[times.number];
    const bool is_first = span.released == 0;
    span.begun = is_first ? times.begun : std::min(span.begun, times.begun);
    span.released = std::max(span.released, times.released);
    span.complete = std::max(span.complete, times.complete);
}

}  // namespace systole::occupancy
