#include "hw/isa/block.h"

#include <fmt/format.h>

#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"

namespace systole::isa {
namespace {

void check_count(const Registers& registers, Register count, Register size, Register output,
                 std::uint64_t blocks) {
    if (registers[count] == blocks) return;
    throw ProgramError(fmt::format("{} is {}; with {} {} and {} {} it must be {}", name(count),
                                   registers[count], name(size), registers[size], name(output),
                                   registers[output], blocks));
}

}  // namespace

std::optional<BlockGeometry> block_geometry(const Registers& registers) {
    BlockGeometry blocks{.width = at_least_one(registers, Register::BlockWidth),
                         .height = at_least_one(registers, Register::BlockHeight)};
    if (blocks.pixels() == 1) return std::nullopt;
    blocks.output_width = at_least_one(registers, Register::BlockOutputWidth);
    blocks.output_height = at_least_one(registers, Register::BlockOutputHeight);
    return blocks;
}

void check_blocks_are_windows(const Registers& registers, const BlockGeometry& blocks) {
    check_count(registers, Register::WindowOutputWidth, Register::BlockWidth, Register::BlockOutputWidth,
                blocks.across());
    check_count(registers, Register::WindowOutputHeight, Register::BlockHeight, Register::BlockOutputHeight,
                blocks.down());
}

void check_blocks_are_outputs(const Registers& registers, const BlockGeometry& blocks) {
    if (registers[Register::ActivationOutputsPerImage] != blocks.of_image()) {
        throw ProgramError(
            fmt::format("activation.outputs_per_image is {}; with block.width {}, block.height {}, "
                        "block.output_width {} and block.output_height {} it must be {}",
                        registers[Register::ActivationOutputsPerImage], blocks.width, blocks.height,
                        blocks.output_width, blocks.output_height, blocks.of_image()));
    }
    if (registers[Register::ActivationColumns] % blocks.pixels() != 0) {
        throw ProgramError(
            fmt::format("activation.columns is {}; it must be a multiple of block.width times block.height, "
                        "which is {}",
                        registers[Register::ActivationColumns], blocks.pixels()));
    }
}

}  // namespace systole::isa
