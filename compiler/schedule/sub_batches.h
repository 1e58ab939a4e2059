#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/schedule/row_allocation.h"

namespace systole::schedule {

/// Large images make little use of the batch: their layers have rows enough, and few weights. So where a
/// pass does not fit the unified buffer, the first `layers` layers may take it in groups of `images`, and
/// only the layers behind them, which need all images for their many weights, take it whole.
struct SubBatches {
    std::uint32_t layers = 0;  ///< 0: every layer takes the whole pass
    std::uint32_t images = 0;  ///< of a group; the last may have fewer

    bool operator==(const SubBatches&) const = default;
};

/// Whether a tensor that lives so belongs to one group: made and read by the first layers alone. It needs
/// rows for the images of a group.
bool belongs_to_group(const Lifetime& lifetime, const SubBatches& groups);

/// Lifetimes of a pass in groups, each with the rows of all its images, from those of one image. What
/// outlives a group lives while any group is computed.
std::vector<Lifetime> lifetimes_in_groups(std::span<const Lifetime> one_image, std::uint32_t images,
                                          const SubBatches& groups);

/// The groups in which `images` images fit into `rows` rows while the fewest weight tiles are fetched again:
/// those of the first layers, once for each group but the first. `tiles` are the weight tiles of each layer.
/// Nothing where that is not fewer than `limit` tiles.
std::optional<SubBatches> find_sub_batches(std::span<const Lifetime> one_image, std::uint32_t images,
                                           std::uint64_t rows, std::span<const std::uint32_t> tiles,
                                           std::uint64_t limit);

}  // namespace systole::schedule
