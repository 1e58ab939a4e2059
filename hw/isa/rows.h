#pragma once

#include <cstdint>
#include <string_view>

#include "hw/isa/footprint.h"

// Row arithmetic for footprints. Registers hold any 32-bit numbers, so sums and products saturate. A
// saturated row exceeds every address, so buffer_rows and accumulator_rows report it as an error.
namespace systole::isa {

/// The register's value. Throws ProgramError with the register's name if it is 0.
std::uint64_t at_least_one(const Registers& registers, Register reg);

/// `count` rows of the named memory from `first` on. Throws ProgramError if the last one is not below
/// `limit`.
RowRange checked_rows(std::string_view memory, std::uint64_t first, std::uint64_t count, std::uint64_t limit);

/// `count` rows from `first` on. Throws ProgramError if the last one exceeds the row addresses.
RowRange buffer_rows(std::uint64_t first, std::uint64_t count);
RowRange accumulator_rows(std::uint64_t first, std::uint64_t count);
/// The same for units of wide memory.
RowRange wide_units(std::uint64_t first, std::uint64_t count);

/// Bytes of host memory from one block of a transfer to the next.
std::uint64_t host_block_stride(const Registers& registers, std::uint64_t block_bytes);

/// Rows of the unified buffer from one block of a transfer to the next. Throws ProgramError if blocks
/// overlap.
std::uint64_t host_block_rows(const Registers& registers, std::uint64_t block_bytes, std::uint64_t row_bytes);

/// The rows of a transfer in the unified buffer, from its first block to its last.
RowRange host_rows(const Registers& registers, std::uint64_t first_row, std::uint64_t block_bytes,
                   std::uint64_t blocks, std::uint64_t row_bytes);

/// The range of host memory from the first block of a transfer to the last, gaps included.
RowRange host_bytes(const Registers& registers, std::uint64_t address, std::uint64_t block_bytes,
                    std::uint64_t blocks);

/// The layout of a tensor's images in the unified buffer.
struct ImageLayout {
    std::uint64_t first_row = 0;    ///< of the first image
    std::uint64_t image_bytes = 0;  ///< at least 1
    Register image_rows =
        Register::WindowImageRows;  ///< the register with the rows from one image to the next
    std::uint64_t row_bytes = 0;    ///< at least 1
};

struct ImageByte {
    std::uint64_t image = 0;
    std::uint64_t byte = 0;
};

/// The rows that hold bytes [first, end); `end` may be in a later image. Throws ProgramError if the range
/// spans several images and images overlap.
RowRange image_byte_rows(const ImageLayout& layout, const Registers& registers, ImageByte first,
                         ImageByte end);

}  // namespace systole::isa
