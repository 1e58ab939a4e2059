#include "hw/math/floats/word_rows.h"

#include <bit>
#include <stdexcept>

#include "hw/math/floats/float_values.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

SYSTOLE_ALWAYS_INLINE bool is_finite(float x) {
    constexpr std::uint32_t exponent = 0x7F800000;
    return (std::bit_cast<std::uint32_t>(x) & exponent) != exponent;
}

/// What a part leaves over: nothing of an infinite or no number.
SYSTOLE_ALWAYS_INLINE float rest_of(float x) {
    const float nearest = rounded_to_bfloat16(x);
    return is_finite(nearest) ? settled(x - nearest) : 0.0F;
}

template <unsigned Part>
SYSTOLE_ALWAYS_INLINE void take(const std::uint32_t* words, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i) {
        auto rest = std::bit_cast<float>(words[i]);
        for (unsigned before = 0; before < Part; ++before) rest = rest_of(rest);
        out[i] = rounded_to_bfloat16(rest);
    }
}

SYSTOLE_TARGET_CLONES void take_part_of(const std::uint32_t* words, std::size_t count, unsigned part,
                                        float* out) {
    switch (part) {
        case 0:
            return take<0>(words, count, out);
        case 1:
            return take<1>(words, count, out);
        case 2:
            return take<2>(words, count, out);
        default:
            break;
    }
}

SYSTOLE_ALWAYS_INLINE std::uint16_t half_of(std::uint32_t word, WordHalf half) {
    constexpr unsigned bits = 16;
    return static_cast<std::uint16_t>(half == WordHalf::Lower ? word : word >> bits);
}

SYSTOLE_TARGET_CLONES void widen_to_floats(const std::uint32_t* words, std::size_t count, WordHalf half,
                                           float* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = float_of_bfloat16(half_of(words[i], half));
}

SYSTOLE_TARGET_CLONES void widen_to_words(const std::uint32_t* words, std::size_t count, WordHalf half,
                                          std::uint32_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = std::bit_cast<std::uint32_t>(float_of_bfloat16(half_of(words[i], half)));
    }
}

SYSTOLE_TARGET_CLONES void narrow_to_half(const std::uint32_t* words, std::size_t count, WordHalf half,
                                          std::uint32_t* out) {
    constexpr std::uint32_t lower = 0x0000FFFF;
    constexpr unsigned bits = 16;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t number = bfloat16_bits(std::bit_cast<float>(words[i]));
        out[i] = half == WordHalf::Lower ? (out[i] & ~lower) | number : (out[i] & lower) | number << bits;
    }
}

}  // namespace

void take_part(const std::uint32_t* words, std::size_t count, unsigned part, float* out) {
    constexpr unsigned parts = 3;
    if (part >= parts) throw std::logic_error("a float32 has three parts");
    take_part_of(words, count, part, out);
}

void widen(const std::uint32_t* words, std::size_t count, WordHalf half, float* out) {
    widen_to_floats(words, count, half, out);
}

void widen(const std::uint32_t* words, std::size_t count, WordHalf half, std::uint32_t* out) {
    widen_to_words(words, count, half, out);
}

void narrow(const std::uint32_t* words, std::size_t count, WordHalf half, std::uint32_t* out) {
    narrow_to_half(words, count, half, out);
}

}  // namespace systole::math
