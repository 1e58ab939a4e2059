#pragma once

#include <cstdint>

namespace systole::machine {

/// An exact bandwidth: `bytes` in every `cycles` cycles, in lowest terms. Never a float, which would
/// drift over millions of transfers.
struct Rate {
    std::uint64_t bytes = 1;
    std::uint64_t cycles = 1;

    bool operator==(const Rate&) const = default;
};

/// Bandwidth over clock.
Rate make_rate(std::uint64_t bytes_per_second, std::uint64_t clock_hz);

}  // namespace systole::machine
