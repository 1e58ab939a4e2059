#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace systole::frontend {

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

/// A seed of its own for each name.
std::uint64_t seed_for(std::uint64_t seed, std::string_view name);

/// Fills with values that look drawn from between -limit and limit, each as likely.
void fill_random(std::span<float> values, float limit, std::uint64_t seed);

}  // namespace systole::frontend
