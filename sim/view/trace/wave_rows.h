#pragma once

#include <cstdint>

#include "hw/common/clock.h"
#include "hw/common/trace.h"
#include "hw/isa/footprint.h"
#include "sim/view/trace/wave_signals.h"

// Which rows of the memories an instruction is at while it holds their ports (rule 6 of docs/timing.md).
namespace systole::trace {

/// The cycles [begin, end), in which an instruction passes rows through a port.
struct PortCycles {
    Cycle begin = 0;
    Cycle end = 0;
};

/// The unified buffer's rows that a stream is read from: of a product the row itself, of a convolution the
/// row in which the line's first window begins, as far as it lies in the image.
void stream_reads(const isa::BoundInstruction& bound, const hw::StreamTimes& times, std::uint64_t repetition,
                  std::uint64_t row_bytes, DrivenSignal& rows);

/// The accumulators' rows that a stream's sums are written to.
void stream_writes(const hw::StreamTimes& times, DrivenSignal& rows);

/// The rows that tables are read from, in the cycles before the first result.
void table_reads(const isa::BoundInstruction& bound, PortCycles cycles, DrivenSignal& rows);

/// The rows that vector work reads: of element-wise work those of the first operand, of pooling the row in
/// which the line's first window begins, as far as it lies in the image.
void vector_reads(const isa::Vector& vector, const isa::Registers& registers, PortCycles cycles,
                  std::uint64_t row_bytes, DrivenSignal& rows);

/// The rows that the activation unit writes: those in which a pixel, an element-wise row or a line of pooling
/// begins.
void activation_writes(const isa::BoundInstruction& bound, PortCycles cycles, std::uint64_t row_bytes,
                       DrivenSignal& rows);

}  // namespace systole::trace
