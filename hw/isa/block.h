#pragma once

#include <cstdint>
#include <optional>

#include "base/arithmetic.h"
#include "hw/isa/registers.h"

// The blocks of output pixels of which an accumulator row holds all channels (block.* registers).
namespace systole::isa {

/// Images of outputs, cut into blocks from left to right and line by line. The last blocks of a line of
/// blocks, and those of the last line, may reach beyond the image. All numbers are at least 1.
struct BlockGeometry {
    std::uint64_t width = 1;          ///< pixels of a block
    std::uint64_t height = 1;         ///< pixels of a block
    std::uint64_t output_width = 1;   ///< pixels of an image
    std::uint64_t output_height = 1;  ///< pixels of an image

    constexpr std::uint64_t pixels() const { return width * height; }
    /// Blocks of an image from left to right, and from top to bottom.
    constexpr std::uint64_t across() const { return divide_up(output_width, width); }
    constexpr std::uint64_t down() const { return divide_up(output_height, height); }
    constexpr std::uint64_t of_image() const { return across() * down(); }

    bool operator==(const BlockGeometry&) const = default;
};

/// The blocks that the block.* registers describe; nothing if a block is a single pixel. Throws ProgramError
/// with the name of a register that is 0.
std::optional<BlockGeometry> block_geometry(const Registers& registers);

/// Throws ProgramError unless window.output_width and window.output_height are the numbers of an image's
/// blocks.
void check_blocks_are_windows(const Registers& registers, const BlockGeometry& blocks);

/// Throws ProgramError unless activation.outputs_per_image is the number of an image's blocks, and
/// activation.columns a multiple of a block's pixels.
void check_blocks_are_outputs(const Registers& registers, const BlockGeometry& blocks);

}  // namespace systole::isa
