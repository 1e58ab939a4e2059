#pragma once

#include <cstdint>
#include <numeric>

#include "base/arithmetic.h"

namespace systole {

/// A cycle of a core's clock, counted from 0, or a number of cycles.
using Cycle = std::uint64_t;

/// An exact instant: whole cycles and a fraction of a cycle, counted in parts. The number of parts in a cycle
/// is fixed by the Rate that computes the instant.
struct ExactTime {
    Cycle whole = 0;
    std::uint64_t parts = 0;

    auto operator<=>(const ExactTime&) const = default;
};

/// An exact bandwidth: `bytes` bytes in every `cycles` cycles. A float would drift over millions of
/// transfers. In its instants a cycle has `bytes` parts, and a byte takes `cycles` parts.
struct Rate {
    std::uint64_t bytes = 1;
    std::uint64_t cycles = 1;

    bool operator==(const Rate&) const = default;

    /// The end of a transfer of this many bytes that begins at `begin`. Throws std::overflow_error if its
    /// cycle exceeds 64 bits.
    constexpr ExactTime after(ExactTime begin, std::uint64_t transfer_bytes) const {
        const Uint128 parts = Uint128{transfer_bytes} * cycles + begin.parts;
        return {to_64_bits(begin.whole + parts / bytes, "a transfer ends later than 64 bits of cycles hold"),
                static_cast<std::uint64_t>(parts % bytes)};
    }
};

/// Bytes per cycle of a clock, in lowest terms.
constexpr Rate make_rate(std::uint64_t bytes_per_second, std::uint64_t clock_hz) {
    const std::uint64_t divisor = std::gcd(bytes_per_second, clock_hz);
    return {.bytes = bytes_per_second / divisor, .cycles = clock_hz / divisor};
}

}  // namespace systole
