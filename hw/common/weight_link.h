#pragma once

#include <cstdint>

#include "base/cycle.h"
#include "hw/common/counter.h"

namespace systole::hw {

/// The way of weights that lie in host memory to the weight FIFO.
class WeightLink {
public:
    virtual ~WeightLink() = default;
    /// Moves a tile of `bytes` bytes over the host link, behind transfers that are ready. Returns in the
    /// cycle in which its last byte leaves the host; the result is the cycle in which that byte arrives.
    virtual Cycle receive_weights(std::uint64_t bytes, Tag tag) = 0;
};

}  // namespace systole::hw
