#pragma once

#include <cstdint>
#include <span>

#include "base/cycle.h"
#include "base/window_geometry.h"
#include "hw/isa/block.h"
#include "hw/isa/instruction.h"
#include "hw/isa/operands.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"

/// The cost of matmul and convolve in the systolic data setup and in the matrix unit (docs/timing.md, rules 1
/// and 2). Geometry and number formats of the instructions must be checked before.
namespace systole::timing {

/// Cycles of array input that a streamed row takes. Throws std::logic_error for formats that the machine does
/// not list; programs that passed `check_formats` have none.
Cycle array_passes(const isa::MatrixFlags& flags, const machine::MatrixUnitConfig& array);

/// Throws isa::ProgramError with the instruction if one multiplies number formats that the machine does not
/// list, or weights with a zero point on a machine without row sums.
void check_formats(const isa::Program& program, const machine::MachineConfig& machine);

/// A stream of rows into the array: `lines` lines of `line_rows` rows. A row takes `passes` cycles of array
/// input. A line takes `line_cycles` cycles and its rows enter at the beginning. A plain stream of B rows has
/// B lines of one row.
struct StreamShape {
    std::uint64_t lines = 0;
    std::uint64_t line_rows = 1;
    std::uint64_t passes = 1;
    std::uint64_t line_cycles = 1;  ///< at least line_input_cycles()
    std::uint64_t arrays = 1;       ///< rows that enter together, one into each array

    constexpr std::uint64_t rows() const { return lines * line_rows; }
    /// Cycles of a line in which the arrays take input.
    constexpr Cycle line_input_cycles() const { return (line_rows + arrays - 1) / arrays * passes; }
    /// Cycles in which the arrays take input.
    constexpr Cycle active_cycles() const { return lines * line_input_cycles(); }
    /// Cycles from the first pass of the first row to the earliest first pass of the next stream.
    constexpr Cycle span() const { return lines * line_cycles; }
    /// Cycles from the first pass of the first row to the cycle after the last pass of the last row.
    constexpr Cycle input_span() const {
        return lines == 0 ? 0 : (lines - 1) * line_cycles + line_input_cycles();
    }
    /// Cycles inside the span without input: the data setup was still collecting a line.
    constexpr Cycle gaps() const { return span() - active_cycles(); }
};

/// The stream of one repetition.
struct StreamCost {
    StreamShape shape;
    std::uint64_t line_fetches = 1;  ///< unified-buffer accesses of the data setup for a line
    Cycle line_fetch_cycles = 1;     ///< cycles of these accesses, whatever the array does meanwhile

    std::uint64_t fetches() const { return shape.lines * line_fetches; }
    Cycle fetch_cycles() const { return shape.lines * line_fetch_cycles; }
};

/// The stream of repetition `repetition` of a matmul or convolve, with the register values bound to it.
/// Throws std::logic_error for other instructions.
StreamCost stream_cost(const isa::Instruction& instruction, const isa::Registers& registers,
                       std::uint32_t repetition, const machine::MachineConfig& machine);

/// The multiply-accumulates with a tile that the lines of blocks [first_line, first_line + lines), numbered
/// through all images, need: those of each pixel of a block for the blocks in which that pixel lies inside
/// the image. `macs` has a number for each pixel of a block.
std::uint64_t multiply_accumulates(const isa::BlockGeometry& blocks, std::uint64_t first_line,
                                   std::uint64_t lines, std::span<const std::uint32_t> macs);

/// Cycles from the entry of a row's last pass until its sums are in the accumulators.
Cycle matrix_latency(const machine::MachineConfig& machine);

/// Cycles from a stream's first pass until its last sums are in the accumulators and its last line is
/// fetched.
Cycle stream_completion(const StreamShape& shape, Cycle matrix_latency);

/// The fewest cycles of products for work that takes `cell_cycles` cycles of a cell: every cell, or lane of a
/// tile, is useful in every cycle.
Cycle full_array_cycles(std::uint64_t cell_cycles, const machine::MachineConfig& machine);

/// Cycles of shifting a tile into the shadow plane: one for each array row. The next tile may begin
/// `matrix_unit.weight_switch` cycles after the first row of the stream that takes this one has entered.
Cycle shift_cycles(const machine::MachineConfig& machine);

/// The part of each window that is multiplied with one weight tile.
struct WindowPart {
    std::uint64_t begin = 0;     ///< first element of the window
    std::uint64_t elements = 0;  ///< at most the array's rows; 0 beyond the window's end
};

/// The part of each window that a repetition of a `convolve` streams.
WindowPart window_part(const isa::Registers& registers, std::uint32_t repetition, std::uint32_t array_rows);

/// The number of accesses, each of up to `row_bytes` consecutive bytes, that fetch one kernel row of a line
/// of windows. `window_bytes` bytes of each window are fetched; windows begin every `stride_bytes` bytes.
/// Bytes that overlapping windows share are fetched once; gaps between windows are not fetched.
std::uint64_t kernel_row_fetches(std::uint64_t windows, std::uint64_t window_bytes,
                                 std::uint64_t stride_bytes, std::uint64_t row_bytes);

/// The number of accesses that fetch one line of windows; each kernel row of the part is fetched separately.
std::uint64_t line_fetches(const WindowGeometry& geometry, const WindowPart& part,
                           std::uint64_t element_bytes, std::uint64_t row_bytes);

}  // namespace systole::timing
