#include "hw/math/floats/word_values.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hw/math/floats/float_values.h"

using namespace systole;

namespace {

template <typename Element>
std::vector<std::uint32_t> words_of(std::vector<Element> elements, DataType type) {
    std::vector<std::uint32_t> words(elements.size());
    math::to_words(elements.data(), type, words);
    return words;
}

template <typename Element>
std::vector<Element> elements_of(const std::vector<std::uint32_t>& words, DataType type) {
    std::vector<Element> elements(words.size());
    math::from_words(words, type, elements.data());
    return elements;
}

/// All numbers of 16 bits.
std::vector<std::uint16_t> all_halves() {
    std::vector<std::uint16_t> numbers(0x10000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i);
    return numbers;
}

/// The number that the bits of a float16 stand for, by its definition.
double value_of_float16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1F;
    const int fraction = bits & 0x3FF;
    double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 0x1F) {
        size = fraction == 0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace

TEST_CASE("Narrow integers become words with their sign, and back", "[floats]") {
    CHECK(words_of<std::int8_t>({-128, -1, 0, 127}, DataType::Int8) ==
          std::vector<std::uint32_t>{0xFFFFFF80, 0xFFFFFFFF, 0, 127});
    CHECK(words_of<std::uint8_t>({0, 128, 255}, DataType::Uint8) == std::vector<std::uint32_t>{0, 128, 255});
    CHECK(words_of<std::int16_t>({-32768, 32767}, DataType::Int16) ==
          std::vector<std::uint32_t>{0xFFFF8000, 0x7FFF});
    CHECK(words_of<std::uint16_t>({0x8000, 0xFFFF}, DataType::Uint16) ==
          std::vector<std::uint32_t>{0x8000, 0xFFFF});
    CHECK(words_of<std::uint8_t>({0, 1, 2}, DataType::Bool) == std::vector<std::uint32_t>{0, 1, 1});
    CHECK(elements_of<std::int8_t>({0xFFFFFF80, 0x17F}, DataType::Int8) ==
          std::vector<std::int8_t>{-128, 127});
    CHECK(elements_of<std::uint16_t>({0x12345678}, DataType::Uint16) == std::vector<std::uint16_t>{0x5678});
    CHECK(elements_of<std::uint8_t>({0, 0x100}, DataType::Bool) == std::vector<std::uint8_t>{0, 1});
    for (const DataType type : {DataType::Int32, DataType::Uint32, DataType::Float32}) {
        const std::vector<std::uint32_t> words{0, 0x80000000, 0xFFFFFFFF, 0x3F800000};
        CHECK(words_of(words, type) == words);
        CHECK(elements_of<std::uint32_t>(words, type) == words);
    }
}

TEST_CASE("Every float16 is the word of its number, and comes back", "[floats]") {
    const std::vector<std::uint16_t> all = all_halves();
    const std::vector<std::uint32_t> words = words_of(all, DataType::Float16);
    const std::vector<std::uint16_t> back = elements_of<std::uint16_t>(words, DataType::Float16);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double expected = value_of_float16(all[i]);
        if (expected != expected) {
            if (words[i] != math::float_nan_bits || back[i] != 0x7E00) FAIL("NaN " << all[i]);
            continue;
        }
        const auto number = std::bit_cast<float>(words[i]);
        if (number != expected || std::signbit(number) != std::signbit(expected) || back[i] != all[i])
            FAIL("float16 " << all[i] << " became " << number << " and " << back[i]);
    }
}

TEST_CASE("Every bfloat16 is the upper half of its word, and all but NaN and subnormals come back",
          "[floats]") {
    const std::vector<std::uint16_t> all = all_halves();
    const std::vector<std::uint32_t> words = words_of(all, DataType::Bfloat16);
    const std::vector<std::uint16_t> back = elements_of<std::uint16_t>(words, DataType::Bfloat16);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (words[i] != std::uint32_t{all[i]} << 16) FAIL("bfloat16 " << all[i]);
        const float settled = math::settled(std::bit_cast<float>(words[i]));
        if (back[i] != std::bit_cast<std::uint32_t>(settled) >> 16) FAIL("back from " << all[i]);
    }
}

TEST_CASE("Elements may lie at any address", "[floats]") {
    const std::vector<std::uint32_t> words = {1, 0x3F800000, 0xFFFFFFFF};
    std::vector<std::uint8_t> bytes(1 + 4 * words.size());
    math::from_words(words, DataType::Uint32, bytes.data() + 1);
    CHECK(std::memcmp(bytes.data() + 1, words.data(), 4 * words.size()) == 0);
    std::vector<std::uint32_t> read(words.size());
    math::to_words(bytes.data() + 1, DataType::Uint32, read);
    CHECK(read == words);
}
