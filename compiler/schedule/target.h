#pragma once

#include <cstdint>

#include "hw/isa/program.h"

namespace systole::schedule {

/// The properties of the machine that the compiler needs. The caller sets them from a valid machine
/// configuration. All except the delay are at least 1.
struct Target {
    isa::Geometry geometry;
    std::uint32_t accumulator_rows = 4096;      ///< of `geometry.columns` sums
    std::uint32_t unified_buffer_rows = 98304;  ///< of `geometry.rows` bytes
    std::uint64_t weight_memory_bytes = 1ULL << 33;
    /// Cycles from a row's entry into the array until its activations are in the unified buffer, without any
    /// stalls.
    std::uint64_t activation_delay = 0;

    bool operator==(const Target&) const = default;
};

/// The work of the program. Both numbers are at least 1.
struct Options {
    std::uint32_t batch = 1;       ///< images that go through the network together
    std::uint64_t inferences = 1;  ///< images in all; the last batch may have fewer

    bool operator==(const Options&) const = default;
};

}  // namespace systole::schedule
