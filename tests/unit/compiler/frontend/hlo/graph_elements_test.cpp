// Element-wise instructions of HLO as graphs of words, against C++'s own arithmetic.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "tests/unit/compiler/frontend/hlo/hlo_runs.h"

namespace systole::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

/// Pairs of numbers of a type, with its ends and with small ones.
template <typename Number>
struct Pairs {
    std::vector<Number> a;
    std::vector<Number> b;

    Pairs() {
        constexpr auto least = std::numeric_limits<Number>::min();
        constexpr auto most = std::numeric_limits<Number>::max();
        const std::vector<Number> numbers{least,
                                          static_cast<Number>(least + 1),
                                          static_cast<Number>(-2),
                                          static_cast<Number>(-1),
                                          0,
                                          1,
                                          2,
                                          7,
                                          8,
                                          31,
                                          32,
                                          100,
                                          static_cast<Number>(most / 2 + 1),
                                          most};
        for (const Number left : numbers) {
            for (const Number right : numbers) {
                a.push_back(left);
                b.push_back(right);
            }
        }
    }
};

template <typename Number>
Words as_words(const std::vector<Number>& numbers) {
    Words words;
    for (const Number number : numbers) {
        if constexpr (std::is_signed_v<Number>) {
            words.push_back(static_cast<std::uint32_t>(std::int32_t{number}));
        } else {
            words.push_back(std::uint32_t{number});
        }
    }
    return words;
}

/// What an opcode makes of two numbers, by the language's arithmetic in 64 bits.
template <typename Number>
Number defined(const std::string& opcode, Number left, Number right) {
    using Unsigned = std::make_unsigned_t<Number>;
    constexpr std::int64_t bits = std::numeric_limits<Unsigned>::digits;
    constexpr bool has_sign = std::is_signed_v<Number>;
    const std::int64_t a = left;
    const std::int64_t b = right;
    const auto ua = static_cast<Unsigned>(left);
    const auto ub = static_cast<Unsigned>(right);
    const auto made = [](auto number) { return static_cast<Number>(static_cast<std::uint64_t>(number)); };
    if (opcode == "add") return made(a + b);
    if (opcode == "subtract") return made(a - b);
    if (opcode == "multiply") return made(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    if (opcode == "divide") return b == 0 ? made(-1) : made(a / b);
    if (opcode == "remainder") return b == 0 ? left : made(a % b);
    if (opcode == "maximum") return std::max(left, right);
    if (opcode == "minimum") return std::min(left, right);
    if (opcode == "and") return made(a & b);
    if (opcode == "or") return made(a | b);
    if (opcode == "xor") return made(a ^ b);
    if (opcode == "shift-left") return ub >= bits ? made(0) : made(std::uint64_t{ua} << ub);
    if (opcode == "shift-right-logical") return ub >= bits ? made(0) : made(std::uint64_t{ua} >> ub);
    if (opcode == "shift-right-arithmetic") {
        const std::int64_t sign_extended = static_cast<std::make_signed_t<Number>>(left);
        return made(sign_extended >> std::min<std::int64_t>(ub, 63));
    }
    if (opcode == "negate") return made(-a);
    if (opcode == "not") return made(~a);
    if (opcode == "abs") return made(a < 0 ? -a : a);
    if (opcode == "sign") return made((a > 0 ? 1 : 0) - (has_sign && a < 0 ? 1 : 0));
    if (opcode == "popcnt") return made(std::popcount(ua));
    if (opcode == "count-leading-zeros") return made(std::countl_zero(ua));
    throw std::logic_error("no definition of " + opcode);
}

template <typename Number>
void check_type(const std::string& type) {
    const Pairs<Number> pairs;
    const std::string shape = shape_text(type, {static_cast<std::int64_t>(pairs.a.size())});
    std::vector<std::string> opcodes{"add",
                                     "subtract",
                                     "multiply",
                                     "divide",
                                     "remainder",
                                     "maximum",
                                     "minimum",
                                     "and",
                                     "or",
                                     "xor",
                                     "shift-left",
                                     "shift-right-logical",
                                     "shift-right-arithmetic",
                                     "negate",
                                     "not",
                                     "popcnt",
                                     "count-leading-zeros"};
    if constexpr (std::is_signed_v<Number>) {
        opcodes.insert(opcodes.end(), {"abs", "sign"});
    }
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t a = entry.parameter(shape);
    const std::int64_t b = entry.parameter(shape);
    Ids results;
    std::string shapes;
    for (const std::string& opcode : opcodes) {
        const bool takes_one = opcode == "negate" || opcode == "not" || opcode == "abs" || opcode == "sign" ||
                               opcode == "popcnt" || opcode == "count-leading-zeros";
        results.push_back(entry.add(opcode, shape, takes_one ? Ids{a} : Ids{a, b}));
        shapes += (shapes.empty() ? "" : ", ") + shape;
    }
    entry.add("tuple", "(" + shapes + ")", results);
    const std::vector<Words> outputs = run(module, {as_words(pairs.a), as_words(pairs.b)});
    REQUIRE(outputs.size() == opcodes.size());
    for (std::size_t i = 0; i < opcodes.size(); ++i) {
        INFO(opcodes[i] << " of " << type);
        std::vector<Number> expected;
        for (std::size_t k = 0; k < pairs.a.size(); ++k)
            expected.push_back(defined<Number>(opcodes[i], pairs.a[k], pairs.b[k]));
        CHECK(outputs[i] == as_words(expected));
    }
}

TEST_CASE("Integers of each type wrap around, shift and divide as C++'s do", "[hlo][graph]") {
    check_type<std::int8_t>("s8");
    check_type<std::int16_t>("s16");
    check_type<std::int32_t>("s32");
    check_type<std::uint8_t>("u8");
    check_type<std::uint16_t>("u16");
    check_type<std::uint32_t>("u32");
}

template <typename From, typename To>
void check_conversion(const std::string& from, const std::string& to) {
    INFO(from << " to " << to);
    const std::vector<From> numbers = Pairs<From>().b;
    const auto count = static_cast<std::int64_t>(numbers.size());
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter(shape_text(from, {count}));
    entry.add("convert", shape_text(to, {count}), {x});
    std::vector<To> expected;
    for (const From number : numbers) expected.push_back(static_cast<To>(number));
    CHECK(run(module, {as_words(numbers)}) == std::vector<Words>{as_words(expected)});
}

template <typename From>
void check_conversions(const std::string& from) {
    check_conversion<From, std::int8_t>(from, "s8");
    check_conversion<From, std::int16_t>(from, "s16");
    check_conversion<From, std::int32_t>(from, "s32");
    check_conversion<From, std::uint8_t>(from, "u8");
    check_conversion<From, std::uint16_t>(from, "u16");
    check_conversion<From, std::uint32_t>(from, "u32");
}

TEST_CASE("Integers become those of other types as in C++", "[hlo][graph]") {
    check_conversions<std::int8_t>("s8");
    check_conversions<std::int16_t>("s16");
    check_conversions<std::int32_t>("s32");
    check_conversions<std::uint8_t>("u8");
    check_conversions<std::uint16_t>("u16");
    check_conversions<std::uint32_t>("u32");
}

TEST_CASE("Powers of integers have a constant exponent that is not below 0", "[hlo][graph]") {
    const auto module = [](std::int64_t exponent, bool is_constant = true) {
        HloModule made;
        HloComputation entry = made.computation("main");
        const std::int64_t x = entry.parameter("s32[4]");
        const std::int64_t number = add_constant(entry, "s32[]", {exponent});
        std::int64_t wide = entry.add("broadcast", "s32[4]", {number});
        if (!is_constant) wide = x;
        entry.add("power", "s32[4]", {x, wide});
        return made;
    };
    const Words numbers{3, 0, 0xFFFFFFFE, 70000};
    for (const std::int64_t exponent : {0, 1, 2, 3, 11}) {
        Words expected;
        for (const std::uint32_t number : numbers) {
            std::uint32_t product = 1;
            for (std::int64_t i = 0; i < exponent; ++i) product *= number;
            expected.push_back(product);
        }
        CHECK(run(module(exponent), {numbers}) == std::vector<Words>{expected});
    }
    CHECK_THAT(refusal(module(-1)),
               EndsWith("its exponent is computed or below 0; powers of integers have a constant one"));
    CHECK_THAT(refusal(module(1, false)),
               EndsWith("its exponent is computed or below 0; powers of integers have a constant one"));
}

/// A program that converts numbers to a 64-bit type, works on them, and converts or compares the results.
template <typename Work>
HloModule of_wide_numbers(const std::string& from, const std::string& wide, const std::string& to,
                          std::int64_t count, const Work& work) {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter(shape_text(from, {count}));
    const std::string shape = shape_text(wide, {count});
    const std::int64_t number = entry.add("convert", shape, {x});
    const auto constant = [&](std::int64_t value) {
        const std::int64_t scalar = add_constant(entry, wide + "[]", {value});
        return entry.add("broadcast", shape, {scalar});
    };
    const std::int64_t result = work(entry, number, shape, constant);
    if (to == "pred") {
        entry.last().set_comparison_direction("LT");
    } else {
        entry.add("convert", shape_text(to, {count}), {result});
    }
    return module;
}

TEST_CASE("64-bit integers are computed where 32 bits are known to be enough", "[hlo][graph]") {
    // Threefry's counters: iota x constant + iota, of which both halves are taken.
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t key = entry.parameter("u32[5]");
    const std::int64_t counter = entry.add("iota", "u64[5]");
    entry.last().add_dimensions(0);
    const std::int64_t seven = add_constant(entry, "u64[]", {7});
    const std::int64_t sevens = entry.add("broadcast", "u64[5]", {seven});
    const std::int64_t shift = add_constant(entry, "u64[]", {32});
    const std::int64_t shifts = entry.add("broadcast", "u64[5]", {shift});
    const std::int64_t product = entry.add("multiply", "u64[5]", {counter, sevens});
    const std::int64_t sum = entry.add("add", "u64[5]", {product, counter});
    const std::int64_t high = entry.add("shift-right-logical", "u64[5]", {sum, shifts});
    const std::int64_t high_half = entry.add("convert", "u32[5]", {high});
    const std::int64_t low_half = entry.add("convert", "u32[5]", {sum});
    const std::int64_t both = entry.add("add", "u32[5]", {high_half, low_half});
    entry.add("xor", "u32[5]", {both, key});
    const Words keys{0, 1, 0xFFFFFFFF, 5, 6};
    Words expected;
    for (std::uint32_t i = 0; i < 5; ++i) expected.push_back((i * 8) ^ keys[i]);
    CHECK(run(module, {keys}) == std::vector<Words>{expected});

    // Lower halves of sums and products need no proof.
    const HloModule lower = of_wide_numbers(
        "u32", "u64", "u32", 3,
        [](HloComputation& at, std::int64_t x, const std::string& shape, const auto& constant) {
            const std::int64_t scaled = at.add("multiply", shape, {x, constant(5'000'000'007)});
            return at.add("subtract", shape, {scaled, constant(9)});
        });
    const Words numbers{0, 3'000'000'000, 0xFFFFFFFF};
    expected.clear();
    for (const std::uint32_t number : numbers) {
        const std::uint64_t wide = std::uint64_t{number} * 5'000'000'007 - 9;
        expected.push_back(static_cast<std::uint32_t>(wide));
    }
    CHECK(run(lower, {numbers}) == std::vector<Words>{expected});
}

TEST_CASE("Shifts of 64-bit integers move the bits of 64-bit integers", "[hlo][graph]") {
    const auto shifted = [](const std::string& from, const std::string& wide, const std::string& opcode,
                            std::int64_t amount) {
        return of_wide_numbers(
            from, wide, from, 4,
            [&](HloComputation& at, std::int64_t x, const std::string& shape, const auto& constant) {
                return at.add(opcode, shape, {x, constant(amount)});
            });
    };
    const Words numbers{1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0};
    for (const std::int64_t amount : {0, 1, 31, 32, 63, 64}) {
        Words zeros;
        Words signs;
        Words left;
        for (const std::uint32_t number : numbers) {
            const auto is_inside = amount < 64;
            zeros.push_back(is_inside ? static_cast<std::uint32_t>(std::uint64_t{number} >> amount) : 0);
            left.push_back(is_inside ? static_cast<std::uint32_t>(std::uint64_t{number} << amount) : 0);
            const std::int64_t wide = static_cast<std::int32_t>(number);
            signs.push_back(static_cast<std::uint32_t>(wide >> std::min<std::int64_t>(amount, 63)));
        }
        CHECK(run(shifted("u32", "u64", "shift-right-logical", amount), {numbers}) ==
              std::vector<Words>{zeros});
        CHECK(run(shifted("u32", "u64", "shift-right-arithmetic", amount), {numbers}) ==
              std::vector<Words>{zeros});
        CHECK(run(shifted("u32", "u64", "shift-left", amount), {numbers}) == std::vector<Words>{left});
        CHECK(run(shifted("s32", "s64", "shift-right-arithmetic", amount), {numbers}) ==
              std::vector<Words>{signs});
        CHECK(run(shifted("s32", "s64", "shift-left", amount), {numbers}) == std::vector<Words>{left});
        CHECK_THAT(refusal(shifted("s32", "s64", "shift-right-logical", amount)),
                   EndsWith("it may shift a 64-bit integer below 0 to the right with zeros, which is not "
                            "compiled"));
    }
}

TEST_CASE("64-bit integers that may need 64 bits are refused with what they may be", "[hlo][graph]") {
    const auto compared = [](const std::string& from, const std::string& wide, std::int64_t factor) {
        return of_wide_numbers(
            from, wide, "pred", 2,
            [&](HloComputation& at, std::int64_t x, const std::string& shape, const auto& constant) {
                const std::int64_t scaled = at.add("multiply", shape, {x, constant(factor)});
                const std::int64_t limit = constant(1000);
                return at.add("compare", "pred[2]", {scaled, limit});
            });
    };
    CHECK(run(compared("s32", "s64", 1), {{0xFFFFFFFF, 1000}}) == std::vector<Words>{{1, 0}});
    CHECK(run(compared("u32", "u64", 1), {{0xFFFFFFFF, 999}}) == std::vector<Words>{{0, 1}});
    CHECK(run(compared("u16", "s64", 3), {{0xFFFF, 333}}) == std::vector<Words>{{0, 1}});
    CHECK_THAT(refusal(compared("u32", "u64", 2)),
               EndsWith("its operand of u64 may be from 0 to 8589934590; 64-bit integers are computed where "
                        "32 bits are known to be enough"));
    CHECK_THAT(refusal(compared("u32", "s64", 1)),
               Contains("its operand of s64 may be from 0 to 4294967295"));
    CHECK_THAT(refusal(compared("s32", "u64", 1)), Contains("its operand of u64 may be any number"));

    HloModule floats;
    HloComputation entry = floats.computation("main");
    const std::int64_t x = entry.parameter("f32[2]");
    const std::int64_t wide = entry.add("convert", "s64[2]", {x});
    entry.add("convert", "s32[2]", {wide});
    CHECK_THAT(refusal(floats),
               EndsWith("it makes s64 of floats; programs are compiled that make integers of 32 bits"));

    HloModule output;
    HloComputation main = output.computation("main");
    const std::int64_t y = main.parameter("s32[2]");
    main.add("convert", "s64[2]", {y});
    CHECK(refusal(output) ==
          "output 0: its type is s64; inputs and outputs of a program have at most 32 bits");
}

TEST_CASE("What is put around or behind 64-bit integers counts among what they may be", "[hlo][graph]") {
    // Some have the lower half of another one.
    const std::vector<std::int64_t> numbers{
        0, 5, -1, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 5, -(std::int64_t{1} << 40)};
    const auto fits = [](std::int64_t number) {
        return number >= std::numeric_limits<std::int32_t>::min() &&
               number <= std::numeric_limits<std::int32_t>::max();
    };
    for (const std::int64_t inner : numbers) {
        for (const std::int64_t outer : numbers) {
            for (const bool is_pad : {true, false}) {
                INFO(outer << (is_pad ? " around " : " behind ") << inner);
                HloModule module;
                HloComputation entry = module.computation("main");
                const std::int64_t x = entry.parameter("s32[3]");
                const std::int64_t array =
                    entry.add("broadcast", "s64[1]", {add_constant(entry, "s64[]", {inner})});
                const std::int64_t word = add_constant(entry, "s64[]", {outer});
                std::int64_t wide = 0;
                if (is_pad) {
                    wide = entry.add("pad", "s64[3]", {array, word});
                    entry.last().mutable_padding_config()->add_dimensions()->set_edge_padding_high(2);
                } else {
                    const std::int64_t others = entry.add("broadcast", "s64[2]", {word});
                    wide = entry.add("concatenate", "s64[3]", {array, others});
                    entry.last().add_dimensions(0);
                }
                const std::int64_t limit =
                    entry.add("broadcast", "s64[3]", {add_constant(entry, "s64[]", {3})});
                const std::int64_t truth = entry.add("compare", "pred[3]", {wide, limit});
                entry.last().set_comparison_direction("GT");
                const std::int64_t added = entry.add("convert", "s32[3]", {truth});
                entry.add("add", "s32[3]", {x, added});
                if (!fits(inner) || !fits(outer)) {
                    CHECK_THAT(refusal(module), Contains("its operand of s64 may be from"));
                    continue;
                }
                const std::uint32_t more = outer > 3 ? 1 : 0;
                CHECK(run(module, {{10, 20, 30}}) ==
                      std::vector<Words>{{inner > 3 ? 11U : 10U, 20 + more, 30 + more}});
            }
        }
    }
}

TEST_CASE("A place of 64 bits that may need them is refused", "[hlo][graph]") {
    const auto module = [](const std::string& from, const std::string& wide) {
        HloModule made;
        HloComputation entry = made.computation("main");
        const std::int64_t array = entry.parameter("s32[4]");
        const std::int64_t start = entry.parameter(from + "[]");
        const std::int64_t place = entry.add("convert", wide + "[]", {start});
        entry.add("dynamic-slice", "s32[1]", {array, place});
        entry.last().add_dynamic_slice_sizes(1);
        return made;
    };
    const Words array{10, 11, 12, 13};
    CHECK(run(module("s32", "s64"), {array, {2}}) == std::vector<Words>{{12}});
    CHECK(run(module("s32", "s64"), {array, {0xFFFFFFFF}}) == std::vector<Words>{{10}});
    CHECK(run(module("u32", "u64"), {array, {0xFFFFFFFF}}) == std::vector<Words>{{13}});
    CHECK(run(module("u32", "u32"), {array, {0xFFFFFFFF}}) == std::vector<Words>{{13}});
    CHECK_THAT(refusal(module("u32", "s64")), Contains("its operand of s64 may be from 0 to 4294967295"));
    CHECK_THAT(refusal(module("s32", "u64")), Contains("its operand of u64 may be any number"));
}

TEST_CASE("Words of arrays that were larger are broadcast as numbers", "[hlo][graph]") {
    // s32[1,1,1] as a number, which is broadcast to s32[2,3] and added to rows; then a part of the sum.
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t one = entry.parameter("s32[1,1,1]");
    const std::int64_t row = entry.parameter("s32[3]");
    const std::int64_t number = entry.add("reshape", "s32[]", {one});
    const std::int64_t numbers = entry.add("broadcast", "s32[2,3]", {number});
    const std::int64_t rows = entry.add("broadcast", "s32[2,3]", {row});
    entry.last().add_dimensions(1);
    const std::int64_t sum = entry.add("add", "s32[2,3]", {numbers, rows});
    entry.add("slice", "s32[2,2]", {sum});
    for (const std::int64_t start : {0, 1}) {
        auto& dimension = *entry.last().add_slice_dimensions();
        dimension.set_start(start);
        dimension.set_limit(start == 0 ? 2 : 3);
        dimension.set_stride(1);
    }
    CHECK(run(module, {{100}, {1, 2, 3}}) == std::vector<Words>{{102, 103, 102, 103}});
    // The number alone, as a whole array.
    HloModule whole;
    HloComputation main = whole.computation("main");
    const std::int64_t x = main.parameter("s32[1,1,1]");
    const std::int64_t scalar = main.add("reshape", "s32[]", {x});
    main.add("broadcast", "s32[2]", {scalar});
    CHECK(run(whole, {{7}}) == std::vector<Words>{{7, 7}});
}

/// Bits of what some opcodes make of two numbers and a third one, which is a constant (a single one, or one
/// of several elements), or an input.
enum class Third { Number, Elements, Input };

HloModule with_third(const std::string& type, Third third, std::uint32_t word) {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::string two = type + "[2]";
    const std::int64_t x = entry.parameter(two);
    const std::int64_t chosen = entry.parameter("pred[2]");
    const auto constant = [&](const std::string& shape, const Words& words) {
        const std::int64_t id = entry.add("constant", shape);
        hlo_proto::LiteralProto& literal = *entry.last().mutable_literal();
        *literal.mutable_shape() = shape_proto(shape);
        std::string halves;
        for (const std::uint32_t each : words) {
            if (type == "f32") literal.add_f32s(std::bit_cast<float>(each));
            halves += static_cast<char>(each >> 16U & 0xFFU);
            halves += static_cast<char>(each >> 24U);
        }
        if (type == "bf16") literal.set_bf16s(halves);
        return id;
    };
    std::int64_t number = 0;
    std::int64_t numbers = 0;
    if (third == Third::Elements) {
        numbers = constant(two, {word, std::bit_cast<std::uint32_t>(1.0F)});
    } else {
        number = third == Third::Number ? constant(type + "[]", {word}) : entry.parameter(type + "[]");
        numbers = entry.add("broadcast", two, {number});
    }
    const std::int64_t large = entry.add("broadcast", two, {constant(type + "[]", {0x7B800000})});
    const std::int64_t scaled = entry.add("multiply", two, {numbers, large});
    const std::int64_t maximum = entry.add("maximum", two, {x, numbers});
    const std::int64_t product = entry.add("multiply", two, {x, numbers});
    std::vector<std::int64_t> results{
        entry.add("add", two, {x, scaled}),           maximum,
        entry.add("minimum", two, {x, numbers}),      entry.add("multiply", two, {maximum, large}),
        entry.add("multiply", two, {product, large}), entry.add("select", two, {chosen, numbers, x})};
    const bool is_nan = (word & 0x7FFFFFFF) > 0x7F800000;  // programs that pad with it are refused
    if (third != Third::Elements && !is_nan) {
        const std::int64_t padded = entry.add("pad", type + "[4]", {x, number});
        auto& padding = *entry.last().mutable_padding_config()->add_dimensions();
        padding.set_edge_padding_low(2);
        const std::int64_t sliced = entry.add("slice", two, {padded});
        auto& dimension = *entry.last().add_slice_dimensions();
        dimension.set_limit(2);
        dimension.set_stride(1);
        results.push_back(entry.add("multiply", two, {sliced, large}));
    }
    std::string shapes;
    for (std::int64_t& result : results) {
        const std::string shape = (type == "f32" ? "u32" : "u16") + std::string("[2]");
        result = entry.add("bitcast-convert", shape, {result});
        shapes += (shapes.empty() ? "" : ", ") + shape;
    }
    entry.add("tuple", "(" + shapes + ")", results);
    return module;
}

TEST_CASE("Constants of floats are settled, be they one number or several", "[hlo][graph]") {
    const Words x{0x80000000, 0x00800000};
    const Words chosen{1, 1};
    for (const std::string type : {"f32", "bf16"}) {
        for (const std::uint32_t word : {0x00010000U, 0x80450000U, 0x7F810000U, 0xFFC00000U, 0x80000000U,
                                         0x3FC00000U, type == "f32" ? 0x000116C2U : 0x007F0000U}) {
            INFO(type << fmt::format(", {:#010x}", word));
            const float settled = math::settled(std::bit_cast<float>(word));
            const auto expected = run(with_third(type, Third::Input, word),
                                      {x, chosen, {std::bit_cast<std::uint32_t>(settled)}});
            CHECK(run(with_third(type, Third::Number, word), {x, chosen}) == expected);
            const auto elements = run(with_third(type, Third::Elements, word), {x, chosen});
            REQUIRE(elements.size() >= 6);
            for (std::size_t i = 0; i < elements.size(); ++i) CHECK(elements[i][0] == expected[i][0]);
        }
    }
}

}  // namespace
}  // namespace systole::tests
