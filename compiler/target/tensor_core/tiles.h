#pragma once

#include <cstdint>
#include <vector>

#include "compiler/target/tensor_core/network.h"

/// How the rows of a step's result are cut into tiles that go through vector memory.
namespace systole::tensor_core {

/// The rows of a result as images of lines. Without anything that differs from image to image, all rows are
/// lines of one image.
struct ResultRows {
    std::uint64_t images = 1;
    std::uint64_t lines = 1;     ///< of an image
    std::uint64_t width = 1;     ///< rows of a line
    std::uint64_t inner = 1;     ///< of these images: those in each image of the graph
    std::uint64_t together = 0;  ///< a tile has only images of the same so many ones; 0: any
};
/// Of so many images.
ResultRows result_rows(const Network& network, const Step& step, std::uint64_t images);

/// Whether an operand of a chain has other rows for each image than the result, which all images do not
/// share.
bool differs_by_image(const Network& network, const Operand& operand);

/// Some lines of one image, or all lines of several.
struct Tile {
    std::uint64_t image = 0;
    std::uint64_t images = 1;
    std::uint64_t line = 0;
    std::uint64_t lines = 1;

    std::uint64_t rows(const ResultRows& of) const { return images * lines * of.width; }
    std::uint64_t first_row(const ResultRows& of) const { return (image * of.lines + line) * of.width; }
    /// The first of the graph's images, and how many there are; only of tiles for which that matters
    /// (ResultRows::together).
    std::uint64_t graph_image(const ResultRows& of) const { return image / of.inner; }
    std::uint64_t graph_images(const ResultRows& of) const { return of.inner == 1 ? images : 1; }
};

/// Rows of a source that a tile reads; of windows, whole lines of pixels.
struct SourceRows {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    // Of windows.
    std::uint64_t line = 0;         ///< the first one of an image
    std::uint64_t lines = 0;        ///< of an image
    std::uint64_t lines_above = 0;  ///< from the first line of the first window to `line`
};
SourceRows source_rows(const Network& network, const Step& step, const ResultRows& of, const Tile& tile);

/// Outputs of a tile for which a tap of the windows is inside the image: [first, end) of lines of the output,
/// and of columns.
struct TapOutputs {
    std::uint64_t line = 0;
    std::uint64_t lines = 0;
    std::uint64_t column = 0;
    std::uint64_t columns = 0;
    std::uint64_t source_line = 0;    ///< of the image, for the first of them
    std::uint64_t source_column = 0;  ///< likewise

    bool empty() const { return lines == 0 || columns == 0; }
};
TapOutputs outputs_of_tap(const Step& step, const Tile& tile, std::uint32_t kernel_line,
                          std::uint32_t kernel_column);

/// The windows of SelectAndScatter that have elements in the lines of a tile of its result.
struct TileWindows {
    Tile tile = {};  ///< of the windows
    std::uint64_t rows = 0;
};
TileWindows windows_of_tile(const Step& step, const Tile& tile);
/// Of these windows, those whose tap is in the lines of the tile.
TapOutputs lines_inside(const Step& step, const Tile& tile, const TapOutputs& outputs);

/// All tiles, of at most so many images or lines each.
std::vector<Tile> tiles_of(const ResultRows& of, std::uint64_t images, std::uint64_t lines);

}  // namespace systole::tensor_core
