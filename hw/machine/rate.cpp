#include "hw/machine/rate.h"

#include <numeric>

namespace systole::machine {

Rate make_rate(std::uint64_t bytes_per_second, std::uint64_t clock_hz) {
    const std::uint64_t divisor = std::gcd(bytes_per_second, clock_hz);
    return {.bytes = bytes_per_second / divisor, .cycles = clock_hz / divisor};
}

}  // namespace systole::machine
