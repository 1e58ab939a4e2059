#pragma once

#include <cstdint>

#include "hw/common/tile_interfaces.h"
#include "hw/common/value_workers.h"
#include "hw/tile_array/work.h"

// The values of whole instructions, for the engine that computes in closed form.
namespace systole::hw {

/// `parameters`: the first block.
void compute_convolution(const Product& product, const std::uint8_t* parameters, NarrowMemoryAccess& narrow,
                         ValueWorkers::Scratch& scratch);
void compute_depthwise(const Product& product, const std::uint8_t* parameters, NarrowMemoryAccess& narrow,
                       ValueWorkers::Scratch& scratch);
void compute_dense(const Product& product, NarrowMemoryAccess& narrow, WideMemoryAccess& wide,
                   ValueWorkers::Scratch& scratch);
void compute_vector(const VectorWork& work, NarrowMemoryAccess& narrow, WideMemoryAccess& wide);

}  // namespace systole::hw
