// Rows of words as other numbers: hw/math/floats/word_rows.h.
#include "hw/math/floats/word_rows.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "hw/math/floats/float_product.h"
#include "hw/math/floats/float_values.h"

using namespace systole;
using namespace systole::math;

namespace {

std::uint32_t word_of(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

/// Settled numbers of all sizes, zeros, infinite ones and NaN.
std::vector<float> many_numbers(std::size_t count) {
    std::mt19937 random(1);
    std::vector<float> numbers{0.0F,      -0.0F,           std::numeric_limits<float>::infinity(),
                               float_nan, smallest_normal, std::numeric_limits<float>::max()};
    while (numbers.size() < count) {
        numbers.push_back(settled(std::bit_cast<float>(static_cast<std::uint32_t>(random()))));
    }
    return numbers;
}

std::vector<std::uint32_t> words_of(const std::vector<float>& numbers) {
    std::vector<std::uint32_t> words(numbers.size());
    std::ranges::transform(numbers, words.begin(), word_of);
    return words;
}

}  // namespace

TEST_CASE("Parts of words are those into which a product cuts its operands", "[math]") {
    const std::vector<float> numbers = many_numbers(1000);
    const std::vector<std::uint32_t> words = words_of(numbers);
    std::vector<float> expected(3 * numbers.size());
    cut_into_parts({numbers.data(), numbers.size()}, 1, numbers.size(), 3, expected.data());
    std::vector<float> found(numbers.size());
    for (unsigned part = 0; part < 3; ++part) {
        take_part(words.data(), words.size(), part, found.data());
        for (std::size_t i = 0; i < found.size(); ++i) {
            CAPTURE(part, numbers[i]);
            REQUIRE(word_of(found[i]) == word_of(expected[part * numbers.size() + i]));
        }
    }
    CHECK_THROWS(take_part(words.data(), 1, 3, found.data()));
}

TEST_CASE("Halves of words become float32, and float32 halves whose other half stays", "[math]") {
    const std::vector<std::uint32_t> words = words_of(many_numbers(1000));
    std::vector<float> numbers(words.size());
    std::vector<std::uint32_t> wide(words.size());
    for (const WordHalf half : {WordHalf::Lower, WordHalf::Upper}) {
        const unsigned shift = half == WordHalf::Lower ? 0 : 16;
        widen(words.data(), words.size(), half, numbers.data());
        widen(words.data(), words.size(), half, wide.data());
        std::vector<std::uint32_t> narrowed(words.size(), 0xABCD1234);
        narrow(words.data(), words.size(), half, narrowed.data());
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint32_t expected =
                word_of(float_of_bfloat16(static_cast<std::uint16_t>(words[i] >> shift)));
            REQUIRE(word_of(numbers[i]) == expected);
            REQUIRE(wide[i] == expected);
            const std::uint32_t number = bfloat16_bits(std::bit_cast<float>(words[i]));
            REQUIRE((narrowed[i] >> shift & 0xFFFF) == number);
            REQUIRE((narrowed[i] >> (16 - shift) & 0xFFFF) == (half == WordHalf::Lower ? 0xABCDU : 0x1234U));
        }
    }
}
