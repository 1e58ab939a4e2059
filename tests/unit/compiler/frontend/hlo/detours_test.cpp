// What programs ask for and the machine does the long way: choices by data, and places from data.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/hlo/hlo_runs.h"

namespace systole::tests {
namespace {

/// A branch on f32[n,n] that multiplies it with itself so many times.
std::int64_t products(HloModule& module, std::int64_t side, std::uint32_t count) {
    const std::string shape = shape_text("f32", {side, side});
    HloComputation made = module.computation("products");
    std::int64_t x = made.parameter(shape);
    if (count == 0) x = made.add("negate", shape, {x});
    for (std::uint32_t i = 0; i < count; ++i) {
        x = made.add("dot", shape, {x, x});
        auto& numbers = *made.last().mutable_dot_dimension_numbers();
        numbers.add_lhs_contracting_dimensions(1);
        numbers.add_rhs_contracting_dimensions(0);
    }
    return made.id();
}

TEST_CASE("A choice by data discards all branches but the one with most products", "[hlo][graph]") {
    for (std::uint32_t seed = 1; seed <= random_runs(30); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto side = static_cast<std::int64_t>(1 + random() % 5);
        const std::string shape = shape_text("f32", {side, side});
        const auto each = static_cast<std::uint64_t>(side * side * side);
        HloModule module;
        std::vector<std::uint32_t> counts;
        Ids branches;
        for (std::size_t i = 2 + random() % 3; i > 0; --i) {
            counts.push_back(static_cast<std::uint32_t>(random() % 4));
            branches.push_back(products(module, side, counts.back()));
        }
        // A branch may choose in turn: among its own product and two.
        const bool is_nested = random() % 2 == 0;
        const std::int64_t one = products(module, side, 1);
        const std::int64_t two = products(module, side, 2);
        if (is_nested) {
            HloComputation outer = module.computation("outer");
            const std::int64_t x = outer.parameter(shape);
            const std::int64_t zero = add_constant(outer, "s32[]", {0});
            const std::int64_t first = outer.add("slice", "f32[1,1]", {x});
            for (int axis = 0; axis < 2; ++axis) {
                auto& range = *outer.last().add_slice_dimensions();
                range.set_start(0);
                range.set_limit(1);
                range.set_stride(1);
            }
            const std::int64_t number = outer.add("reshape", "f32[]", {first});
            const std::int64_t whole = outer.add("convert", "s32[]", {number});
            const std::int64_t is_zero = outer.add("compare", "pred[]", {whole, zero});
            outer.last().set_comparison_direction("EQ");
            outer.add("conditional", shape, {is_zero, x, x}, {one, two});
            branches.push_back(outer.id());
        }
        HloComputation entry = module.computation("main");
        const std::int64_t choice = entry.parameter("s32[]");
        const std::int64_t x = entry.parameter(shape);
        std::vector<std::int64_t> operands{choice};
        operands.resize(branches.size() + 1, x);
        entry.add("conditional", shape, operands, branches);

        const ir::Detours detours = graph_of(module).detours;
        std::uint64_t all = is_nested ? 3 : 0;
        std::uint64_t most = is_nested ? 2 : 0;  // of the nested choice, the branch with two
        for (const std::uint32_t count : counts) {
            all += count;
            most = std::max<std::uint64_t>(most, count);
        }
        CHECK(detours.choices == (is_nested ? 2 : 1));
        CHECK(detours.all.macs == all * each);
        CHECK(detours.discarded.macs == (all - most) * each);
        CHECK(detours.discarded.macs <= detours.all.macs);
        CHECK(detours.discarded.elements <= detours.all.elements);
    }
}

TEST_CASE("A choice that is known discards nothing, and neither does one that nobody reads", "[hlo][graph]") {
    HloModule known;
    const Ids branches{products(known, 2, 1), products(known, 2, 3)};
    HloComputation entry = known.computation("main");
    const std::int64_t x = entry.parameter("f32[2,2]");
    const std::int64_t choice = add_constant(entry, "s32[]", {1});
    entry.add("conditional", "f32[2,2]", {choice, x, x}, branches);
    CHECK(graph_of(known).detours.choices == 0);
    CHECK(graph_of(known).detours.all.macs == 0);  // nothing asks for the sum

    HloModule unread;
    const Ids both{products(unread, 2, 1), products(unread, 2, 3)};
    HloComputation main = unread.computation("main");
    const std::int64_t by = main.parameter("s32[]");
    const std::int64_t y = main.parameter("f32[2,2]");
    main.add("conditional", "f32[2,2]", {by, y, y}, both);
    main.add("negate", "f32[2,2]", {y});
    CHECK(graph_of(unread).detours.choices == 0);
    CHECK(graph_of(unread).detours.discarded.macs == 0);
}

TEST_CASE("Rows at places from data are compared with all places", "[hlo][graph]") {
    for (std::uint32_t seed = 1; seed <= random_runs(20); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const std::int64_t rows = 2 + static_cast<std::int64_t>(random() % 20);
        const std::int64_t columns = 1 + static_cast<std::int64_t>(random() % 5);
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t table = entry.parameter(shape_text("f32", {rows, columns}));
        const std::int64_t row = entry.parameter("s32[]");
        const std::int64_t zero = add_constant(entry, "s32[]", {0});
        entry.add("dynamic-slice", shape_text("f32", {1, columns}), {table, row, zero});
        entry.last().add_dynamic_slice_sizes(1);
        entry.last().add_dynamic_slice_sizes(columns);
        const ir::Detours detours = graph_of(module).detours;
        CHECK(detours.found == static_cast<std::uint64_t>(columns));
        CHECK(detours.compared == static_cast<std::uint64_t>(rows * columns));

        // A slice whose place is known is a part.
        HloModule known;
        HloComputation main = known.computation("main");
        const std::int64_t same = main.parameter(shape_text("f32", {rows, columns}));
        const std::int64_t first = add_constant(main, "s32[]", {1});
        const std::int64_t column = add_constant(main, "s32[]", {0});
        main.add("dynamic-slice", shape_text("f32", {1, columns}), {same, first, column});
        main.last().add_dynamic_slice_sizes(1);
        main.last().add_dynamic_slice_sizes(columns);
        CHECK(graph_of(known).detours.compared == 0);
    }
}

}  // namespace
}  // namespace systole::tests
