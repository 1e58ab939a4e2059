#pragma once

#include <cstddef>
#include <cstdint>

namespace systole::math {

/// Matrices of bytes that become blocks on the diagonal of a weight tile (docs/isa.md, write_weights).
struct DiagonalBlocks {
    std::size_t rows = 0;     ///< of a block in the source
    std::size_t columns = 0;  ///< of a block in the source; those of all blocks follow each other in a row
    std::size_t blocks = 0;
    std::size_t stride = 0;  ///< bytes from one source row to the next
    bool is_signed = false;  ///< else source bytes are uint8, and 128 is subtracted from each
    bool transposed = false;
    std::int8_t outside = 0;  ///< what elements outside of the blocks get
};

/// The rows and columns of a tile of int8 that are written, which have room for all blocks.
struct WrittenTile {
    std::uint8_t* values = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t row_bytes = 0;  ///< from one row to the next
};

/// Writes every element of the tile's rows and columns. `source` is the first byte of the first source row.
void write_diagonal_blocks(const std::uint8_t* source, const DiagonalBlocks& from, const WrittenTile& tile);

}  // namespace systole::math
