#pragma once

#include <cstdint>

#include "hw/isa/footprint.h"

// Row arithmetic of footprints. Registers are any 32-bit numbers, so sums and products saturate; a
// saturated row lies beyond every address and is an error in buffer_rows and accumulator_rows.
namespace systole::isa {

/// The register's value. Throws ProgramError naming the register if it is 0.
std::uint64_t at_least_one(const Registers& registers, Register reg);

/// `count` rows from `first` on. Throws ProgramError if no address can name the last one.
RowRange buffer_rows(std::uint64_t first, std::uint64_t count);
RowRange accumulator_rows(std::uint64_t first, std::uint64_t count);

/// Bytes of host memory from one block of a transfer to the next.
std::uint64_t host_block_stride(const Registers& registers, std::uint64_t block_bytes);

/// Rows of the unified buffer from one block of a transfer to the next. Throws ProgramError where blocks
/// would lie over each other.
std::uint64_t host_block_rows(const Registers& registers, std::uint64_t block_bytes, std::uint64_t row_bytes);

/// The rows of a transfer in the unified buffer, from its first block to its last.
RowRange host_rows(const Registers& registers, std::uint64_t first_row, std::uint64_t block_bytes,
                   std::uint64_t blocks, std::uint64_t row_bytes);

/// The bytes of host memory from the first block of a transfer to the last, and what lies between them.
RowRange host_bytes(const Registers& registers, std::uint64_t address, std::uint64_t block_bytes,
                    std::uint64_t blocks);

/// Where the images of a tensor lie in the unified buffer.
struct ImageLayout {
    std::uint64_t first_row = 0;                      ///< of the first image
    std::uint64_t image_bytes = 0;                    ///< at least 1
    Register image_rows = Register::WindowImageRows;  ///< holds the rows from one image to the next
    std::uint64_t row_bytes = 0;                      ///< at least 1
};

struct ImageByte {
    std::uint64_t image = 0;
    std::uint64_t byte = 0;
};

/// The rows from byte `first` up to before byte `end` (of the same or a later image). Throws
/// ProgramError if the range reaches into a second image and images overlap.
RowRange image_byte_rows(const ImageLayout& layout, const Registers& registers, ImageByte first,
                         ImageByte end);

}  // namespace systole::isa
