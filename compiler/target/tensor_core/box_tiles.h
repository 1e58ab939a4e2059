#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/target/tensor_core/row_boxes.h"

/// How boxes of rows are cut into tiles that go through vector memory, and into transfers.
namespace systole::tensor_core {

/// An axis of a box, or the images.
struct BoxAxis {
    std::size_t place = 0;  ///< of the box's axes; behind them: the images
    std::uint64_t extent = 1;
    std::uint64_t apart = 1;  ///< rows of the result
    bool is_backward = false;
};
/// In the order in which the rows of a tile follow each other: that of the result, but axes that go backwards
/// in a source come first. So a tile has few of their indices: each of these takes a transfer of its own.
std::vector<BoxAxis> axes_of(const RowBox& box, std::uint64_t images, std::uint64_t image_rows);

/// Some indices of each axis.
struct BoxTile {
    std::vector<std::uint64_t> first = {};
    std::vector<std::uint64_t> count = {};

    std::uint64_t rows() const;
};
/// Tiles of about equally many rows each, at most `most`: the last axes are whole as far as there is room.
std::vector<BoxTile> box_tiles(const std::vector<std::uint64_t>& extents, std::uint64_t most);

/// The next index with the last axis first; false behind the last one.
bool advance(std::vector<std::uint64_t>& index, const std::vector<std::uint64_t>& extents,
             const std::vector<std::uint64_t>& step);

/// An axis along which rows lie equally far apart in both memories.
struct TransferAxis {
    std::uint64_t extent = 1;
    std::int64_t hbm = 0;  ///< rows from an index to the next
    std::uint64_t memory = 0;
};
/// Without axes of one index, and with neighbours joined that lie behind each other in both memories.
std::vector<TransferAxis> joined_axes(std::vector<TransferAxis> axes);

/// The axes that one transfer takes: that of the rows of a block, and that of the blocks. Behind the last
/// axis: none.
struct TransferChoice {
    std::size_t rows_axis = 0;
    std::size_t blocks_axis = 0;
    std::uint64_t rows = 1;
    std::uint64_t blocks = 1;
};
/// The choice that takes the most rows.
TransferChoice choose_transfer(const std::vector<TransferAxis>& axes);

/// Columns of a box that are put in together.
struct ColumnGroup {
    std::size_t first = 0;
    std::size_t end = 0;
    std::uint64_t first_panel = 0;  ///< of the source
    std::uint64_t end_panel = 0;

    std::uint64_t panels() const { return end_panel - first_panel; }
};
/// Whether rows of the source need no move between lanes.
bool is_direct(const BoxColumns& part, std::uint64_t lanes);
/// Neighbours that come from the same rows are put in together, unless they need no move between lanes.
std::vector<ColumnGroup> column_groups(const RowBox& box, std::uint64_t lanes);

/// The columns from one on, as columns of a box of their own.
RowBox cut_columns(const RowBox& box, std::uint64_t first, std::uint64_t count);

}  // namespace systole::tensor_core
