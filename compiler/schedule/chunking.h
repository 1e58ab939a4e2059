#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/window.h"

namespace systole::schedule {

/// Output lines that are computed together: `lines` from `first_line` of image `first_image` on, through
/// as many images as they reach.
struct Chunk {
    std::uint32_t first_image = 0;
    std::uint32_t first_line = 0;
    std::uint32_t lines = 0;

    bool operator==(const Chunk&) const = default;
};

/// Cuts the output lines of `images` images into chunks of at most `limit` pixels: whole images where
/// an image fits, else lines of one image; a line is never cut, even if it alone has more pixels.
///
/// The chunks are the fewest that this allows. A weight tile has to be fetched for each chunk, which
/// takes as long as streaming some hundreds of rows, so what counts is that chunks are large; among the
/// fewest, nearly equal ones hide fetches best.
std::vector<Chunk> cut_lines(const ir::FeatureMap& output, std::uint32_t images, std::uint32_t limit);

/// A range of rows, images or other things in a row.
struct Piece {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    bool operator==(const Piece&) const = default;
};

/// Cuts `total` things into the fewest pieces of at most `limit`, whose sizes differ by at most one; the
/// first is as large as any.
std::vector<Piece> cut_evenly(std::uint32_t total, std::uint32_t limit);

}  // namespace systole::schedule
