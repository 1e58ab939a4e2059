#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/unit_bound.h"

namespace systole::hw {

/// The way of weights that lie in host memory to the weight FIFO.
class WeightLink {
public:
    virtual ~WeightLink() = default;
    /// Moves a tile of `bytes` bytes over the host link, behind transfers that are ready. Returns in the
    /// cycle in which its last byte leaves the host; the result is the cycle in which that byte arrives.
    virtual Cycle receive_weights(std::uint64_t bytes, Tag tag) = 0;
};

/// Weight memory as the FIFOs of several cores see it: reads are served by cycle of the request, then by
/// index of the core.
class SharedWeights {
public:
    virtual ~SharedWeights() = default;
    /// Asks for `bytes` bytes from an address on.
    virtual void request(std::size_t core, std::uint64_t address, std::uint64_t bytes, Tag tag) = 0;
    /// When the last byte of a core's request arrives, for one request after the other. Waits until it is
    /// known.
    virtual Cycle next_arrival(std::size_t core) = 0;
};

/// The bound of weight memory: said by the memory if it counts its clocks, else by the FIFO that reads it.
inline UnitBound weight_memory_bound(std::function<Cycle(const Amounts&)> cycles) {
    return {.name = "weight_memory",
            .part = "weight memory",
            .meaning = "weights are fetched",
            .place = 3,
            .cycles = std::move(cycles)};
}

}  // namespace systole::hw
