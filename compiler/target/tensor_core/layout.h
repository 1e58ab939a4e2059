#pragma once

#include <array>
#include <cstdint>
#include <span>

/// How tensors lie in the memories of a tensor core: the tiled layouts that are published for Cloud TPUs. The
/// last axis goes through the lanes and the one before it through the sublanes; both are padded to whole
/// tiles.
namespace systole::tensor_core {

/// What an element is stored as.
enum class Element : std::uint8_t {
    Word,      ///< a float32 or a whole number of 32 bits
    Bfloat16,  ///< two rows in one word
    Truth,     ///< a word of its own
};
std::uint64_t bytes_of(Element element);

/// The two sides of a tile or of a matrix, in elements.
using Sides = std::array<std::uint64_t, 2>;

/// The tile of a matrix of so many rows: 8 x 128; 2 x 128 for 1 or 2 rows, 4 x 128 for 3 or 4.
Sides tile_of(std::uint64_t rows, std::uint64_t lanes = 128);

/// A tensor, by its extents from the first axis to the last, in whole tiles.
struct PaddedTensor {
    std::uint64_t matrices = 1;  ///< of the last two axes
    std::uint64_t rows = 1;      ///< of a matrix
    std::uint64_t columns = 1;
    std::uint64_t bytes = 0;
};
PaddedTensor padded(std::span<const std::uint64_t> extents, Element element, std::uint64_t lanes = 128);

/// The place of an element of a matrix that is stored tile by tile, where a tile may consist of smaller tiles
/// itself: (8, 128)(2, 1) of 16 bits are tiles of 8 x 128, of which two rows share each word.
std::uint64_t index_in_tiles(Sides element, Sides matrix, std::span<const Sides> tiles);

}  // namespace systole::tensor_core
