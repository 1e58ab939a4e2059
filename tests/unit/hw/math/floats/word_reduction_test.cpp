#include "hw/math/floats/word_reduction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "tests/support/floats.h"
#include "tests/support/random_runs.h"

namespace {

using namespace systole;
using namespace systole::math;
using namespace systole::tests;

using WordList = std::vector<std::uint32_t>;

constexpr std::uint32_t low_word(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

/// The words of a NaN with a message, of a signalling one, of subnormal numbers, and of the ends of integers.
constexpr std::array odd_words{0x7FC00001U, 0xFFC12345U, 0x7F800001U, 0xFFA00000U, 0x00000001U,
                               0x807FFFFFU, 0x00000000U, 0x80000000U, 0x7FFFFFFFU, 0xFFFFFFFFU};

/// Any word for integers, and settled floats of a middling size else.
std::uint32_t reducible_word(Reduction reduction, std::mt19937& random) {
    const auto bits = static_cast<std::uint32_t>(random());
    if (!traits_of(reduction).is_of_integers) return (bits & 0x807FFFFF) | (120 + bits / 1024 % 10) << 23;
    return random() % 4 == 0 ? odd_words.at(random() % odd_words.size()) : bits;
}

/// The definition of what two words become, in numbers that are wide enough.
std::uint32_t plain_result(std::string_view reduction, std::uint32_t a, std::uint32_t b) {
    const auto x = std::bit_cast<float>(a);
    const auto y = std::bit_cast<float>(b);
    if (reduction == "sum") return bits_of(settled(x + y));
    if (reduction == "product") return bits_of(settled(x * y));
    if (reduction == "maximum") return std::isnan(x) || std::isnan(y) ? float_nan_bits : x > y ? a : b;
    if (reduction == "minimum") return std::isnan(x) || std::isnan(y) ? float_nan_bits : x < y ? a : b;
    const std::int64_t i = static_cast<std::int32_t>(a);
    const std::int64_t j = static_cast<std::int32_t>(b);
    if (reduction == "sum_int") return low_word(i + j);
    if (reduction == "product_int") return low_word(i * j);
    if (reduction == "maximum_int") return low_word(i > j ? i : j);
    if (reduction == "minimum_int") return low_word(i < j ? i : j);
    if (reduction == "maximum_uint") return a > b ? a : b;
    if (reduction == "minimum_uint") return a < b ? a : b;
    std::uint32_t word = 0;
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
        const int ones = ((a & bit) != 0 ? 1 : 0) + ((b & bit) != 0 ? 1 : 0);
        if (reduction == "and" ? ones == 2 : reduction == "or" ? ones > 0 : ones == 1) word |= bit;
    }
    return word;
}

/// The definition, by recursion: the upper half is taken into the lower one.
std::uint32_t reduced_by_halves(std::string_view reduction, WordList numbers) {
    if (numbers.size() == 1) return numbers[0];
    std::size_t half = 1;
    while (half * 2 < numbers.size()) half *= 2;
    for (std::size_t i = half; i < numbers.size(); ++i) {
        numbers[i - half] = plain_result(reduction, numbers[i - half], numbers[i]);
    }
    numbers.resize(half);
    return reduced_by_halves(reduction, std::move(numbers));
}

std::uint32_t reduced_in_blocks(std::string_view reduction, const WordList& numbers, std::size_t block,
                                const std::uint32_t* before) {
    bool has_some = before != nullptr;
    std::uint32_t combined = has_some ? *before : 0;
    for (std::size_t first = 0; first < numbers.size(); first += block) {
        const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            numbers.begin() + static_cast<std::ptrdiff_t>(std::min(numbers.size(), first + block));
        const std::uint32_t one = reduced_by_halves(reduction, WordList(begin, end));
        combined = has_some ? plain_result(reduction, combined, one) : one;
        has_some = true;
    }
    return combined;
}

Reduction reduction_of(std::size_t number) {
    return static_cast<Reduction>(number);
}

}  // namespace

TEST_CASE("Two floats become one", "[math]") {
    using enum Reduction;
    const auto of = [](Reduction reduction, float a, float b) {
        return combine(reduction, bits_of(a), bits_of(b));
    };
    CHECK(of(Sum, 1.0F, 2.0F) == bits_of(3.0F));
    CHECK(of(Sum, 0x1.8p-126F, -0x1p-126F) == 0);  // 2^-127 settles
    CHECK(of(Product, 3.0F, -2.0F) == bits_of(-6.0F));
    CHECK(of(Product, 0x1p-100F, -0x1p-100F) == 0x80000000);
    CHECK(of(Maximum, 1.0F, 2.0F) == bits_of(2.0F));
    CHECK(of(Minimum, 1.0F, 2.0F) == bits_of(1.0F));
    CHECK(of(Maximum, -0.0F, 0.0F) == 0);
    CHECK(of(Maximum, 0.0F, -0.0F) == 0);
    CHECK(of(Minimum, -0.0F, 0.0F) == 0x80000000);
    CHECK(of(Minimum, 0.0F, -0.0F) == 0x80000000);
    for (const Reduction reduction : {Sum, Product, Maximum, Minimum}) {
        CHECK(of(reduction, float_nan, 1.0F) == float_nan_bits);
        CHECK(of(reduction, 1.0F, float_nan) == float_nan_bits);
    }
}

TEST_CASE("Two whole numbers become one, whatever floats they would be", "[math]") {
    using enum Reduction;
    constexpr std::uint32_t least = 0x80000000;
    constexpr std::uint32_t minus_one = 0xFFFFFFFF;
    CHECK(combine(SumInt, 0x7FFFFFFF, 1) == least);  // wraps around
    CHECK(combine(SumInt, 0x7FC00001, 0x00000001) == 0x7FC00002);
    CHECK(combine(ProductInt, 0x10001, 0x10001) == 0x20001);
    CHECK(combine(ProductInt, minus_one, 3) == low_word(-3));
    CHECK(combine(MaximumInt, minus_one, 1) == 1);
    CHECK(combine(MinimumInt, minus_one, 1) == minus_one);
    CHECK(combine(MaximumInt, least, 0) == 0);
    CHECK(combine(MaximumUint, minus_one, 1) == minus_one);
    CHECK(combine(MinimumUint, minus_one, 1) == 1);
    CHECK(combine(MaximumUint, least, 0) == least);
    CHECK(combine(And, 0xFF00FF00, 0x7F800001) == 0x7F000000);
    CHECK(combine(Or, 0x00000001, 0x7F800000) == 0x7F800001);
    CHECK(combine(Xor, minus_one, 0x00400000) == 0xFFBFFFFF);
    for (std::size_t number = 4; number < reduction_count; ++number) {
        for (const std::uint32_t a : odd_words) {
            for (const std::uint32_t b : odd_words) {
                CAPTURE(reduction_names.at(number), a, b);
                CHECK(combine(reduction_of(number), a, b) == plain_result(reduction_names.at(number), a, b));
            }
        }
    }
}

TEST_CASE("A neutral word leaves any other one as it is", "[math]") {
    std::mt19937 random(3);
    for (std::size_t number = 0; number < reduction_count; ++number) {
        const Reduction reduction = reduction_of(number);
        WordList words;
        while (words.size() < 100) words.push_back(reducible_word(reduction, random));
        if (traits_of(reduction).is_of_integers) {
            words.insert(words.end(), odd_words.begin(), odd_words.end());
        } else {
            for (const float x : {0.0F, -0.0F, float_infinity, -float_infinity, float_nan, smallest_normal}) {
                words.push_back(bits_of(x));
            }
        }
        for (const std::uint32_t word : words) {
            CAPTURE(reduction_names.at(number), word);
            CHECK(combine(reduction, neutral_word(reduction), word) == word);
            CHECK(combine(reduction, word, neutral_word(reduction)) == word);
        }
    }
}

TEST_CASE("Words are reduced in blocks of any size by halves, and blocks in order", "[math]") {
    std::mt19937 random(6);
    constexpr std::array<std::size_t, 6> blocks{1, 4, 5, 128, 200, 512};
    const std::uint32_t runs = random_runs(600);
    std::vector<std::uint32_t> met(reduction_count);
    std::uint32_t differ = 0;
    std::uint32_t many_columns = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const std::size_t number = random() % reduction_count;
        const Reduction reduction = reduction_of(number);
        const std::string_view name = reduction_names.at(number);
        const std::size_t count = random() % 400 + 1;
        const std::size_t columns = random() % 8 == 0 ? random() % 300 + 1 : random() % 40 + 1;
        const bool by_column = random() % 2 == 0;
        const bool accumulate = random() % 2 == 0;
        WordReduction input{
            .numbers = count, .columns = columns, .block = blocks.at(random() % blocks.size())};
        input.stride = by_column ? 1 : columns + 2;
        input.column_stride = by_column ? count + 1 : 1;
        WordList data(count * input.stride + columns * input.column_stride);
        for (std::uint32_t& word : data) word = reducible_word(reduction, random);
        input.data = data.data();
        WordList before(columns);
        for (std::uint32_t& word : before) word = reducible_word(reduction, random);
        WordList out = before;
        reduce_words(reduction, input, accumulate, out.data());
        ++met[number];
        many_columns += columns > 100 ? 1 : 0;
        for (std::size_t column = 0; column < columns; ++column) {
            WordList numbers;
            for (std::size_t i = 0; i < count; ++i) {
                numbers.push_back(data[i * input.stride + column * input.column_stride]);
            }
            const std::uint32_t* const from = accumulate ? &before[column] : nullptr;
            CAPTURE(run, name, count, columns, input.block, accumulate, column);
            REQUIRE(out[column] == reduced_in_blocks(name, numbers, input.block, from));
            if (reduction == Reduction::Sum)
                differ += out[column] != reduced_in_blocks(name, numbers, 1, from);
        }
    }
    CHECK(differ >= random_share(100));  // the order shows
    CHECK(many_columns >= random_share(20));
    for (const std::uint32_t each : met) CHECK(each >= random_share(20));
}

TEST_CASE("A word alone stays as it is, whatever the reduction", "[math]") {
    for (std::size_t number = 0; number < reduction_count; ++number) {
        WordList out(odd_words.size());
        reduce_words(reduction_of(number),
                     {.data = odd_words.data(),
                      .numbers = 1,
                      .stride = odd_words.size(),
                      .columns = odd_words.size(),
                      .column_stride = 1,
                      .block = 128},
                     false, out.data());
        CHECK(std::ranges::equal(out, odd_words));
    }
}

TEST_CASE("There is no reduction of no numbers", "[math]") {
    WordList data(4);
    std::uint32_t out = 0;
    CHECK_THROWS_AS(reduce_words(Reduction::Sum, {data.data(), 0, 1, 1, 1, 128}, false, &out),
                    std::logic_error);
    CHECK_THROWS_AS(reduce_words(Reduction::Sum, {data.data(), 4, 1, 1, 1, 0}, false, &out),
                    std::logic_error);
}
