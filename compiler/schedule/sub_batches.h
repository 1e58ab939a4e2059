#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/schedule/row_allocation.h"

namespace systole::schedule {

/// Layers with large images gain little from a large batch: they have enough rows and few weights. So if a
/// batch slice does not fit the unified buffer, the first `layers` layers may process it in groups of
/// `images`. The later layers, whose many weights need all images, process it whole.
struct SubBatches {
    std::uint32_t layers = 0;  ///< 0: every layer processes the whole slice
    std::uint32_t images = 0;  ///< in a group; the last may have fewer

    bool operator==(const SubBatches&) const = default;
};

/// Whether only the first layers write and read a tensor of this lifetime. It needs rows only for the images
/// of one group.
bool belongs_to_group(const Lifetime& lifetime, const SubBatches& groups);

/// Lifetimes of a batch slice that is processed in groups, with the rows of all images, from the lifetimes
/// of one image. A tensor that outlives a group lives while any group is computed.
std::vector<Lifetime> lifetimes_in_groups(std::span<const Lifetime> one_image, std::uint32_t images,
                                          const SubBatches& groups);

/// The groups in which `images` images fit into `rows` rows and the fewest weight tiles are fetched again
/// (the tiles of the first layers, once for each group except the first). `tiles` holds the number of weight
/// tiles of each layer. nullopt unless fewer than `limit` tiles are fetched again. Of the sizes that give a
/// number of groups, only the smallest is tried, which nearly always takes the fewest rows. Of networks with
/// more than about 2,000 layers and tensors, only some of the first layers are tried.
std::optional<SubBatches> find_sub_batches(std::span<const Lifetime> one_image, std::uint32_t images,
                                           std::uint64_t rows, std::span<const std::uint32_t> tiles,
                                           std::uint64_t limit);

}  // namespace systole::schedule
