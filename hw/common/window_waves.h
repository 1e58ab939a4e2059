#pragma once

#include <algorithm>
#include <cstdint>

#include "base/data_type.h"
#include "hw/common/clock.h"
#include "hw/common/unit_waves.h"
#include "hw/isa/registers.h"

/// What units have in common that show the rows of windows (rule 6 of docs/timing.md).
namespace systole::hw {

/// The cycles [begin, end) in which an instruction moves rows through a port.
struct PortCycles {
    Cycle begin = 0;
    Cycle end = 0;
};

/// Computes the rows in which lines of windows begin: that of the first window, or the nearest of the image.
struct WindowLines {
    const isa::Registers& registers;
    std::uint64_t first_row = 0;
    DataType elements = DataType::Uint8;
    std::uint64_t kernel_row = 0;  ///< first kernel row whose elements are read
    std::uint64_t row_bytes = 1;

    std::uint64_t row_of(std::uint64_t line) const {
        const std::uint64_t height = registers[isa::Register::WindowOutputHeight];
        // Padding above the image is not read.
        const std::uint64_t from_pad = line % height * registers[isa::Register::WindowStrideY] + kernel_row;
        const std::uint64_t pad = registers[isa::Register::WindowPadTop];
        const std::uint64_t pixel_row =
            std::min<std::uint64_t>(from_pad > pad ? from_pad - pad : 0,
                                    registers[isa::Register::WindowInputHeight] - std::uint64_t{1});
        const std::uint64_t byte = pixel_row * registers[isa::Register::WindowInputWidth] *
                                   registers[isa::Register::WindowChannels] * bytes_of(elements);
        return first_row + line / height * registers[isa::Register::WindowImageRows] + byte / row_bytes;
    }
};

/// Drives the row of each line; all lines take the same number of cycles.
template <class RowOfLine>
void drive_lines(PortCycles cycles, std::uint64_t lines, DrivenWave& rows, const RowOfLine& row_of_line) {
    const Cycle line_cycles = (cycles.end - cycles.begin) / lines;
    for (std::uint64_t line = 0; line < lines; ++line) {
        const Cycle begin = cycles.begin + line * line_cycles;
        rows.hold(begin, begin + line_cycles, row_of_line(line));
    }
}

}  // namespace systole::hw
