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

/// Weight memory as the units see it that share it: the FIFOs of several cores, and units that write it.
/// Requests are served by cycle, in one cycle reads before writes, then by index of the core.
class SharedWeights {
public:
    virtual ~SharedWeights() = default;
    /// Asks for `bytes` bytes from an address on.
    virtual void request(std::size_t core, std::uint64_t address, std::uint64_t bytes, Tag tag) = 0;
    /// When the last byte of a core's request arrives, for one request after the other. Waits until it is
    /// known.
    virtual Cycle next_arrival(std::size_t core) = 0;
    // The same for bytes that a core writes.
    virtual void request_write(std::size_t core, std::uint64_t bytes, Tag tag) = 0;
    virtual Cycle next_written(std::size_t core) = 0;
    /// The bytes of a tile that a program writes, from the first to the last of its rows; null in a run
    /// without values.
    virtual std::uint8_t* written_tile(std::uint64_t address) = 0;
};

/// The bytes of weights that came for the array, as the unit sees it that says the bound of weight memory for
/// reads and writes together.
class ArrivedWeights {
public:
    virtual ~ArrivedWeights() = default;
    /// Of those from weight memory: what is sure to have come before the run ended.
    virtual std::uint64_t from_memory(const Amounts& amounts) const = 0;
};

/// The bound of weight memory: said by the memory if it counts its clocks, by the unit that writes it if
/// there is one, else by the FIFO that reads it.
inline UnitBound weight_memory_bound(std::function<Cycle(const Amounts&)> cycles) {
    return {.name = "weight_memory",
            .part = "weight memory",
            .meaning = "weights are fetched",
            .place = 3,
            .cycles = std::move(cycles)};
}

}  // namespace systole::hw
