#pragma once

#include <cstdint>

#include "hw/common/memory_interfaces.h"
#include "hw/isa/bound_instruction.h"

namespace systole::hw {

/// Computes an element-wise `vector`. `written` are the rows of the footprint, from its first one on.
void compute_elementwise(const isa::Vector& vector, const isa::BoundInstruction& bound,
                         const UnifiedBufferAccess& buffer, std::uint8_t* written);

}  // namespace systole::hw
