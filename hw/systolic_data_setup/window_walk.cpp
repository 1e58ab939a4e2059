#include "hw/systolic_data_setup/window_walk.h"

#include <algorithm>

#include "hw/base/window_geometry.h"
#include "hw/machine/timing.h"

namespace systole::hw {

WindowPart window_part(const isa::Registers& registers, std::uint32_t repetition, std::uint32_t array_rows) {
    using isa::Register;
    const std::uint64_t window = std::uint64_t{registers[Register::WindowKernelHeight]} *
                                 registers[Register::WindowKernelWidth] * registers[Register::WindowChannels];
    const std::uint64_t begin = (std::uint64_t{registers[Register::WindowTile]} + repetition) * array_rows;
    return {begin, begin < window ? std::min<std::uint64_t>(array_rows, window - begin) : 0};
}

std::uint64_t fetches_of_line(const WindowGeometry& geometry, const WindowPart& part,
                              std::uint64_t element_bytes, std::uint64_t row_bytes) {
    const std::uint64_t kernel_row = std::uint64_t{geometry.kernel_width} * geometry.channels;
    const std::uint64_t stride_bytes = std::uint64_t{geometry.stride_x} * geometry.channels * element_bytes;
    std::uint64_t fetches = 0;
    const std::uint64_t end = part.begin + part.elements;
    for (std::uint64_t begin = part.begin; begin < end;) {
        const std::uint64_t row_end = std::min(end, (begin / kernel_row + 1) * kernel_row);
        fetches += machine::line_fetches(geometry.output_width, (row_end - begin) * element_bytes,
                                         stride_bytes, row_bytes);
        begin = row_end;
    }
    return fetches;
}

}  // namespace systole::hw
