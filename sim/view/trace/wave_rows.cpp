#include "sim/view/trace/wave_rows.h"

#include <algorithm>
#include <variant>

#include "base/data_type.h"
#include "hw/isa/block.h"
#include "hw/isa/image_slices.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"

namespace systole::trace {
namespace {

using isa::Register;

/// Computes the rows in which lines of windows begin.
struct WindowLines {
    const isa::Registers& registers;
    std::uint64_t first_row = 0;
    DataType elements = DataType::Uint8;
    std::uint64_t kernel_row = 0;  ///< first kernel row whose elements are read
    std::uint64_t row_bytes = 1;

    std::uint64_t row_of(std::uint64_t line) const {
        const std::uint64_t height = registers[Register::WindowOutputHeight];
        // Padding above the image is not read.
        const std::uint64_t from_pad = line % height * registers[Register::WindowStrideY] + kernel_row;
        const std::uint64_t pad = registers[Register::WindowPadTop];
        const std::uint64_t pixel_row = std::min<std::uint64_t>(
            from_pad > pad ? from_pad - pad : 0, registers[Register::WindowInputHeight] - std::uint64_t{1});
        const std::uint64_t byte = pixel_row * registers[Register::WindowInputWidth] *
                                   registers[Register::WindowChannels] * bytes_of(elements);
        return first_row + line / height * registers[Register::WindowImageRows] + byte / row_bytes;
    }
};

/// Drives the row of each line; all lines take the same number of cycles.
template <class RowOfLine>
void drive_lines(PortCycles cycles, std::uint64_t lines, DrivenSignal& rows, const RowOfLine& row_of_line) {
    const Cycle line_cycles = (cycles.end - cycles.begin) / lines;
    for (std::uint64_t line = 0; line < lines; ++line) {
        const Cycle begin = cycles.begin + line * line_cycles;
        rows.hold(begin, begin + line_cycles, row_of_line(line));
    }
}

/// Drives the rows of element-wise work; all rows take the same number of cycles.
void drive_slices(const isa::ImageSlices& slices, PortCycles cycles, DrivenSignal& rows) {
    const Cycle row_cycles = (cycles.end - cycles.begin) / slices.rows;
    Cycle begin = cycles.begin;
    for (std::uint64_t image = 0; image < slices.images(); ++image) {
        const isa::RowRange range = slices.of_image(image);
        const Cycle end = begin + range.count() * row_cycles;
        rows.drive({.begin = begin, .end = end, .first = range.first, .step = 1, .every = row_cycles});
        begin = end;
    }
}

/// Drives the rows in which the lines of blocks begin. A line outside the image has the row of the last one
/// inside.
void drive_blocks(const isa::Activate& activate, const isa::Registers& registers,
                  const isa::BlockGeometry& blocks, PortCycles cycles, std::uint64_t row_bytes,
                  DrivenSignal& rows) {
    const Cycle line_cycles = (cycles.end - cycles.begin) / activate.length / blocks.height;
    const std::uint64_t image_rows = registers[Register::ActivationImageRows];
    Cycle begin = cycles.begin;
    for (std::uint64_t row = 0; row < activate.length; ++row) {
        const std::uint64_t output = activate.first_output + row;
        const std::uint64_t block = output % blocks.of_image();
        const std::uint64_t image_row = activate.unified_buffer_row + output / blocks.of_image() * image_rows;
        for (std::uint64_t j = 0; j < blocks.height; ++j) {
            const std::uint64_t line =
                std::min(block / blocks.across() * blocks.height + j, blocks.output_height - 1);
            const std::uint64_t pixel = line * blocks.output_width + block % blocks.across() * blocks.width;
            const std::uint64_t byte = pixel * registers[Register::ActivationPixelBytes] +
                                       registers[Register::ActivationChannelOffset];
            rows.hold(begin, begin + line_cycles, image_row + byte / row_bytes);
            begin += line_cycles;
        }
    }
}

/// Drives the rows of the results of `activate`, pixel by pixel.
void drive_pixels(const isa::Activate& activate, const isa::Registers& registers, PortCycles cycles,
                  std::uint64_t row_bytes, DrivenSignal& rows) {
    if (activate.length == 0) return;
    if (const auto blocks = isa::block_geometry(registers)) {
        drive_blocks(activate, registers, *blocks, cycles, row_bytes, rows);
        return;
    }
    const Cycle pixel_cycles = (cycles.end - cycles.begin) / activate.length;
    const std::uint64_t pixels_of_image = registers[Register::ActivationOutputsPerImage];
    Cycle begin = cycles.begin;
    for (std::uint64_t done = 0; done < activate.length;) {
        const std::uint64_t output = activate.first_output + done;
        const std::uint64_t pixel = output % pixels_of_image;
        const std::uint64_t pixels = std::min<std::uint64_t>(pixels_of_image - pixel, activate.length - done);
        const std::uint64_t image_row =
            activate.unified_buffer_row + output / pixels_of_image * registers[Register::ActivationImageRows];
        const std::uint64_t pixel_bytes = registers[Register::ActivationPixelBytes];
        const Cycle end = begin + pixels * pixel_cycles;
        rows.drive({.begin = begin,
                    .end = end,
                    .first = image_row * row_bytes + pixel * pixel_bytes +
                             registers[Register::ActivationChannelOffset],
                    .step = pixel_bytes,
                    .every = pixel_cycles,
                    .divisor = row_bytes});
        begin = end;
        done += pixels;
    }
}

void drive_pooled_lines(const isa::Vector& vector, const isa::Registers& registers, PortCycles cycles,
                        std::uint64_t row_bytes, DrivenSignal& rows) {
    drive_lines(cycles, vector.length, rows, [&](std::uint64_t line) {
        return isa::written_lines(registers, vector.destination_row,
                                  {.first = vector.first_line + line, .count = 1}, row_bytes)
            .first;
    });
}

}  // namespace

void stream_reads(const isa::BoundInstruction& bound, const hw::StreamTimes& times, std::uint64_t repetition,
                  std::uint64_t row_bytes, DrivenSignal& rows) {
    const isa::Registers& registers = *bound.registers;
    const Cycle end = times.begun + times.lines * times.line_cycles;
    if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&bound.instruction)) {
        const std::uint64_t element_rows = bytes_of(multiply->flags.activations);
        rows.drive({.begin = times.begun,
                    .end = end,
                    .first = multiply->unified_buffer_row + repetition * element_rows,
                    .step = registers[Register::MultiplyRowStride],
                    .every = times.line_cycles});
        return;
    }
    const auto& convolve = std::get<isa::Convolve>(bound.instruction);
    // Each array row takes one element of the window.
    const std::uint64_t first_element = (registers[Register::WindowTile] + repetition) * row_bytes;
    const std::uint64_t kernel_row_elements =
        std::uint64_t{registers[Register::WindowKernelWidth]} * registers[Register::WindowChannels];
    const WindowLines lines{.registers = registers,
                            .first_row = convolve.unified_buffer_row,
                            .elements = convolve.flags.activations,
                            .kernel_row = first_element / kernel_row_elements,
                            .row_bytes = row_bytes};
    drive_lines({times.begun, end}, times.lines, rows,
                [&](std::uint64_t line) { return lines.row_of(convolve.first_line + line); });
}

void stream_writes(const hw::StreamTimes& times, DrivenSignal& rows) {
    const Cycle busy = times.line_rows * times.passes;
    const bool has_gaps = busy != times.line_cycles;
    const std::uint64_t pieces = has_gaps ? times.lines : 1;
    const std::uint64_t rows_of_piece = has_gaps ? times.line_rows : times.lines * times.line_rows;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
        const Cycle begin = sums_written(times) + piece * times.line_cycles;
        rows.drive({.begin = begin,
                    .end = begin + rows_of_piece * times.passes,
                    .first = times.accumulator_row + piece * rows_of_piece,
                    .step = 1,
                    .every = times.passes});
    }
}

void table_reads(const isa::BoundInstruction& bound, PortCycles cycles, DrivenSignal& rows) {
    Cycle begin = cycles.begin;
    // `activate` loads parameters, then the table; what vector work reads first is an operand, and where it
    // has two, the second is one as well.
    const auto* const vector = std::get_if<isa::Vector>(&bound.instruction);
    for (std::size_t place = 0; place < 2; ++place) {
        if (vector != nullptr && (place == 0 || vector->operation != isa::VectorOperation::Lookup)) continue;
        const isa::RowRange range = bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer, place);
        const Cycle end = std::min(begin + range.count(), cycles.end);
        rows.drive({.begin = begin, .end = end, .first = range.first, .step = 1});
        begin = end;
    }
}

void vector_reads(const isa::Vector& vector, const isa::Registers& registers, PortCycles cycles,
                  std::uint64_t row_bytes, DrivenSignal& rows) {
    if (!vector.is_pooling()) {
        drive_slices(
            isa::image_slices(registers, Register::VectorSourceImageRows, vector.source_row, vector.length),
            cycles, rows);
        return;
    }
    const WindowLines lines{.registers = registers, .first_row = vector.source_row, .row_bytes = row_bytes};
    drive_lines(cycles, vector.length, rows,
                [&](std::uint64_t line) { return lines.row_of(vector.first_line + line); });
}

void activation_writes(const isa::BoundInstruction& bound, PortCycles cycles, std::uint64_t row_bytes,
                       DrivenSignal& rows) {
    const isa::Registers& registers = *bound.registers;
    if (const auto* activate = std::get_if<isa::Activate>(&bound.instruction)) {
        drive_pixels(*activate, registers, cycles, row_bytes, rows);
        return;
    }
    const auto& vector = std::get<isa::Vector>(bound.instruction);
    if (vector.is_pooling()) {
        drive_pooled_lines(vector, registers, cycles, row_bytes, rows);
    } else {
        drive_slices(isa::image_slices(registers, Register::VectorDestinationImageRows,
                                       vector.destination_row, vector.length),
                     cycles, rows);
    }
}

}  // namespace systole::trace
