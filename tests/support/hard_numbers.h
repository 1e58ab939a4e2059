#pragma once

#include <bit>
#include <cstdint>
#include <random>

#include "hw/math/floats/float_values.h"
#include "tests/support/floats.h"

namespace systole::tests {

/// Settled bfloat16, of one kind for each seed: what goes wrong first, numbers whose products and sums are
/// subnormal, infinite or no number.
class HardNumbers {
public:
    explicit HardNumbers(std::uint32_t seed) : random_(seed), kind_(random_() % 4) {}

    float operator()() {
        const auto bits = static_cast<std::uint32_t>(random_());
        if (kind_ == 0) return math::rounded_to_bfloat16(std::bit_cast<float>(bits));  // all there are
        if (bits % 23 == 0) return 0.0F;
        if (kind_ == 1 && bits % 97 == 0) return float_infinity;
        // Exponents whose products lie about the smallest normal number, or about 1.
        const std::uint32_t exponent = (kind_ == 2 ? 60 : 120) + bits % 8;
        return math::rounded_to_bfloat16(
            std::bit_cast<float>((bits & 0x80000000) | (exponent << 23) | (bits >> 9 & 0x7FFFFF)));
    }

private:
    std::mt19937 random_;
    std::uint32_t kind_;
};

}  // namespace systole::tests
