#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/window.h"

namespace systole::tpu_v1 {

/// Output lines that are computed together: `lines` lines from `first_line` of image `first_image` on. They
/// may span several images.
struct Chunk {
    std::uint32_t first_image = 0;
    std::uint32_t first_line = 0;
    std::uint32_t lines = 0;

    bool operator==(const Chunk&) const = default;
};

/// Cuts the output lines of `images` images into chunks of at most `limit` pixels: whole images if an image
/// fits, else lines of one image. A line is never cut, even if it has more pixels.
///
/// Returns the fewest chunks, of nearly equal size. Large chunks matter because a weight tile has to be
/// fetched for each chunk, which takes as long as streaming some hundreds of rows. Nearly equal chunks hide
/// fetches best.
std::vector<Chunk> cut_lines(const ir::FeatureMap& output, std::uint32_t images, std::uint32_t limit);

/// A range of rows, images or other items.
struct Piece {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    bool operator==(const Piece&) const = default;
};

/// Cuts `total` items into the fewest pieces of at most `limit` items. Sizes differ by at most one; larger
/// pieces come first.
std::vector<Piece> cut_evenly(std::uint32_t total, std::uint32_t limit);

}  // namespace systole::tpu_v1
