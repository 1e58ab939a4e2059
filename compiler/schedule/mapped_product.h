#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/lowering.h"
#include "compiler/schedule/tensor_parts.h"
#include "hw/machine/machine_config.h"

namespace systole::schedule {

/// The products that the parts of a plan with its segments (plan_group) describe, as their cost is predicted,
/// for some images that go through the layer together. `parts`: see tensor_parts.h.
std::vector<mapping::MappedProduct> mapped_products(const LayerView& view, const LayerPlan& plan,
                                                    std::uint32_t images,
                                                    const std::vector<TensorPart>& parts);

/// Bytes of weight memory that the tiles of a layer take.
std::uint64_t bytes_of_tiles(const mapping::MatrixProduct& product, std::uint64_t tiles,
                             const Target& target);

/// Whether the machine can do the matrix work of all layers. If not, its costs cannot be predicted; the
/// program is refused with its first such instruction.
bool supports_products(const mapping::Network& network, const Target& target,
                       const machine::MachineConfig& machine);

}  // namespace systole::schedule
