#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/row_allocation.h"
#include "compiler/schedule/sub_batches.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// Where a tensor lies in the unified buffer. Each image begins at a row; inside, elements are packed in
/// height, width, channel order, so reshaping costs nothing. A tensor whose only use is a concatenation may
/// lie inside the concatenated tensor and have no rows of its own.
struct TensorPlacement {
    std::string name;
    std::uint32_t row = 0;
    std::uint32_t images = 0;          ///< number that have rows: the image of place i lies in i % images
    std::uint32_t image_rows = 0;      ///< rows from one image to the next; 0 if nothing uses the tensor
    std::uint32_t pixel_bytes = 0;     ///< from one pixel to the next
    std::uint32_t channel_offset = 0;  ///< byte of the pixel at which its channels begin
    std::optional<TensorId> part_of;   ///< the concatenated tensor it lies in
    /// A vector that leaves column tile by column tile: the rows of a tile of all images lie together, so
    /// that one can leave while the next is written. Row r of each image, where a tile of n rows begins, is
    /// then row r * images + i * n for image i.
    bool by_columns = false;

    bool operator==(const TensorPlacement&) const = default;
};

/// How many images are in the unified buffer together, and where.
struct MemoryPlan {
    /// A batch that does not fit goes through the network in several slices of at most this many images.
    std::uint32_t images_per_slice = 0;
    /// The most images of one slice that fit the unified buffer if every layer processes the whole slice.
    std::uint64_t images_that_fit = 0;
    /// Input and output have rows of their own: while one slice is computed, the input of the next arrives
    /// and the output of the previous one leaves.
    bool overlap_transfers = false;
    std::optional<Pipeline> pipeline;  ///< if slices are pipelined
    std::uint32_t slack = 0;           ///< of its stages
    /// Slices after which the first has its place again: slice s begins at place s % turn * images_per_slice.
    std::uint32_t turn = 1;
    bool two_inputs = false;      ///< the input of two slices has rows: slices take the places in turn
    bool two_outputs = false;     ///< so has their output
    schedule::SubBatches groups;  ///< in which the first layers process the images of a slice
    std::uint32_t rows = 0;       ///< in use, constants included
    /// That live at once: no allocation of these lifetimes takes fewer. Constants included.
    std::uint32_t least_rows = 0;
    std::vector<TensorPlacement> tensors;
    std::vector<HostPart> inputs;   ///< parts in which the input is read
    std::vector<HostPart> outputs;  ///< parts in which the output is written

    bool operator==(const MemoryPlan&) const = default;
};

/// The unified-buffer rows above those of the constants.
std::uint64_t rows_for_tensors(const Target& target, std::uint32_t constant_rows);

/// The rows of an image of a vector that some of its channels fill. The first begins a row.
Piece rows_of_channels(const Tensor& vector, const Target& target, std::uint32_t first_channel,
                       std::uint32_t channels);

/// The steps in which each tensor of a batch slice needs its rows, for one image. Step 0 reads the input,
/// step l + 1 computes layer l and the layers joined to it, and the step after the last layer writes the
/// output. A concatenated tensor needs its rows from the first layer that writes a part of it; its parts and
/// slices of tensors need none. If the input or the output moves in parts, the parts need rows. With
/// Mapping::in_place, the result of element-wise work lies in the rows of an operand that is not read again.
std::vector<schedule::Lifetime> tensor_lifetimes(const AnalysedNetwork& analysed, const Target& target,
                                                 bool overlap_transfers);

/// Plans the unified buffer above `constant_rows`. Transfers overlap with computing if one image fits with
/// the rows this takes, unless all images form a single slice. A batch that does not fit goes through the
/// first layers in groups or through the network in slices, as few as possible; of the two, the one that
/// fetches fewer weight tiles again is taken. With Choices::pipeline, slices of Choices::slice_images (0: the
/// batch) are pipelined, if the rows suffice; otherwise there are no stages. `tiles` holds the number of
/// weight tiles of each layer. Throws ModelError if not even one image fits.
MemoryPlan plan_memory(const AnalysedNetwork& analysed, const Target& target, const mapping::Batches& batches,
                       std::uint32_t constant_rows, std::span<const std::uint32_t> tiles);

}  // namespace systole::tpu_v1
