#pragma once

#include <cstdint>

namespace systole {

/// A cycle of a core's clock, counted from 0, or a number of cycles.
using Cycle = std::uint64_t;

}  // namespace systole
