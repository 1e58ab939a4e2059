#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/layer_plan.h"

namespace systole::schedule {

/// Bytes of the requantization parameters of a channel: int32 bias, int32 multiplier, int8 shift.
inline constexpr std::uint64_t parameter_bytes = 9;

/// Gives each layer the unified-buffer rows of its parameters and its table, from row 0 on, each set
/// beginning at a row. Returns the rows all take together. Throws ModelError where they do not fit the
/// unified buffer.
std::uint32_t lay_out_constants(const mapping::Network& network, const Target& target,
                                std::vector<LayerPlan>& plans);

}  // namespace systole::schedule
