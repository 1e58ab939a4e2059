#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/data_type.h"
#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/inplace_function.h"
#include "hw/common/wait_history.h"
#include "hw/isa/block.h"

namespace systole::hw {

// The values of a machine that computes in floats: `Stream::activations` and `Stream::weights` are bfloat16,
// and so is `Tile::type`; the elements in memory are float32 (objects of type float), each settled and equal
// to a bfloat16 (hw/math/floats/float_values.h). The words of the accumulators hold the bits of float32. A
// row takes one pass, and weights have no zero point.

/// A weight tile in the FIFO or the array.
struct Tile {
    std::uint32_t rows = 0;     ///< used array rows, from row 0
    std::uint32_t columns = 0;  ///< used array columns, from column 0
    std::uint32_t useful_macs = 0;
    std::span<const std::uint32_t> block_macs = {};  ///< those of each pixel of a block; may be empty
    DataType type = DataType::Int8;                  ///< of the weights
    std::uint64_t bytes = 0;                         ///< fetched for it
    Tag tag = 0;                                     ///< of its fetch
    Cycle whole_at = 0;                              ///< its last byte is in the FIFO
    bool is_timed = true;                            ///< `whole_at` is known
    const std::uint8_t* values = nullptr;            ///< row by row, from `whole_at` on; null without values
    std::size_t row_bytes = 0;                       ///< from one row to the next
};

/// The weight FIFO as the matrix unit sees it.
class TileSource {
public:
    virtual ~TileSource() = default;
    /// The oldest tile whose fetch has been issued; waits until there is one. It may not have arrived whole
    /// yet.
    virtual const Tile& front() = 0;
    /// Frees the slot of the oldest tile, which has been shifted out. Its values remain valid until two more
    /// tiles have been released and the jobs of the matrix unit's queue from before are done.
    virtual void release() = 0;
};

/// Streamed rows of activations: the first byte of the first row, and the bytes from row to row, of floats a
/// multiple of theirs.
struct RowBlock {
    const std::uint8_t* values = nullptr;
    std::size_t stride = 0;
};

/// A function that returns the rows of a stream when they are needed. It may build them in `memory`, which
/// then grows. Empty in a run without values.
inline constexpr std::size_t stream_rows_bytes = 160;
using StreamRows = InplaceFunction<RowBlock(std::vector<std::uint8_t>& memory), stream_rows_bytes>;

/// The source of a stream's rows.
class RowSource {
public:
    virtual ~RowSource() = default;
    /// Called once for each stream, in the cycle in which it enters the array. Returns its rows, with the
    /// first `elements` elements of each.
    virtual StreamRows enter(std::uint32_t elements) = 0;
};

/// A stream of rows that the data setup has ready for the array. The shape is that of timing::StreamShape.
struct Stream {
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;
    std::uint64_t lines = 0;
    std::uint64_t line_rows = 1;
    std::uint64_t passes = 1;
    std::uint64_t line_cycles = 1;
    std::uint64_t arrays = 1;
    std::uint64_t accumulator_row = 0;
    std::uint32_t repetition = 0;  ///< of its instruction, for traces
    bool accumulate = false;
    bool keep_weights = false;
    DataType activations = DataType::Uint8;
    DataType weights = DataType::Int8;
    std::int32_t weight_zero_point = 0;          ///< subtracted from each weight, by the row-sum column
    MatrixNeeds needs{};                         ///< for the reasons of its waiting
    std::optional<isa::BlockGeometry> blocks{};  ///< if each row is a block of several output pixels
    std::uint64_t first_line = 0;                ///< of blocks, through all images
    RowSource* source = nullptr;
};

/// The matrix unit as the data setup sees it.
class StreamSink {
public:
    virtual ~StreamSink() = default;
    /// Waits until the stream has begun to enter the array. Returns the cycle in which its last sums are in
    /// the accumulators.
    virtual Cycle enter(const Stream& stream) = 0;
};

}  // namespace systole::hw
