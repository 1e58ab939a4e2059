#include "hw/isa/window.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {
namespace {

/// The window.* registers of one direction.
struct Axis {
    Register input;
    Register kernel;
    Register stride;
    Register pad;
    Register output;
};

constexpr Axis vertical = {.input = Register::WindowInputHeight,
                           .kernel = Register::WindowKernelHeight,
                           .stride = Register::WindowStrideY,
                           .pad = Register::WindowPadTop,
                           .output = Register::WindowOutputHeight};
constexpr Axis horizontal = {.input = Register::WindowInputWidth,
                             .kernel = Register::WindowKernelWidth,
                             .stride = Register::WindowStrideX,
                             .pad = Register::WindowPadLeft,
                             .output = Register::WindowOutputWidth};

void check_at_most(const Registers& registers, Register reg, std::uint32_t most) {
    if (registers[reg] > most) {
        throw ProgramError(fmt::format("{} is {}; it must be at most {}", name(reg), registers[reg], most));
    }
}

void check_meets_image(const Registers& registers, const Axis& axis) {
    if (registers[axis.pad] >= registers[axis.kernel]) {
        throw ProgramError(
            fmt::format("{} is {}; it must be below {}, which is {}: the first window would lie "
                        "outside the image",
                        name(axis.pad), registers[axis.pad], name(axis.kernel), registers[axis.kernel]));
    }
    const std::uint64_t last_begins = (std::uint64_t{registers[axis.output]} - 1) * registers[axis.stride];
    const std::uint64_t image_ends = std::uint64_t{registers[axis.pad]} + registers[axis.input];
    if (last_begins >= image_ends) {
        throw ProgramError(fmt::format("{} is {}; the last window would lie outside the image",
                                       name(axis.output), registers[axis.output]));
    }
}

}  // namespace

void check_window(const Registers& registers) {
    at_least_one(registers, Register::WindowChannels);
    check_at_most(registers, Register::WindowChannels, largest_window_channels);
    for (const Axis& axis : {vertical, horizontal}) {
        for (const Register reg : {axis.input, axis.kernel, axis.stride, axis.output}) {
            at_least_one(registers, reg);
            check_at_most(registers, reg, largest_window_side);
        }
        check_at_most(registers, axis.pad, largest_window_side);
    }
}

void check_pooling_window(const Registers& registers) {
    const std::uint64_t pixels =
        std::uint64_t{registers[Register::WindowKernelHeight]} * registers[Register::WindowKernelWidth];
    if (pixels > largest_pooling_window) {
        throw ProgramError(
            fmt::format("window.kernel_height times window.kernel_width is {}; pooling takes at most {}",
                        pixels, largest_pooling_window));
    }
}

void check_windows_meet_image(const Registers& registers) {
    for (const Axis& axis : {vertical, horizontal}) check_meets_image(registers, axis);
}

WindowGeometry window_geometry(const Registers& registers, std::uint64_t row_bytes) {
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

std::uint64_t window_elements(const Registers& registers) {
    const std::uint64_t pixels =
        std::uint64_t{registers[Register::WindowKernelHeight]} * registers[Register::WindowKernelWidth];
    return saturating_product(pixels, registers[Register::WindowChannels]);
}

RowRange read_images(const Registers& registers, std::uint64_t first_row, LineRange lines,
                     std::uint64_t element_bytes, std::uint64_t row_bytes) {
    const std::uint64_t pixels =
        std::uint64_t{registers[Register::WindowInputHeight]} * registers[Register::WindowInputWidth];
    const std::uint64_t pixel_bytes = registers[Register::WindowChannels] * element_bytes;
    const ImageLayout layout = {.first_row = first_row,
                                .image_bytes = saturating_product(pixels, pixel_bytes),
                                .image_rows = Register::WindowImageRows,
                                .row_bytes = row_bytes};
    const std::uint64_t height = registers[Register::WindowOutputHeight];
    return image_byte_rows(layout, registers, {.image = lines.first / height, .byte = 0},
                           {.image = (lines.first + lines.count - 1) / height, .byte = layout.image_bytes});
}

PooledPixel pooled_pixel(const Registers& registers) {
    const std::uint64_t channels = registers[Register::WindowChannels];
    const std::uint32_t bytes = registers[Register::ActivationPixelBytes];
    const std::uint64_t offset = registers[Register::ActivationChannelOffset];
    if (bytes == 0) {
        if (offset > 0) {
            throw ProgramError(
                fmt::format("activation.channel_offset is {}; it must be 0 where activation.pixel_bytes is, "
                            "which packs the pixels of pooling",
                            offset));
        }
        return {.bytes = channels, .offset = 0};
    }
    if (offset + channels > bytes) {
        throw ProgramError(
            fmt::format("activation.pixel_bytes is {}; the channels end at byte {} of the pixel", bytes,
                        offset + channels));
    }
    return {.bytes = bytes, .offset = offset};
}

RowRange written_lines(const Registers& registers, std::uint64_t first_row, LineRange lines,
                       std::uint64_t row_bytes) {
    const std::uint64_t height = registers[Register::WindowOutputHeight];
    const PooledPixel pixel = pooled_pixel(registers);
    const std::uint64_t line_bytes = registers[Register::WindowOutputWidth] * pixel.bytes;
    // Of the last pixel, only the bytes up to its channels' end.
    const std::uint64_t line_end =
        line_bytes - pixel.bytes + pixel.offset + registers[Register::WindowChannels];
    const ImageLayout layout = {.first_row = first_row,
                                .image_bytes = saturating_product(height, line_bytes),
                                .image_rows = Register::ActivationImageRows,
                                .row_bytes = row_bytes};
    const std::uint64_t last = lines.first + lines.count - 1;
    return image_byte_rows(
        layout, registers,
        {.image = lines.first / height,
         .byte = saturating_sum(saturating_product(lines.first % height, line_bytes), pixel.offset)},
        {.image = last / height,
         .byte = saturating_sum(saturating_product(last % height, line_bytes), line_end)});
}

}  // namespace systole::isa
