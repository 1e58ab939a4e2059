#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/host_parts.h"
#include "compiler/schedule/row_allocation.h"
#include "compiler/schedule/sub_batches.h"
#include "compiler/schedule/target.h"

namespace systole::schedule {

/// Where a tensor lies in the unified buffer: image by image, each beginning at a row, packed inside in
/// height, width, channel order. So reshaping a tensor costs nothing. A tensor that is only concatenated
/// may lie in the concatenated one instead, which then has its rows.
struct TensorPlacement {
    std::string name;
    std::uint32_t row = 0;
    std::uint32_t images = 0;       ///< it has rows for so many: image i of a pass lies in place i % images
    std::uint32_t image_rows = 0;   ///< rows from one image to the next; 0 where nothing uses the tensor
    std::uint32_t pixel_bytes = 0;  ///< from one pixel to the next
    std::uint32_t channel_offset = 0;          ///< byte of the pixel at which its channels begin
    std::optional<mapping::TensorId> part_of;  ///< the concatenated tensor it lies in

    bool operator==(const TensorPlacement&) const = default;
};

/// How many images are in the unified buffer together, and where.
struct MemoryPlan {
    /// A batch that does not fit goes through the network in several passes of at most as many images.
    std::uint32_t images_per_pass = 0;
    /// Input and output have rows of their own: the input of the next pass arrives, and the output of
    /// the one before leaves, while a pass is computed.
    bool overlap_transfers = false;
    SubBatches groups;       ///< in which the first layers take the images of a pass
    std::uint32_t rows = 0;  ///< in use, with those of constants
    std::vector<TensorPlacement> tensors;
    std::vector<HostPart> inputs;   ///< what the input is brought in
    std::vector<HostPart> outputs;  ///< what the output is sent in

    bool operator==(const MemoryPlan&) const = default;
};

/// Rows that an image of the tensor fills.
std::uint64_t image_rows(const mapping::Tensor& tensor, const Target& target);

/// From when to when each tensor of a pass needs its rows of one image. Step 0 reads the input, step
/// l + 1 computes layer l and what is joined to it, the step behind the last layer writes the output. A
/// concatenated tensor needs its rows from the first layer on that writes a part of it; the parts need none,
/// and slices neither. Of an input and an output that are moved in parts, the parts need rows.
std::vector<Lifetime> tensor_lifetimes(const mapping::Network& network, const Target& target,
                                       bool overlap_transfers);

/// The step that last reads a tensor or a slice of it; 0 if none does. `joined_to`: see
/// parallel_convolutions.h.
std::uint32_t last_reading_step(const mapping::Network& network, std::span<const std::uint32_t> joined_to,
                                mapping::TensorId tensor);

/// Plans the unified buffer above `constant_rows`. Transfers overlap where one image fits with that,
/// unless all images make a single pass. A batch that does not fit goes through the first layers in groups,
/// or through the network in several passes: the fewest in each case, and what fetches fewer weight tiles
/// again. `tiles` are the weight tiles of each layer. Throws ModelError where not even one image fits.
MemoryPlan plan_memory(const mapping::Network& network, const Target& target, const Options& options,
                       std::uint32_t constant_rows, std::span<const std::uint32_t> tiles);

}  // namespace systole::schedule
