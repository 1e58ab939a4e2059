#include "hw/math/diagonal_blocks.h"

#include <cstring>

namespace systole::math {

void write_diagonal_blocks(const std::uint8_t* source, const DiagonalBlocks& from, const WrittenTile& tile) {
    constexpr std::uint8_t top_bit = 0x80;  // flipping it subtracts 128 from a uint8
    const std::uint8_t flipped = from.is_signed ? 0 : top_bit;
    for (std::size_t row = 0; row < tile.rows; ++row) {
        std::memset(tile.values + row * tile.row_bytes, static_cast<std::uint8_t>(from.outside),
                    tile.columns);
    }
    const std::size_t block_rows = from.transposed ? from.columns : from.rows;
    const std::size_t block_columns = from.transposed ? from.rows : from.columns;
    const std::size_t across = from.transposed ? tile.row_bytes : 1;  // from one source column to the next
    const std::size_t down = from.transposed ? 1 : tile.row_bytes;
    for (std::size_t row = 0; row < from.rows; ++row) {
        const std::uint8_t* byte = source + row * from.stride;
        for (std::size_t block = 0; block < from.blocks; ++block) {
            std::uint8_t* to =
                tile.values + block * block_rows * tile.row_bytes + block * block_columns + row * down;
            for (std::size_t column = 0; column < from.columns; ++column, to += across) {
                *to = static_cast<std::uint8_t>(*byte++ ^ flipped);
            }
        }
    }
}

}  // namespace systole::math
