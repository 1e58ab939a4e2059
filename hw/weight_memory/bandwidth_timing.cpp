#include "hw/weight_memory/bandwidth_timing.h"

#include <algorithm>

namespace systole::hw {

Cycle BandwidthTiming::read(std::uint64_t /*address*/, std::uint64_t bytes, Cycle issued, Tag /*tag*/) {
    const ExactTime first_byte{issued + latency_, 0};
    busy_until_ = rate_.after(std::max(first_byte, busy_until_), bytes);
    return busy_until_.whole;
}

}  // namespace systole::hw
