#include "compiler/frontend/random_values.h"

namespace systole::frontend {

std::uint64_t seed_for(std::uint64_t seed, std::string_view name) {
    // FNV-1a of the name; the generator itself spreads neighbouring seeds.
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    return SplitMix64(seed ^ SplitMix64(hash).next()).next();
}

void fill_random(std::span<float> values, float limit, std::uint64_t seed) {
    SplitMix64 random(seed);
    constexpr unsigned bits = 23;  // one less than float has: each step but the last is exact
    constexpr auto half = static_cast<float>(1U << (bits - 1));
    for (float& value : values) {
        const auto drawn = static_cast<std::int32_t>(random.next() >> (64U - bits));
        value = (static_cast<float>(drawn) + 0.5F - half) / half * limit;
    }
}

}  // namespace systole::frontend
