#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace systole::tests {

/// The decisions for a random program: from a seed, or from the bytes of a fuzzer, which can then see the
/// effect of each byte. After the last byte, a generator with a fixed seed decides.
class Choices {
public:
    explicit Choices(std::uint64_t seed) : random_(seed) {}
    explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    /// A number from lowest to highest, uniformly distributed.
    std::uint64_t from(std::uint64_t lowest, std::uint64_t highest) {
        const std::uint64_t range = highest - lowest;
        if (bytes_.empty()) return std::uniform_int_distribution<std::uint64_t>(lowest, highest)(random_);
        std::uint64_t value = 0;
        for (std::uint64_t left = range; left > 0 && !bytes_.empty(); left >>= 8U) {
            value = value << 8U | bytes_.front();
            bytes_ = bytes_.subspan(1);
        }
        return lowest + (range == UINT64_MAX ? value : value % (range + 1));
    }
    /// The same in the type of a field.
    template <class Number>
    Number number(std::uint64_t lowest, std::uint64_t highest) {
        return static_cast<Number>(from(lowest, highest));
    }
    bool chance(unsigned percent) { return from(0, 99) < percent; }
    template <class Container>
    const auto& one_of(const Container& choices) {
        return choices[from(0, choices.size() - 1)];
    }

private:
    std::span<const std::uint8_t> bytes_;
    std::mt19937_64 random_;
};

}  // namespace systole::tests
