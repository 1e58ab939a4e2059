#include "hw/math/floats/word_operations.h"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/word_operation.h"
#include "hw/math/floats/float_functions.h"
#include "hw/math/floats/float_values.h"
#include "tests/support/floats.h"
#include "tests/support/random_runs.h"

namespace {

using namespace systole;
using namespace systole::math;
using namespace systole::tests;

std::uint32_t applied(WordOperation operation, const std::vector<std::uint32_t>& operands) {
    std::vector<Words> words;
    for (const std::uint32_t& operand : operands) words.push_back({&operand, 1});
    std::uint32_t result = 0;
    apply_operation(operation, words, 77, {.data = &result, .row_elements = 1, .rows = 1, .columns = 1});
    return result;
}

std::uint32_t of_floats(WordOperation operation, const std::vector<float>& operands) {
    std::vector<std::uint32_t> words;
    for (const float operand : operands) words.push_back(bits_of(operand));
    return applied(operation, words);
}

/// A float32 of any size, zero, infinity and NaN among them.
float any_float(std::mt19937& random) {
    constexpr std::array special{0.0F,    -0.0F,    0.5F,           -1.5F,    2.5F,
                                 0x1p31F, -0x1p31F, float_infinity, float_nan};
    const auto bits = static_cast<std::uint32_t>(random());
    if (bits % 5 == 0) return special.at(bits / 5 % special.size());
    if (bits % 5 == 1) return settled(std::bit_cast<float>(bits));
    return std::bit_cast<float>((bits & 0x807FFFFF) | (120 + bits / 1024 % 36) << 23);
}

float floor_by_library(float x) {
    return std::floor(x);
}

TEST_CASE("Operations of floats are those of IEEE 754, settled") {
    std::mt19937 random(8);
    const std::uint32_t runs = random_runs(20000);
    for (std::uint32_t run = 0; run < runs; ++run) {
        const float a = any_float(random);
        const float b = any_float(random);
        INFO(a << " and " << b);
        using enum WordOperation;
        REQUIRE(of_floats(Add, {a, b}) == bits_of(settled(a + b)));
        REQUIRE(of_floats(Subtract, {a, b}) == bits_of(settled(a - b)));
        REQUIRE(of_floats(Multiply, {a, b}) == bits_of(settled(a * b)));
        REQUIRE(of_floats(Divide, {a, b}) == bits_of(settled(a / b)));
        REQUIRE(of_floats(Negate, {a}) == bits_of(settled(-a)));
        REQUIRE(of_floats(Absolute, {a}) == bits_of(settled(std::fabs(a))));
        REQUIRE(of_floats(Floor, {a}) == bits_of(settled(floor_by_library(a))));
        REQUIRE(of_floats(Ceil, {a}) == bits_of(settled(std::ceil(a))));
        REQUIRE(of_floats(RoundToEven, {a}) == bits_of(settled(std::nearbyint(a))));
        REQUIRE(of_floats(RoundToBfloat16, {a}) == bits_of(rounded_to_bfloat16(a)));
        REQUIRE(of_floats(Less, {a, b}) == (a < b ? 1 : 0));
        REQUIRE(of_floats(LessEqual, {a, b}) == (a <= b ? 1 : 0));
        REQUIRE(of_floats(Equal, {a, b}) == (a == b ? 1 : 0));
        REQUIRE(of_floats(Sqrt, {a}) == bits_of(evaluate(Sqrt, a)));
        REQUIRE(of_floats(Remainder, {a, b}) == bits_of(settled(std::fmod(a, b))));
        const float c = any_float(random);
        REQUIRE(of_floats(MultiplyAdd, {a, b, c}) == bits_of(settled(std::fma(a, b, c))));
        if (std::isnan(a) || std::isnan(b)) {
            REQUIRE(of_floats(Maximum, {a, b}) == float_nan_bits);
            REQUIRE(of_floats(Minimum, {a, b}) == float_nan_bits);
        } else if (a != b) {
            REQUIRE(of_floats(Maximum, {a, b}) == bits_of(std::max(a, b)));
            REQUIRE(of_floats(Minimum, {a, b}) == bits_of(std::min(a, b)));
        }
        const auto as_int = static_cast<std::int32_t>(of_floats(FloatToInt, {a}));
        if (std::isnan(a)) {
            REQUIRE(as_int == 0);
        } else if (std::fabs(a) < 0x1p31F) {
            REQUIRE(as_int == static_cast<std::int32_t>(a));
        } else {
            REQUIRE(as_int == (a > 0 ? std::numeric_limits<std::int32_t>::max()
                                     : std::numeric_limits<std::int32_t>::min()));
        }
    }
}

TEST_CASE("Operations of whole numbers wrap around") {
    using enum WordOperation;
    const auto minus = [](std::uint32_t x) { return ~x + 1; };
    CHECK(applied(AddInt, {0xFFFFFFFF, 2}) == 1);
    CHECK(applied(SubtractInt, {1, 2}) == 0xFFFFFFFF);
    CHECK(applied(MultiplyInt, {0x10001, 0x10001}) == 0x20001);
    CHECK(applied(MaximumInt, {minus(1), 1}) == 1);
    CHECK(applied(MinimumInt, {minus(1), 1}) == minus(1));
    CHECK(applied(LessInt, {minus(1), 1}) == 1);
    CHECK(applied(LessUint, {minus(1), 1}) == 0);
    CHECK(applied(EqualInt, {5, 5}) == 1);
    CHECK(applied(EqualInt, {5, 6}) == 0);
    CHECK(applied(And, {0b1100, 0b1010}) == 0b1000);
    CHECK(applied(Or, {0b1100, 0b1010}) == 0b1110);
    CHECK(applied(Xor, {0b1100, 0b1010}) == 0b0110);
    CHECK(applied(ShiftLeft, {1, 31}) == 0x80000000);
    CHECK(applied(ShiftLeft, {1, 32}) == 0);
    CHECK(applied(ShiftRight, {0x80000000, 31}) == 1);
    CHECK(applied(ShiftRight, {0x80000000, 32}) == 0);
    CHECK(applied(ShiftRightArithmetic, {0x80000000, 31}) == 0xFFFFFFFF);
    CHECK(applied(ShiftRightArithmetic, {0x40000000, 99}) == 0);
    CHECK(applied(IntToFloat, {minus(3)}) == bits_of(-3.0F));
    CHECK(applied(IntToFloat, {0x01000001}) == bits_of(0x1p24F));  // half: to even
    CHECK(applied(Select, {2, 10, 20}) == 10);
    CHECK(applied(Select, {0, 10, 20}) == 20);
    CHECK(applied(Constant, {}) == 77);
    // (1 + 2^-12)^2 - 1 is 2^-11 + 2^-24: the product alone would lose its last bit.
    CHECK(of_floats(MultiplyAdd, {1.0F + 0x1p-12F, 1.0F + 0x1p-12F, -1.0F}) == bits_of(0x1p-11F + 0x1p-24F));
}

TEST_CASE("Rows of an operand may all be the same, and elements know their place") {
    const std::vector<std::uint32_t> a{1, 2, 3, 4, 5, 6, 7, 8};  // rows of 2 in places of 4
    const std::vector<std::uint32_t> b{10, 20};
    std::vector<std::uint32_t> out(6, 99);
    const WordsOut to{
        .data = out.data(), .row_elements = 3, .rows = 2, .columns = 2, .first_row = 5, .first_column = 7};
    apply_operation(WordOperation::AddInt, std::array{Words{a.data(), 4}, Words{b.data(), 0}}, 0, to);
    CHECK(out == std::vector<std::uint32_t>{11, 22, 99, 15, 26, 99});
    apply_operation(WordOperation::Row, {}, 0, to);
    CHECK(out == std::vector<std::uint32_t>{5, 5, 99, 6, 6, 99});
    apply_operation(WordOperation::Column, {}, 0, to);
    CHECK(out == std::vector<std::uint32_t>{7, 8, 99, 7, 8, 99});
    CHECK_THROWS_AS(apply_operation(WordOperation::AddInt, std::array{Words{a.data(), 4}}, 0, to),
                    std::logic_error);
}

TEST_CASE("Every operation has a name and is found by it") {
    for (std::size_t i = 0; i < word_operation_count; ++i) {
        const auto operation = static_cast<WordOperation>(i);
        INFO(i);
        CHECK(!traits_of(operation).name.empty());
        CHECK(find_word_operation(traits_of(operation).name) == operation);
        const std::vector<std::uint32_t> operands(traits_of(operation).operands, bits_of(0.25F));
        CHECK_NOTHROW(applied(operation, operands));
    }
    CHECK(find_word_operation("no such operation") == std::nullopt);
}

TEST_CASE("Parts are settled, and added in their order") {
    // 1e8 takes the 1 of the first part with it; a subnormal is a zero of its sign, also one that would make
    // a sum subnormal; infinities have no sum.
    const std::array<std::vector<float>, 3> parts{{{1.0F, -0.0F, 3.0F, float_infinity, 0x1p-126F},
                                                   {1e8F, -0x1p-130F, 0x1p-130F, 1.0F, -0x1p-130F},
                                                   {-1e8F, -0.0F, -1.0F, -float_infinity, -0x1p-126F}}};
    std::vector<std::vector<std::uint32_t>> words;
    std::vector<const std::uint32_t*> given;
    for (const std::vector<float>& part : parts) {
        std::vector<std::uint32_t>& own = words.emplace_back();
        for (const float number : part) own.push_back(bits_of(number));
    }
    for (const auto& own : words) given.push_back(own.data());
    std::vector<std::uint32_t> sums(parts.front().size());
    add_settled(given, sums);
    CHECK(sums == std::vector<std::uint32_t>{bits_of(0.0F), bits_of(-0.0F), bits_of(2.0F), float_nan_bits,
                                             bits_of(0.0F)});
}

}  // namespace
