// Reductions of HLO as graphs of words, against plain loops.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/hlo/hlo_runs.h"

namespace systole::tests {
namespace {

using Catch::Matchers::EndsWith;

std::int32_t integer(std::uint32_t word) {
    return static_cast<std::int32_t>(word);
}

std::uint32_t word(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

/// (value, number) pairs: the larger value, of equal ones the smaller number, as JAX's argmax writes it.
std::int64_t argmax_combiner(HloModule& module) {
    HloComputation made = module.computation("argmax");
    const std::int64_t a = made.parameter("s32[]");
    const std::int64_t i = made.parameter("s32[]");
    const std::int64_t b = made.parameter("s32[]");
    const std::int64_t k = made.parameter("s32[]");
    const auto compare = [&](const char* direction, std::int64_t left, std::int64_t right) {
        const std::int64_t id = made.add("compare", "pred[]", {left, right});
        made.last().set_comparison_direction(direction);
        return id;
    };
    const std::int64_t is_larger = compare("GT", a, b);
    const std::int64_t is_equal = compare("EQ", a, b);
    const std::int64_t is_first = compare("LT", i, k);
    const std::int64_t tie = made.add("and", "pred[]", {is_equal, is_first});
    const std::int64_t takes = made.add("or", "pred[]", {is_larger, tie});
    const std::int64_t value = made.add("select", "s32[]", {is_larger, a, b});
    const std::int64_t number = made.add("select", "s32[]", {takes, i, k});
    made.add("tuple", "(s32[], s32[])", {value, number});
    return made.id();
}

TEST_CASE("Reductions of pairs find the first largest element of axes of any length", "[hlo][graph]") {
    std::mt19937 random(1);
    for (const std::int64_t length : {1, 2, 3, 5, 6, 7, 8, 9, 31, 33}) {
        INFO(length);
        const Plain values = plain({2, length, 3}, [&](const Extents&) { return random() % 5; });
        const Plain numbers = plain({2, length, 3}, [&](const Extents& index) { return word(index[1]); });
        HloModule module;
        const std::int64_t combiner = argmax_combiner(module);
        HloComputation entry = module.computation("main");
        const std::string shape = shape_text("s32", values.dimensions);
        const std::int64_t first = entry.parameter(shape);
        const std::int64_t second = entry.parameter(shape);
        const std::int64_t least = add_constant(entry, "s32[]", {-1});
        const std::int64_t zero = add_constant(entry, "s32[]", {0});
        entry.add("reduce", "(s32[2,3], s32[2,3])", {first, second, least, zero}, {combiner});
        entry.last().add_dimensions(1);
        Words largest;
        Words places;
        for_each_index({2, 3}, [&](const Extents& index) {
            std::uint32_t best = 0;
            std::uint32_t place = 0;
            for (std::int64_t i = length; i-- > 0;) {
                const std::uint32_t value = values.at({index[0], i, index[1]});
                if (value < best) continue;
                best = value;
                place = word(i);
            }
            largest.push_back(best);
            places.push_back(place);
        });
        CHECK(run(module, {values.words, numbers.words}) == std::vector<Words>{largest, places});
    }
}

TEST_CASE("Reductions begin with their initial value, computed or not, along any axes",
          "[hlo][graph][random]") {
    std::mt19937 random(2);
    const std::vector<std::string> opcodes{"add", "multiply", "maximum", "minimum", "and", "or", "xor"};
    const auto combined = [](const std::string& opcode, std::uint32_t a, std::uint32_t b) {
        if (opcode == "add") return a + b;
        if (opcode == "multiply") return a * b;
        if (opcode == "maximum") return word(std::max(integer(a), integer(b)));
        if (opcode == "minimum") return word(std::min(integer(a), integer(b)));
        if (opcode == "and") return a & b;
        return opcode == "or" ? a | b : a ^ b;
    };
    for (const std::string& opcode : opcodes) {
        for (const std::vector<std::int64_t>& axes :
             std::vector<std::vector<std::int64_t>>{{}, {0}, {2, 0}, {1, 2}, {0, 1, 2}}) {
            for (const bool is_computed : {false, true}) {
                INFO(opcode << " along " << axes.size() << " axes");
                const Plain array = plain(
                    {3, 1, 5}, [&](const Extents&) { return word(static_cast<std::int64_t>(random())); });
                constexpr std::int64_t initial = 13;
                Extents kept;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) == axes.end())
                        kept.push_back(array.dimensions[axis]);
                }
                Plain expected = plain(kept, [&](const Extents&) { return word(initial); });
                for_each_index(array.dimensions, [&](const Extents& index) {
                    Extents to;
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) == axes.end())
                            to.push_back(index[axis]);
                    }
                    expected.at(to) = combined(opcode, expected.at(to), array.at(index));
                });
                HloModule module;
                const std::int64_t combiner = module.combiner(opcode, "s32");
                HloComputation entry = module.computation("main");
                const std::int64_t operand = entry.parameter("s32[3,1,5]");
                const std::int64_t start =
                    is_computed ? entry.parameter("s32[]") : add_constant(entry, "s32[]", {initial});
                entry.add("reduce", shape_text("s32", kept), {operand, start}, {combiner});
                for (const std::int64_t axis : axes) entry.last().add_dimensions(axis);
                std::vector<Words> inputs{array.words};
                if (is_computed) inputs.push_back({word(initial)});
                CHECK(run(module, inputs) == std::vector<Words>{expected.words});
            }
        }
    }
}

/// The sum of a block is by halves, with h the least power of two that is not less than half of its numbers;
/// blocks are added in order.
float sum_by_halves(std::vector<float> numbers) {
    constexpr std::size_t block = 128;
    float sum = 0;
    for (std::size_t first = 0; first < numbers.size(); first += block) {
        std::size_t count = std::min(block, numbers.size() - first);
        while (count > 1) {
            const std::size_t half = std::bit_ceil((count + 1) / 2);
            for (std::size_t i = 0; i + half < count; ++i) numbers[first + i] += numbers[first + i + half];
            count = half;
        }
        sum = first == 0 ? numbers[0] : sum + numbers[first];
    }
    return sum;
}

TEST_CASE("Sums along the last axis and others take each of its lines first, and round once",
          "[hlo][graph][random]") {
    std::mt19937 random(3);
    std::uint32_t differ = 0;  // from sums of all numbers in a row
    for (const std::string type : {"f32", "bf16"}) {
        for (const Extents& dimensions : std::vector<Extents>{
                 {3, 150}, {200, 5}, {2, 3, 140}, {150, 2, 7}, {4, 130, 3}, {1, 300}, {300, 1}, {2, 40, 1}}) {
            const std::size_t last = dimensions.size() - 1;
            for (std::size_t kept = 0; kept <= last; ++kept) {  // the last one: all axes are reduced
                INFO(type << ", " << shape_text(type, dimensions) << ", kept " << kept);
                const Plain array = plain(dimensions, [&](const Extents&) {
                    const float number = std::uniform_real_distribution<float>(-1, 1)(random);
                    const auto bits = std::bit_cast<std::uint32_t>(number);
                    return type == "bf16" ? bits & 0xFFFF0000 : bits;
                });
                const bool has_kept = kept < last;
                const bool has_lines = dimensions[last] > 1;
                Words expected;
                for (std::int64_t place = 0; place < (has_kept ? dimensions[kept] : 1); ++place) {
                    std::vector<float> in_a_row;
                    std::vector<float> of_lines;
                    std::vector<float> line;
                    for_each_index(dimensions, [&](const Extents& index) {
                        if (has_kept && index[kept] != place) return;
                        line.push_back(std::bit_cast<float>(array.at(index)));
                        in_a_row.push_back(line.back());
                        if (index[last] + 1 < dimensions[last]) return;
                        of_lines.push_back(sum_by_halves(line));
                        line.clear();
                    });
                    float sum = sum_by_halves(has_lines ? of_lines : in_a_row);
                    differ += sum != sum_by_halves(in_a_row) ? 1 : 0;
                    if (type == "bf16") sum = math::rounded_to_bfloat16(sum);
                    expected.push_back(std::bit_cast<std::uint32_t>(sum));
                }
                HloModule module;
                const std::int64_t combiner = module.combiner("add", type);
                HloComputation entry = module.computation("main");
                const std::int64_t operand = entry.parameter(shape_text(type, dimensions));
                const std::int64_t start = entry.parameter(type + "[]");
                const Extents left = has_kept ? Extents{dimensions[kept]} : Extents{};
                // It begins with 0, which changes no sum but -0.
                entry.add("reduce", shape_text(type, left), {operand, start}, {combiner});
                for (std::size_t axis = 0; axis <= last; ++axis) {
                    if (!has_kept || axis != kept)
                        entry.last().add_dimensions(static_cast<std::int64_t>(axis));
                }
                CHECK(run(module, {array.words, {0}}) == std::vector<Words>{expected});
            }
        }
    }
    CHECK(differ > 10);
}

TEST_CASE("Narrow integers wrap around in sums and products", "[hlo][graph]") {
    for (const std::string opcode : {"add", "multiply"}) {
        HloModule module;
        const std::int64_t combiner = module.combiner(opcode, "s8");
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter("s8[3]");
        const std::int64_t start = add_constant(entry, "s8[]", {opcode == "add" ? 0 : 1});
        entry.add("reduce", "s8[]", {operand, start}, {combiner});
        entry.last().add_dimensions(0);
        const std::int64_t exact = opcode == "add" ? 100 + 100 + 7 : 100 * 100 * 7;
        CHECK(run(module, {{100, 100, 7}}) ==
              std::vector<Words>{{word(static_cast<std::int8_t>(static_cast<std::uint8_t>(exact)))}});
    }
}

/// a, b -> the larger one of a and b, by a choice: an operation that is none of the machine's own.
std::int64_t choice_of_larger(HloModule& module) {
    HloComputation made = module.computation("larger");
    const std::int64_t a = made.parameter("s32[]");
    const std::int64_t b = made.parameter("s32[]");
    const std::int64_t is_larger = made.add("compare", "pred[]", {a, b});
    made.last().set_comparison_direction("GT");
    made.add("select", "s32[]", {is_larger, a, b});
    return made.id();
}

struct WindowAxis {
    std::int64_t size = 1;
    std::int64_t stride = 1;
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t dilation = 1;
    std::int64_t base = 1;

    std::int64_t results(std::int64_t extent) const {
        const std::int64_t padded = (extent - 1) * base + 1 + low + high;
        const std::int64_t covered = (size - 1) * dilation + 1;
        return padded < covered ? 0 : (padded - covered) / stride + 1;
    }
};

void set_window(HloComputation& entry, const std::vector<WindowAxis>& window) {
    for (const WindowAxis& axis : window) {
        auto& dimension = *entry.last().mutable_window()->add_dimensions();
        dimension.set_size(axis.size);
        dimension.set_stride(axis.stride);
        dimension.set_padding_low(axis.low);
        dimension.set_padding_high(axis.high);
        dimension.set_window_dilation(axis.dilation);
        dimension.set_base_dilation(axis.base);
    }
}

TEST_CASE("Windows of all kinds reduce what is under them", "[hlo][graph][random]") {
    const std::uint32_t seeds = random_runs(300);
    std::uint32_t made = 0;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto drawn = [&](std::int64_t low, std::int64_t high) {
            return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
        };
        const auto rank = static_cast<std::size_t>(drawn(1, 4));
        Extents dimensions;
        std::vector<WindowAxis> window;
        Extents results;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            dimensions.push_back(drawn(1, 5));
            WindowAxis each;
            if (drawn(0, 2) != 0) {
                each = {.size = drawn(1, 3),
                        .stride = drawn(1, 2),
                        .low = drawn(-1, 3),
                        .high = drawn(-1, 3),
                        .dilation = drawn(1, 3),
                        .base = drawn(0, 3) == 0 ? 2 : 1};
            }
            window.push_back(each);
            results.push_back(each.results(dimensions[axis]));
        }
        if (elements_of(results) == 0) continue;
        ++made;
        enum class Kind { Sum, Largest, Choice };
        const auto kind = static_cast<Kind>(drawn(0, 2));
        const std::int64_t initial = kind == Kind::Sum ? 0 : std::numeric_limits<std::int32_t>::min();
        const Plain array = plain(dimensions, [&](const Extents&) { return word(drawn(-50, 50)); });
        const Plain expected = plain(results, [&](const Extents& index) {
            std::uint32_t result = word(initial);
            Extents sizes;
            for (const WindowAxis& axis : window) sizes.push_back(axis.size);
            for_each_index(sizes, [&](const Extents& tap) {
                Extents place;
                for (std::size_t axis = 0; axis < rank; ++axis) {
                    const WindowAxis& each = window[axis];
                    const std::int64_t at = index[axis] * each.stride - each.low + tap[axis] * each.dilation;
                    if (at < 0 || at % each.base != 0 || at / each.base >= dimensions[axis]) return;
                    place.push_back(at / each.base);
                }
                const std::uint32_t element = array.at(place);
                result =
                    kind == Kind::Sum ? result + element : word(std::max(integer(result), integer(element)));
            });
            return result;
        });
        HloModule module;
        const std::int64_t combiner = kind == Kind::Choice
                                          ? choice_of_larger(module)
                                          : module.combiner(kind == Kind::Sum ? "add" : "maximum", "s32");
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter(shape_text("s32", dimensions));
        const std::int64_t start = add_constant(entry, "s32[]", {initial});
        entry.add("reduce-window", shape_text("s32", results), {operand, start}, {combiner});
        set_window(entry, window);
        REQUIRE(run(module, {array.words}) == std::vector<Words>{expected.words});
    }
    CHECK(made >= random_share(150));
}

TEST_CASE("An initial value that is not neutral is taken once by each window", "[hlo][graph]") {
    for (const bool is_computed : {false, true}) {
        HloModule module;
        const std::int64_t combiner = module.combiner("add", "s32");
        HloComputation entry = module.computation("main");
        const std::int64_t operand = entry.parameter("s32[5]");
        const std::int64_t start =
            is_computed ? entry.parameter("s32[]") : add_constant(entry, "s32[]", {100});
        entry.add("reduce-window", "s32[3]", {operand, start}, {combiner});
        set_window(entry, {{.size = 3}});
        std::vector<Words> inputs{{1, 2, 3, 4, 5}};
        if (is_computed) inputs.push_back({100});
        CHECK(run(module, inputs) == std::vector<Words>{{106, 109, 112}});
    }
}

TEST_CASE("Windows and reductions that are refused", "[hlo][graph]") {
    const auto windows = [](const std::string& operand, const std::string& result,
                            const std::vector<WindowAxis>& window, bool is_choice) {
        HloModule module;
        const std::int64_t combiner = is_choice ? choice_of_larger(module) : module.combiner("add", "s32");
        HloComputation entry = module.computation("main");
        const std::int64_t array = entry.parameter(operand);
        const std::int64_t start = add_constant(entry, "s32[]", {0});
        entry.add("reduce-window", result, {array, start}, {combiner});
        set_window(entry, window);
        return refusal(module);
    };
    CHECK_THAT(windows("s32[2000]", "s32[976]", {{.size = 1025}}, true),
               EndsWith("its windows have more than 1024 elements; windows of this kind are compiled with at "
                        "most as many"));
    CHECK(windows("s32[2000]", "s32[977]", {{.size = 1024}}, true) == "");
    CHECK(windows("s32[2000]", "s32[976]", {{.size = 1025}}, false) == "");
    // The largest window that a module can have, over one element.
    constexpr std::int64_t most = std::int64_t{1} << 28;
    CHECK_THAT(
        windows("s32[1]", "s32[1]", {{.size = most, .high = most - 1}}, false),
        EndsWith("its windows have more than 16777216 elements; windows of this kind are compiled with "
                 "at most as many"));
    // As many windows as there can be, none of which meets the element.
    CHECK_THAT(windows("s32[1]", "s32[268435456]", {{.low = most, .high = -1}}, false),
               EndsWith("an array on its way is 268435457; programs are compiled with at most 268435456 "
                        "elements"));

    HloModule wide;
    const std::int64_t combiner = wide.combiner("add", "s64");
    HloComputation entry = wide.computation("main");
    const std::int64_t array = entry.parameter("s32[3]");
    const std::int64_t numbers = entry.add("convert", "s64[3]", {array});
    const std::int64_t start = add_constant(entry, "s64[]", {0});
    entry.add("reduce", "s64[]", {numbers, start}, {combiner});
    entry.last().add_dimensions(0);
    CHECK_THAT(refusal(wide), EndsWith("it reduces s64; programs are compiled with reductions of 32 bits"));

    // A combiner of arrays: what is applied to each element must be of single numbers.
    HloModule arrays;
    HloComputation made = arrays.computation("arrays");
    const std::int64_t a = made.parameter("s32[]");
    made.parameter("s32[]");
    const std::int64_t pair = made.add("broadcast", "s32[2]", {a});
    const std::int64_t part = made.add("slice", "s32[1]", {pair});
    auto& dimension = *made.last().add_slice_dimensions();
    dimension.set_start(0);
    dimension.set_limit(1);
    dimension.set_stride(1);
    made.add("reshape", "s32[]", {part});
    HloComputation main = arrays.computation("main");
    const std::int64_t operand = main.parameter("s32[4]");
    const std::int64_t zero = add_constant(main, "s32[]", {0});
    main.add("reduce", "s32[]", {operand, zero}, {made.id()});
    main.last().add_dimensions(0);
    CHECK_THAT(
        refusal(arrays),
        EndsWith("it is in a computation that is applied to each element of arrays; there, programs are "
                 "compiled with element-wise instructions of single numbers"));
}

TEST_CASE("A combiner may give a constant", "[hlo][graph]") {
    HloModule module;
    HloComputation made = module.computation("seven");
    made.parameter("s32[]");
    made.parameter("s32[]");
    add_constant(made, "s32[]", {7});
    HloComputation entry = module.computation("main");
    const std::int64_t operand = entry.parameter("s32[2,5]");
    const std::int64_t zero = add_constant(entry, "s32[]", {0});
    const std::int64_t result = entry.add("reduce", "s32[2]", {operand, zero}, {made.id()});
    entry.last().add_dimensions(1);
    const std::int64_t other = entry.parameter("s32[2]");
    entry.add("add", "s32[2]", {result, other});
    CHECK(run(module, {Words(10, 1), {1, 2}}) == std::vector<Words>{{8, 9}});
}

TEST_CASE("A sum over a broadcast dimension of size 0 is refused, not left out", "[hlo][graph]") {
    HloModule module;
    const std::int64_t combiner = module.combiner("add", "s32");
    HloComputation entry = module.computation("main");
    const std::int64_t number = entry.parameter("s32[]");
    const std::int64_t none = entry.add("broadcast", "s32[0]", {number});
    const std::int64_t zero = add_constant(entry, "s32[]", {0});
    entry.add("reduce", "s32[]", {none, zero}, {combiner});
    entry.last().add_dimensions(0);
    CHECK_THAT(refusal(module),
               EndsWith("an array has a dimension of size 0; programs are compiled without such arrays"));
}

}  // namespace
}  // namespace systole::tests
