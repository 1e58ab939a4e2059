#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace systole {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014): the same
/// numbers from the same seed on every machine.
class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t bits = state_ += 0x9e3779b97f4a7c15U;
        bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
        return bits ^ (bits >> 31U);
    }

private:
    std::uint64_t state_;
};

/// Derives a different seed for each name.
inline std::uint64_t seed_for(std::uint64_t seed, std::string_view name) {
    // FNV-1a of the name; the generator itself separates neighbouring seeds.
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    return SplitMix64(seed ^ SplitMix64(hash).next()).next();
}

/// Fills with pseudorandom values, uniform between -limit and limit.
inline void fill_random(std::span<float> values, float limit, std::uint64_t seed) {
    SplitMix64 random(seed);
    constexpr unsigned bits = 23;  // one less than float's precision: each step but the last is exact
    constexpr auto half = static_cast<float>(1U << (bits - 1));
    for (float& value : values) {
        const auto drawn = static_cast<std::int32_t>(random.next() >> (64U - bits));
        value = (static_cast<float>(drawn) + 0.5F - half) / half * limit;
    }
}

}  // namespace systole
