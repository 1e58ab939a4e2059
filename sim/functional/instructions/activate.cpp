#include <algorithm>
#include <span>

#include "base/arithmetic.h"
#include "hw/isa/block.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/operands.h"
#include "hw/isa/rows.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"
#include "hw/math/requantize.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {
namespace {

void load_parameters(const isa::Activate& activate, State& state) {
    const isa::Registers& registers = state.registers;
    const std::uint64_t columns = registers[isa::Register::ActivationColumns];
    state.parameters.load(
        state.unified_buffer.rows(
            registers[isa::Register::ActivationParametersRow],
            divide_up(isa::parameter_bytes(activate.multipliers) * columns, state.row_bytes())),
        columns, activate.multipliers);
    if (activate.looks_up()) {
        const auto bytes =
            state.unified_buffer.rows(registers[isa::Register::ActivationTableRow],
                                      divide_up(isa::table_bytes(activate.output), state.row_bytes()));
        if (bytes_of(activate.output) == 2) {
            state.parameters.interpolated_table = math::read_interpolated_table(bytes);
        } else {
            state.parameters.table = table_of(bytes);
        }
    }
}

/// Channels of consecutive output pixels of one image, each in consecutive columns of an accumulator row.
struct Pixels {
    std::uint64_t accumulator_row = 0;  ///< of the first pixel
    std::uint64_t first_column = 0;     ///< counted from activation.first_column on
    std::uint64_t channels = 0;
    std::uint64_t image = 0;
    std::uint64_t first = 0;  ///< pixel of the image
    std::uint64_t count = 1;
};

void write_pixels(const isa::Activate& activate, const Pixels& pixels, State& state) {
    const isa::Registers& registers = state.registers;
    const bool is_real = isa::are_real(activate.multipliers);
    const std::span<const double> reals = state.parameters.real_multiplier;
    const math::Requantization parameters{
        .bias = std::span(state.parameters.bias).subspan(pixels.first_column),
        .multiplier = std::span(state.parameters.multiplier).subspan(pixels.first_column),
        .shift = std::span(state.parameters.shift).subspan(pixels.first_column),
        .zero_point = registers.as_signed(isa::Register::OutputZeroPoint),
        .minimum = registers.as_signed(isa::Register::OutputMinimum),
        .maximum = registers.as_signed(isa::Register::OutputMaximum),
        .real_multiplier = is_real ? reals.subspan(pixels.first_column) : std::span<const double>(),
        .half_to_even = isa::round_to_even(activate.multipliers)};
    const std::uint64_t pixel_bytes = registers[isa::Register::ActivationPixelBytes];
    const std::int32_t* const sums = state.accumulators.rows(pixels.accumulator_row, pixels.count).data() +
                                     registers[isa::Register::ActivationFirstColumn] + pixels.first_column;
    const std::uint64_t image_row =
        activate.unified_buffer_row + pixels.image * registers[isa::Register::ActivationImageRows];
    const auto out = state.unified_buffer.from_row(image_row).subspan(
        pixels.first * pixel_bytes + registers[isa::Register::ActivationChannelOffset]);

    math::requantize_rows(sums, state.accumulators.row_elements(), pixels.count, pixels.channels, parameters,
                          activate.output, out.data(), pixel_bytes);
    if (activate.looks_up()) {
        for (std::uint64_t pixel = 0; pixel < pixels.count; ++pixel) {
            const auto values = out.subspan(pixel * pixel_bytes, pixels.channels * bytes_of(activate.output));
            if (bytes_of(activate.output) == 2) {
                math::lookup(values, values, state.parameters.interpolated_table);
            } else {
                math::lookup(values, values, state.parameters.table);
            }
        }
    }
}

/// Writes the pixels of a block that lie inside the image.
void write_block(const isa::Activate& activate, const isa::BlockGeometry& blocks, std::uint64_t row,
                 State& state) {
    const std::uint64_t output = activate.first_output + row;
    const std::uint64_t block = output % blocks.of_image();
    const std::uint64_t channels = state.registers[isa::Register::ActivationColumns] / blocks.pixels();
    for (std::uint64_t j = 0; j < blocks.height; ++j) {
        for (std::uint64_t i = 0; i < blocks.width; ++i) {
            const std::uint64_t line = block / blocks.across() * blocks.height + j;
            const std::uint64_t column = block % blocks.across() * blocks.width + i;
            if (line >= blocks.output_height || column >= blocks.output_width) continue;
            write_pixels(activate,
                         {.accumulator_row = activate.accumulator_row + row,
                          .first_column = (j * blocks.width + i) * channels,
                          .channels = channels,
                          .image = output / blocks.of_image(),
                          .first = line * blocks.output_width + column},
                         state);
        }
    }
}

}  // namespace

void execute(const isa::Activate& activate, State& state) {
    if (activate.load_parameters) load_parameters(activate, state);
    if (activate.length == 0) return;
    if (const auto blocks = isa::block_geometry(state.registers)) {
        for (std::uint64_t row = 0; row < activate.length; ++row) write_block(activate, *blocks, row, state);
        return;
    }
    const std::uint64_t outputs = state.registers[isa::Register::ActivationOutputsPerImage];
    for (std::uint64_t done = 0; done < activate.length;) {
        const std::uint64_t output = activate.first_output + done;
        const std::uint64_t first = output % outputs;
        const std::uint64_t count = std::min(outputs - first, activate.length - done);
        write_pixels(activate,
                     {.accumulator_row = activate.accumulator_row + done,
                      .first_column = 0,
                      .channels = state.registers[isa::Register::ActivationColumns],
                      .image = output / outputs,
                      .first = first,
                      .count = count},
                     state);
        done += count;
    }
}

}  // namespace systole::functional
