#pragma once

#include <cstdint>
#include <numeric>

#include "hw/base/arithmetic.h"
#include "hw/base/cycle.h"

namespace systole {

/// An instant between cycles: whole cycles and a fraction counted in parts of a cycle. How many parts
/// a cycle has is the owner's to know; one owner uses one number.
struct ExactTime {
    Cycle whole = 0;
    std::uint64_t parts = 0;

    auto operator<=>(const ExactTime&) const = default;
};

/// An exact bandwidth: `bytes` in every `cycles` cycles. Never a float, which would drift over millions
/// of transfers. Of the instants of its transfers, a cycle has `bytes` parts, and a byte takes `cycles` of
/// them.
struct Rate {
    std::uint64_t bytes = 1;
    std::uint64_t cycles = 1;

    bool operator==(const Rate&) const = default;

    /// The end of a transfer of this many bytes that begins at `begin`. Throws std::overflow_error
    /// where that is no 64-bit cycle.
    constexpr ExactTime after(ExactTime begin, std::uint64_t transfer_bytes) const {
        const Uint128 parts = Uint128{transfer_bytes} * cycles + begin.parts;
        return {to_64_bits(begin.whole + parts / bytes, "a transfer ends later than 64 bits of cycles hold"),
                static_cast<std::uint64_t>(parts % bytes)};
    }
};

/// Bandwidth over clock, in lowest terms.
constexpr Rate make_rate(std::uint64_t bytes_per_second, std::uint64_t clock_hz) {
    const std::uint64_t divisor = std::gcd(bytes_per_second, clock_hz);
    return {.bytes = bytes_per_second / divisor, .cycles = clock_hz / divisor};
}

}  // namespace systole
