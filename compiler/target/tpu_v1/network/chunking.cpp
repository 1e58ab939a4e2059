#include "compiler/target/tpu_v1/network/chunking.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace systole::tpu_v1 {

std::vector<Piece> cut_evenly(std::uint32_t total, std::uint32_t limit) {
    std::vector<Piece> pieces;
    const std::uint32_t count = divide_up(total, limit);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t larger = total % count;  // number of pieces with one item more than the others
        const std::uint32_t size = total / count;
        pieces.push_back({.first = i * size + std::min(i, larger), .count = size + (i < larger ? 1 : 0)});
    }
    return pieces;
}

std::vector<Chunk> cut_lines(const ir::FeatureMap& output, std::uint32_t images, std::uint32_t limit) {
    std::vector<Chunk> chunks;
    const std::uint64_t image_pixels = std::uint64_t{output.height} * output.width;
    if (image_pixels <= limit) {
        const auto images_at_once = static_cast<std::uint32_t>(limit / image_pixels);
        for (const Piece& piece : cut_evenly(images, images_at_once)) {
            chunks.push_back(
                {.first_image = piece.first, .first_line = 0, .lines = piece.count * output.height});
        }
        return chunks;
    }
    const std::vector<Piece> lines = cut_evenly(output.height, std::max(limit / output.width, 1U));
    for (std::uint32_t image = 0; image < images; ++image) {
        for (const Piece& piece : lines) {
            chunks.push_back({.first_image = image, .first_line = piece.first, .lines = piece.count});
        }
    }
    return chunks;
}

}  // namespace systole::tpu_v1
