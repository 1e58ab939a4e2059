// The signals that waves show of the unit, and the ports through which it moves rows.
#include <algorithm>
#include <memory>
#include <variant>

#include "hw/activation_unit/activation_unit.h"
#include "hw/common/window_waves.h"
#include "hw/isa/block.h"
#include "hw/isa/image_slices.h"
#include "hw/isa/queue.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"

namespace systole::hw {
namespace {

using isa::Register;

/// Drives the rows of element-wise work; all rows take the same number of cycles.
void drive_slices(const isa::ImageSlices& slices, PortCycles cycles, DrivenWave& rows) {
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
                  DrivenWave& rows) {
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
                  std::uint64_t row_bytes, DrivenWave& rows) {
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
                        std::uint64_t row_bytes, DrivenWave& rows) {
    drive_lines(cycles, vector.length, rows, [&](std::uint64_t line) {
        return isa::written_lines(registers, vector.destination_row,
                                  {.first = vector.first_line + line, .count = 1}, row_bytes)
            .first;
    });
}

/// The rows from which parameters and tables are read, in the cycles before the first result.
void table_reads(const isa::BoundInstruction& bound, PortCycles cycles, DrivenWave& rows) {
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

/// The rows that vector work reads. For element-wise work, those of the first operand; for pooling, the row
/// in which the line's first window begins, or the nearest row of the image.
void vector_reads(const isa::Vector& vector, const isa::Registers& registers, PortCycles cycles,
                  std::uint64_t row_bytes, DrivenWave& rows) {
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

/// The rows that the unit writes: the row in which a pixel, an element-wise row or a line of pooling begins.
void activation_writes(const isa::BoundInstruction& bound, PortCycles cycles, std::uint64_t row_bytes,
                       DrivenWave& rows) {
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

class ActivationUnitWaves final : public TraceListener {
public:
    ActivationUnitWaves(WaveMaker& maker, const machine::MachineConfig& machine)
        : bound_(maker.bound()),
          row_bytes_(machine.matrix_unit.rows),
          read_(maker.port("unified_buffer.activation_read", machine.unified_buffer.rows)),
          write_(maker.port("unified_buffer.activation_write", machine.unified_buffer.rows)),
          sums_(maker.port("accumulators.read", machine.accumulators.rows)),
          busy_(maker.flag("activation_unit.busy")),
          load_(maker.flag("activation_unit.load")),
          instruction_(maker.instruction("activation_unit.instruction")),
          layer_(maker.layer("activation_unit.layer")) {
        maker.shows(isa::QueueId::Activation);
    }

    void instruction(const InstructionTimes& times) override {
        const isa::BoundInstruction& bound = bound_[times.number];
        busy_.hold(times.begun, times.released);
        load_.hold(times.begun, times.loaded);
        instruction_.hold(times.begun, times.released, times.number);
        layer_.hold(times.begun, times.released, times.tag);

        read_.flag.hold(times.begun, times.loaded);
        table_reads(bound, {times.begun, times.loaded}, read_.number);
        const PortCycles rows{times.loaded, times.released};
        if (const auto* activate = std::get_if<isa::Activate>(&bound.instruction)) {
            sums_.flag.hold(rows.begin, rows.end);
            if (activate->length > 0) {
                sums_.number.drive({.begin = rows.begin,
                                    .end = rows.end,
                                    .first = activate->accumulator_row,
                                    .step = 1,
                                    .every = (rows.end - rows.begin) / activate->length});
            }
        } else {
            read_.flag.hold(rows.begin, rows.end);
            vector_reads(std::get<isa::Vector>(bound.instruction), *bound.registers, rows, row_bytes_,
                         read_.number);
        }
        const Cycle latency = times.complete - times.released;
        const PortCycles written{times.loaded + latency, times.complete};
        write_.flag.hold(written.begin, written.end);
        activation_writes(bound, written, row_bytes_, write_.number);
        bound_.drop(times.number);
    }

private:
    BoundInstructions& bound_;
    const std::uint64_t row_bytes_;
    NumberedWave read_;
    NumberedWave write_;
    NumberedWave sums_;
    DrivenWave& busy_;
    DrivenWave& load_;
    DrivenWave& instruction_;
    DrivenWave& layer_;
};

}  // namespace

std::unique_ptr<TraceListener> ActivationUnit::waves(WaveMaker& maker) const {
    return std::make_unique<ActivationUnitWaves>(maker, context_.machine);
}

}  // namespace systole::hw
