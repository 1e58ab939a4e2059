#pragma once

#include <cstdint>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/lowering.h"

namespace systole::schedule {

/// The product of a layer with one input as its cost is predicted: with the block, the grid and the tiling of
/// the plan, for some images that go through the layer together. `pixel_bytes`: from one pixel of the output
/// to the next.
mapping::MappedProduct mapped_product(const LayerView& view, const LayerPlan& plan, std::uint32_t images,
                                      std::uint32_t pixel_bytes);

/// Bytes of weight memory that the tiles of a layer take.
std::uint64_t bytes_of_tiles(const mapping::MatrixProduct& product, std::uint64_t tiles,
                             const Target& target);

/// From one pixel of a tensor to the next: those of the tensor that it lies in.
std::uint32_t pixel_bytes_of(const mapping::Tensor& whole);

}  // namespace systole::schedule
