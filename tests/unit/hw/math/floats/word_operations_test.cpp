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
#include "tests/support/nearest.h"
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
        REQUIRE(of_floats(RoundHalfAway, {a}) == bits_of(settled(std::round(a))));
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
        if (std::isnan(a) || a <= 0.0F) {
            REQUIRE(of_floats(FloatToUint, {a}) == 0);
        } else if (a < 0x1p32F) {
            REQUIRE(of_floats(FloatToUint, {a}) == static_cast<std::uint64_t>(a));
        } else {
            REQUIRE(of_floats(FloatToUint, {a}) == std::numeric_limits<std::uint32_t>::max());
        }
    }
}

/// A float32, seldom of a size at which every power is zero or infinite.
float any_base(std::mt19937& random) {
    constexpr std::array special{0.0F, -0.0F, 1.0F, -1.0F, 2.0F, -3.0F, float_infinity, -float_infinity};
    const auto bits = static_cast<std::uint32_t>(random());
    const auto of_exponent = [bits](std::uint32_t exponent) {
        return std::bit_cast<float>((bits & 0x807FFFFF) | exponent << 23);
    };
    switch (random() % 6) {
        case 0:
            return special.at(bits % special.size());
        case 1:
            return settled(std::bit_cast<float>(bits));
        case 2:
            return 1.0F + static_cast<float>(static_cast<std::int32_t>(bits) >> 25) * 0x1p-23F;
        case 3:
            return static_cast<float>(static_cast<std::int32_t>(bits) >> 26);  // whole, odd and even
        default:
            return of_exponent(119 + random() % 16);
    }
}

/// NaN, or next to the value of the system's library.
bool is_value(float y, long double value) {
    return std::isnan(value) ? bits_of(y) == float_nan_bits : is_nearest(y, value);
}

TEST_CASE("Powers and angles are the nearest float32 to their values") {
    using enum WordOperation;
    std::mt19937 random(9);
    const std::uint32_t runs = random_runs(40000);
    for (std::uint32_t run = 0; run < runs; ++run) {
        const float a = any_base(random);
        const float b = any_base(random);
        const float power = std::bit_cast<float>(of_floats(Power, {a, b}));
        const float angle = std::bit_cast<float>(of_floats(ArcTangent, {a, b}));
        INFO(a << " and " << b << ": " << power << ", " << angle);
        REQUIRE(is_value(power, std::pow(static_cast<long double>(a), static_cast<long double>(b))));
        REQUIRE(is_value(angle, std::atan2(static_cast<long double>(a), static_cast<long double>(b))));
        // Of an exponent for which the power is any number of float32.
        const float base = std::abs(a);
        if (base > 0.0F && base != 1.0F && std::isfinite(base)) {
            const float within = settled((static_cast<float>(random() % 256) - 127.5F) / std::log2(base));
            const float any = std::bit_cast<float>(of_floats(Power, {base, within}));
            INFO(base << " to the power of " << within << " is " << any);
            REQUIRE(
                is_value(any, std::pow(static_cast<long double>(base), static_cast<long double>(within))));
        }
    }
}

TEST_CASE("Powers and angles of zeros, ones and infinities are those of IEEE 754") {
    using enum WordOperation;
    constexpr float largest = std::numeric_limits<float>::max();
    constexpr std::array numbers{0.0F,  1.0F,    2.0F,    3.0F,           0.5F,      1.5F,
                                 1e-5F, 0x1p24F, largest, float_infinity, float_nan, 0x1.fffffep23F};
    for (const float first : numbers) {
        for (const float second : numbers) {
            for (const float a : {first, -first}) {
                for (const float b : {second, -second}) {
                    INFO(a << " and " << b);
                    const float x = settled(a);
                    const float y = settled(b);
                    CHECK(is_value(std::bit_cast<float>(of_floats(Power, {x, y})),
                                   std::pow(static_cast<long double>(x), static_cast<long double>(y))));
                    CHECK(is_value(std::bit_cast<float>(of_floats(ArcTangent, {x, y})),
                                   std::atan2(static_cast<long double>(x), static_cast<long double>(y))));
                }
            }
        }
    }
    CHECK(of_floats(Power, {float_nan, -0.0F}) == bits_of(1.0F));
    CHECK(of_floats(Power, {1.0F, float_nan}) == bits_of(1.0F));
    CHECK(of_floats(Power, {-1.0F, -float_infinity}) == bits_of(1.0F));
    CHECK(of_floats(Power, {-0.0F, -3.0F}) == bits_of(-float_infinity));
    CHECK(of_floats(Power, {-float_infinity, -3.0F}) == bits_of(-0.0F));
    CHECK(of_floats(Power, {-8.0F, 0x1p-1F}) == float_nan_bits);
    CHECK(of_floats(Power, {-2.0F, 127.0F}) == bits_of(-0x1p127F));
    CHECK(of_floats(Power, {2.0F, -126.0F}) == bits_of(0x1p-126F));
    CHECK(of_floats(Power, {-2.0F, -127.0F}) == bits_of(-0.0F));  // subnormal
    CHECK(of_floats(ArcTangent, {-0.0F, 0.0F}) == bits_of(-0.0F));
    CHECK(of_floats(ArcTangent, {-0.0F, -0.0F}) == bits_of(-3.14159265F));
    CHECK(of_floats(ArcTangent, {float_infinity, -float_infinity}) == bits_of(2.35619449F));
    CHECK(of_floats(ArcTangent, {1.0F, float_nan}) == float_nan_bits);
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
    CHECK(applied(MaximumUint, {minus(1), 1}) == minus(1));
    CHECK(applied(MinimumUint, {minus(1), 1}) == 1);
    CHECK(applied(MultiplyHighUint, {0xFFFFFFFF, 0xFFFFFFFF}) == 0xFFFFFFFE);
    CHECK(applied(MultiplyHighUint, {0xFFFF, 0x10001}) == 0);
    CHECK(applied(LeadingZeros, {0}) == 32);
    CHECK(applied(LeadingZeros, {1}) == 31);
    CHECK(applied(LeadingZeros, {0x80000000}) == 0);
    CHECK(applied(CountOnes, {0}) == 0);
    CHECK(applied(CountOnes, {0xFFFFFFFF}) == 32);
    CHECK(applied(CountOnes, {0x80000101}) == 3);
    CHECK(applied(UintToFloat, {0xFFFFFFFF}) == bits_of(0x1p32F));
    CHECK(applied(UintToFloat, {0x80000080}) == bits_of(0x1p31F));  // half: to even
    CHECK(applied(UintToFloat, {0x80000081}) == bits_of(0x1.000002p31F));
    CHECK(applied(IntToFloat, {minus(3)}) == bits_of(-3.0F));
    CHECK(applied(IntToFloat, {0x01000001}) == bits_of(0x1p24F));  // half: to even
    CHECK(applied(Select, {2, 10, 20}) == 10);
    CHECK(applied(Select, {0, 10, 20}) == 20);
    CHECK(applied(Constant, {}) == 77);
    // (1 + 2^-12)^2 - 1 is 2^-11 + 2^-24: the product alone would lose its last bit.
    CHECK(of_floats(MultiplyAdd, {1.0F + 0x1p-12F, 1.0F + 0x1p-12F, -1.0F}) == bits_of(0x1p-11F + 0x1p-24F));
}

TEST_CASE("Whole numbers are divided towards zero, and by zero too") {
    using enum WordOperation;
    constexpr std::uint32_t least = 0x80000000;
    constexpr std::uint32_t minus_one = 0xFFFFFFFF;
    const auto minus = [](std::uint32_t x) { return ~x + 1; };
    CHECK(applied(DivideInt, {minus(7), 2}) == minus(3));
    CHECK(applied(RemainderInt, {minus(7), 2}) == minus(1));
    CHECK(applied(DivideInt, {7, minus(2)}) == minus(3));
    CHECK(applied(RemainderInt, {7, minus(2)}) == 1);
    CHECK(applied(DivideInt, {least, minus_one}) == least);
    CHECK(applied(RemainderInt, {least, minus_one}) == 0);
    CHECK(applied(DivideInt, {5, minus_one}) == minus(5));
    CHECK(applied(RemainderInt, {5, minus_one}) == 0);
    CHECK(applied(DivideUint, {minus(7), 2}) == 0x7FFFFFFC);
    CHECK(applied(RemainderUint, {minus(7), 2}) == 1);
    for (const std::uint32_t dividend : {0U, 7U, minus(7), least, minus_one}) {
        INFO(dividend);
        CHECK(applied(DivideInt, {dividend, 0}) == minus_one);
        CHECK(applied(RemainderInt, {dividend, 0}) == dividend);
        CHECK(applied(DivideUint, {dividend, 0}) == minus_one);
        CHECK(applied(RemainderUint, {dividend, 0}) == dividend);
    }
    std::mt19937 random(10);
    for (std::uint32_t run = random_runs(20000); run > 0; --run) {
        const auto a = static_cast<std::uint32_t>(random());
        const auto b = static_cast<std::uint32_t>(random()) >> random() % 32;
        if (b == 0) continue;
        INFO(a << " by " << b);
        const auto wide = [](std::uint32_t x) { return std::int64_t{static_cast<std::int32_t>(x)}; };
        REQUIRE(applied(DivideInt, {a, b}) == static_cast<std::uint32_t>(wide(a) / wide(b)));
        REQUIRE(applied(RemainderInt, {a, b}) == static_cast<std::uint32_t>(wide(a) % wide(b)));
        REQUIRE(applied(DivideUint, {a, b}) == a / b);
        REQUIRE(applied(RemainderUint, {a, b}) == a % b);
        REQUIRE(applied(MultiplyHighUint, {a, b}) == std::uint64_t{a} * b / 0x100000000);
        REQUIRE(applied(UintToFloat, {a}) == bits_of(static_cast<float>(static_cast<long double>(a))));
    }
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
