#pragma once

#include <cstdint>

#include "sim/study/measure/timing.h"

namespace systole::measure {

/// Reads `bytes` (rounded up to whole words) from memory on all cores that this process may use, again and
/// again for `minimum_seconds`. To measure memory, not caches, bytes must be far more than caches hold.
Timing time_memory_read(std::uint64_t bytes, double minimum_seconds);

}  // namespace systole::measure
