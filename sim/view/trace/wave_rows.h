#pragma once

#include <cstdint>

#include "hw/common/clock.h"
#include "hw/common/trace.h"
#include "hw/isa/footprint.h"
#include "sim/view/trace/wave_signals.h"

// Drives signals with the memory rows that an instruction accesses while it holds a port (rule 6 of
// docs/timing.md).
namespace systole::trace {

/// The cycles [begin, end) in which an instruction moves rows through a port.
struct PortCycles {
    Cycle begin = 0;
    Cycle end = 0;
};

/// The unified-buffer rows from which a stream is read. For a product, the row itself; for a convolution, the
/// row in which the line's first window begins, or the nearest row of the image.
void stream_reads(const isa::BoundInstruction& bound, const hw::StreamTimes& times, std::uint64_t repetition,
                  std::uint64_t row_bytes, DrivenSignal& rows);

/// The cycle in which a stream's first sums are written: the last before they can be read, as for writes of
/// the unified buffer.
constexpr Cycle sums_written(const hw::StreamTimes& times) {
    return times.summed - 1;
}

/// The accumulator rows to which a stream's sums are written.
void stream_writes(const hw::StreamTimes& times, DrivenSignal& rows);

/// The rows from which parameters and tables are read, in the cycles before the first result.
void table_reads(const isa::BoundInstruction& bound, PortCycles cycles, DrivenSignal& rows);

/// The rows that vector work reads. For element-wise work, those of the first operand; for pooling, the row
/// in which the line's first window begins, or the nearest row of the image.
void vector_reads(const isa::Vector& vector, const isa::Registers& registers, PortCycles cycles,
                  std::uint64_t row_bytes, DrivenSignal& rows);

/// The rows that the activation unit writes: the row in which a pixel, an element-wise row or a line of
/// pooling begins.
void activation_writes(const isa::BoundInstruction& bound, PortCycles cycles, std::uint64_t row_bytes,
                       DrivenSignal& rows);

}  // namespace systole::trace
