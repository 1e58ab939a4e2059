#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "hw/common/counter.h"

namespace systole::tests {

/// The value of a counter of this name.
inline std::uint64_t value_of(const hw::CounterGroup& group, std::string_view name) {
    for (const hw::Counter& counter : group) {
        if (counter.name() == name) return counter.value();
    }
    throw std::logic_error("no such counter");
}

/// Memory clocks of all counters together.
inline std::uint64_t memory_clocks(const hw::CounterGroup& group) {
    std::uint64_t clocks = 0;
    for (const hw::Counter& counter : group) {
        if (counter.unit() == hw::CounterUnit::MemoryClocks) clocks += counter.value();
    }
    return clocks;
}

}  // namespace systole::tests
