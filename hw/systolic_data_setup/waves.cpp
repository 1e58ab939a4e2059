// The port through which waves show the unit reading its rows.
#include <memory>
#include <optional>
#include <variant>

#include "base/data_type.h"
#include "hw/common/window_waves.h"
#include "hw/isa/queue.h"
#include "hw/systolic_data_setup/systolic_data_setup.h"

namespace systole::hw {
namespace {

using isa::Register;

/// The unified-buffer rows from which a stream is read. For a product, the row itself; for a convolution, the
/// row in which the line's first window begins, or the nearest row of the image.
void stream_reads(const isa::BoundInstruction& bound, const StreamTimes& times, std::uint64_t row_bytes,
                  DrivenWave& rows) {
    const isa::Registers& registers = *bound.registers;
    const Cycle end = times.begun + times.lines * times.line_cycles;
    if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&bound.instruction)) {
        const std::uint64_t element_rows = bytes_of(multiply->flags.activations);
        rows.drive({.begin = times.begun,
                    .end = end,
                    .first = multiply->unified_buffer_row + times.repetition * element_rows,
                    .step = registers[Register::MultiplyRowStride],
                    .every = times.line_cycles});
        return;
    }
    const auto& convolve = std::get<isa::Convolve>(bound.instruction);
    // Each array row takes one element of the window.
    const std::uint64_t first_element = (registers[Register::WindowTile] + times.repetition) * row_bytes;
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

class SystolicDataSetupWaves final : public TraceListener {
public:
    SystolicDataSetupWaves(WaveMaker& maker, std::uint64_t rows, std::uint64_t row_bytes)
        : bound_(maker.bound()), row_bytes_(row_bytes), read_(maker.port("unified_buffer.setup_read", rows)) {
        maker.shows(isa::QueueId::Matrix);
    }

    void stream(const StreamTimes& times) override {
        if (streaming_ && streaming_ != times.number) bound_.drop(*streaming_);
        streaming_ = times.number;
        read_.flag.hold(times.begun, times.begun + times.lines * times.line_cycles);
        stream_reads(bound_[times.number], times, row_bytes_, read_.number);
    }

private:
    BoundInstructions& bound_;
    const std::uint64_t row_bytes_;
    NumberedWave read_;
    std::optional<InstructionNumber> streaming_;
};

}  // namespace

std::unique_ptr<TraceListener> SystolicDataSetup::waves(WaveMaker& maker) const {
    return std::make_unique<SystolicDataSetupWaves>(maker, context_.machine.unified_buffer.rows,
                                                    context_.machine.matrix_unit.rows);
}

}  // namespace systole::hw
