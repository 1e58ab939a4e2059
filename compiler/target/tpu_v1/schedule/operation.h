#pragma once

#include <cstdint>
#include <variant>

#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"

namespace systole::tpu_v1 {

// The operations of the schedule, in program order, in terms of layers, images and tiles.

/// Reads images of the network's input, or of a part of it, into the unified buffer.
struct ReadInput {
    std::uint64_t first_inference = 0;
    std::uint32_t first_image = 0;  ///< its place in the unified buffer
    std::uint32_t images = 0;
    std::uint32_t part = 0;  ///< of MemoryPlan::inputs

    bool operator==(const ReadInput&) const = default;
};

/// Reads parameters and tables of all layers into the unified buffer, once for the whole program.
struct ReadConstants {
    bool operator==(const ReadConstants&) const = default;
};

/// Streams lines of a layer's output against consecutive weight tiles of one column tile.
struct MatrixWork {
    std::uint32_t layer = 0;
    Chunk chunk;
    std::uint32_t accumulator_row = 0;
    std::uint32_t input = 0;  ///< which of the layer's inputs
    std::uint32_t first_element_tile = 0;
    std::uint32_t first_weight_tile = 0;  ///< in the weight image
    std::uint32_t tiles = 0;              ///< 1 to 256
    bool accumulate = false;              ///< adds to the sums of the tiles before
    bool keep_weights = false;            ///< the tile is in the array already
    PixelBlock block = {};                ///< of a row of sums

    bool operator==(const MatrixWork&) const = default;
};

/// Matrix work on the windows of a convolution.
struct ConvolveLines : MatrixWork {
    bool operator==(const ConvolveLines&) const = default;
};

/// Matrix work of a dense layer: each image is one line.
struct MultiplyImages : MatrixWork {
    bool operator==(const MultiplyImages&) const = default;
};

/// Requantizes the sums of a segment of one column tile into the output of the segment's layer.
struct ActivatePixels {
    std::uint32_t layer = 0;    ///< the layer that has the column tile
    std::uint32_t column = 0;   ///< column tile
    std::uint32_t segment = 0;  ///< of LayerPlan::segments of the column tile
    std::uint32_t accumulator_row = 0;
    std::uint32_t first_image = 0;
    std::uint32_t first_pixel = 0;  ///< of that image
    std::uint32_t pixels = 0;

    bool operator==(const ActivatePixels&) const = default;
};

/// Pools lines of a layer's output.
struct PoolLines {
    std::uint32_t layer = 0;
    Chunk chunk;

    bool operator==(const PoolLines&) const = default;
};

/// Copies lines of one input of a concatenation to their channels of its output.
struct CopyLines {
    std::uint32_t layer = 0;
    std::uint32_t input = 0;  ///< which of the layer's inputs
    Chunk chunk;

    bool operator==(const CopyLines&) const = default;
};

/// Computes rows of the output of element-wise work. Rows are counted through all images, from the tensor's
/// first unified-buffer row.
struct ElementwiseRows {
    std::uint32_t layer = 0;
    Piece rows;

    bool operator==(const ElementwiseRows&) const = default;
};

/// Fetches images of a tensor, or the same elements of each image, from host memory.
struct FetchTensor {
    std::uint32_t layer = 0;       ///< the host segment that has computed it, or the transfer
    TensorId tensor = 0;           ///< on the chip
    TensorId host_tensor = 0;      ///< in host memory: the same, or one that has it as a part
    std::uint64_t first_byte = 0;  ///< in an image in host memory
    std::uint64_t first_inference = 0;
    std::uint32_t first_image = 0;  ///< its place in the unified buffer
    std::uint32_t images = 0;

    bool operator==(const FetchTensor&) const = default;
};

/// Sends images of a tensor to host memory.
struct SendTensor : FetchTensor {
    bool operator==(const SendTensor&) const = default;
};

/// The host computes a segment for some inferences.
struct RunSegment {
    std::uint32_t layer = 0;
    std::uint64_t first_inference = 0;
    std::uint32_t images = 0;

    bool operator==(const RunSegment&) const = default;
};

/// Writes images of the network's output, or of a part of it, to the host.
struct WriteOutput {
    std::uint64_t first_inference = 0;
    std::uint32_t first_image = 0;  ///< its place in the unified buffer
    std::uint32_t images = 0;
    std::uint32_t part = 0;  ///< of MemoryPlan::outputs
    Piece rows = {};         ///< of each image; none: all

    bool operator==(const WriteOutput&) const = default;
};

using Operation =
    std::variant<ReadInput, ReadConstants, ConvolveLines, MultiplyImages, ActivatePixels, PoolLines,
                 CopyLines, ElementwiseRows, SendTensor, RunSegment, FetchTensor, WriteOutput>;

}  // namespace systole::tpu_v1
