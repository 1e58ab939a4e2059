#pragma once

#include <cstdint>

#include "hw/isa/registers.h"

namespace systole::isa {

/// What the window.* registers say, as a structure with the fields of math::WindowGeometry (a
/// template, because the instruction set knows nothing of the datapath). `row_bytes` is of the unified
/// buffer.
template <class Geometry>
Geometry window_geometry(const Registers& registers, std::uint64_t row_bytes) {
    return {.input_height = registers[Register::WindowInputHeight],
            .input_width = registers[Register::WindowInputWidth],
            .channels = registers[Register::WindowChannels],
            .kernel_height = registers[Register::WindowKernelHeight],
            .kernel_width = registers[Register::WindowKernelWidth],
            .stride_y = registers[Register::WindowStrideY],
            .stride_x = registers[Register::WindowStrideX],
            .pad_top = registers[Register::WindowPadTop],
            .pad_left = registers[Register::WindowPadLeft],
            .output_height = registers[Register::WindowOutputHeight],
            .output_width = registers[Register::WindowOutputWidth],
            .image_stride_bytes = registers[Register::WindowImageRows] * row_bytes};
}

}  // namespace systole::isa
