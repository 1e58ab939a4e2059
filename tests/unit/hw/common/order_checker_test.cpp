#include "hw/common/order_checker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace systole;
using namespace systole::hw;

namespace {

constexpr std::size_t writer = 0;
constexpr std::size_t reader = 1;

/// Behind instruction `number` of the writer.
VectorClock behind_writer(InstructionNumber number) {
    VectorClock behind{};
    behind[writer] = number + 1;
    return behind;
}

}  // namespace

TEST_CASE("An instruction may begin when its unit comes after what it needs", "[hw][order_checker]") {
    OrderChecker order;
    order.issue(writer, 0, {}, 10, 20);
    order.issue(writer, 1, {}, 20, 30);
    order.issue(reader, 2, behind_writer(0), 0, 0);
    order.begin(writer, 0);
    order.complete(writer, 0, 5);
    SECTION("nothing was waited for, however long ago the write was complete") {
        CHECK_THROWS_AS(order.begin(reader, 2), OrderViolation);
    }
    SECTION("the write was waited for") {
        order.merge(reader, order.vector_clock(writer));
        CHECK_NOTHROW(order.begin(reader, 2));
    }
    SECTION("a later instruction of the writer was waited for") {
        order.begin(writer, 1);
        order.merge(reader, order.vector_clock(writer));
        CHECK_NOTHROW(order.begin(reader, 2));
    }
}

TEST_CASE("A unit that waits comes after everything its signaller waited for", "[hw][order_checker]") {
    constexpr std::size_t between = 2;
    OrderChecker order;
    order.issue(writer, 0, {}, 10, 20);
    order.issue(between, 1, {}, 0, 0);
    order.issue(reader, 2, behind_writer(0), 0, 0);
    order.begin(writer, 0);
    order.merge(between, order.vector_clock(writer));
    order.begin(between, 1);
    order.merge(reader, order.vector_clock(between));
    CHECK_NOTHROW(order.begin(reader, 2));
}

TEST_CASE("A violation names both instructions", "[hw][order_checker]") {
    OrderChecker order;
    order.issue(writer, 7, {}, 10, 20);
    order.issue(reader, 9, behind_writer(7), 0, 0);
    try {
        order.begin(reader, 9);
        FAIL("nothing was found");
    } catch (const OrderViolation& violation) {
        CHECK(violation.earlier == 7);
        CHECK(violation.later == 9);
    }
}

TEST_CASE("A unit's own instructions are in order", "[hw][order_checker]") {
    OrderChecker order;
    order.issue(writer, 0, {}, 0, 4);
    order.issue(writer, 1, behind_writer(0), 0, 4);
    order.begin(writer, 0);
    order.complete(writer, 0, 9);
    CHECK_NOTHROW(order.begin(writer, 1));
}

TEST_CASE("The last write of every row is remembered", "[hw][order_checker]") {
    const unsigned seed = GENERATE(1U, 2U, 3U);
    CAPTURE(seed);
    std::mt19937 random(seed);
    constexpr std::uint64_t rows = 60;
    struct Write {
        std::size_t unit = 9;
        Cycle at = 0;
    };
    std::vector<Write> expected(rows);
    OrderChecker order;
    for (InstructionNumber number = 0; number < 300; ++number) {
        const std::size_t unit = random() % 2;
        const std::uint64_t first = random() % rows;
        const std::uint64_t last = first + 1 + random() % (rows - first);
        order.issue(unit, number, {}, first, last);
        order.begin(unit, number);
        order.complete(unit, number, number + 1);
        for (std::uint64_t row = first; row < last; ++row) expected[row] = {unit, number + 1};

        const std::uint64_t from = random() % rows;
        const std::uint64_t to = from + 1 + random() % (rows - from);
        for (std::size_t asked = 0; asked < 2; ++asked) {
            Cycle latest = 0;
            for (std::uint64_t row = from; row < to; ++row) {
                if (expected[row].unit == asked) latest = std::max(latest, expected[row].at);
            }
            REQUIRE(order.written(asked, from, to) == latest);
        }
    }
}
