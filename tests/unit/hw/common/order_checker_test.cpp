#include "hw/common/order_checker.h"

#include <catch2/catch.hpp>
#include <random>

using namespace systole::hw;

namespace {

constexpr std::size_t writer = 0;
constexpr std::size_t reader = 1;

std::vector<Access> reads(std::uint64_t first, std::uint64_t last) {
    return {{Memory::UnifiedBuffer, false, first, last}};
}
std::vector<Access> writes(std::uint64_t first, std::uint64_t last) {
    return {{Memory::UnifiedBuffer, true, first, last}};
}

}  // namespace

TEST_CASE("A read may begin in the cycle in which the earlier write is complete, not before",
          "[hw][order_checker]") {
    OrderChecker order(2);
    order.issue(writer, 0, writes(10, 20));
    order.issue(reader, 1, reads(19, 30));
    SECTION("not begun yet") {
        CHECK_THROWS_AS(order.begin(reader, 1, 5), OrderViolation);
    }
    SECTION("begun") {
        order.begin(writer, 0, 3);
        order.complete(writer, 0, 50);
        CHECK_THROWS_AS(order.begin(reader, 1, 49), OrderViolation);
        CHECK_NOTHROW(order.begin(reader, 1, 50));
    }
}

TEST_CASE("Only shared rows of one memory conflict, and only with a write among them",
          "[hw][order_checker]") {
    OrderChecker order(2);
    order.issue(writer, 0, writes(10, 20));
    order.issue(reader, 1, reads(20, 30));
    order.issue(reader, 2, {{Memory::Accumulators, true, 10, 20}});
    CHECK_NOTHROW(order.begin(reader, 1, 0));
    order.complete(reader, 1, 1);
    CHECK_NOTHROW(order.begin(reader, 2, 1));
}

TEST_CASE("A write may not overtake an earlier read of its rows", "[hw][order_checker]") {
    OrderChecker order(2);
    order.issue(reader, 0, reads(0, 4));
    order.issue(writer, 1, writes(3, 4));
    CHECK_THROWS_AS(order.begin(writer, 1, 0), OrderViolation);
    order.begin(reader, 0, 0);
    order.complete(reader, 0, 8);
    CHECK_NOTHROW(order.begin(writer, 1, 8));
}

TEST_CASE("An earlier instruction need not wait for a later one", "[hw][order_checker]") {
    OrderChecker order(2);
    order.issue(reader, 0, reads(0, 4));
    order.issue(writer, 1, writes(4, 8));
    order.begin(writer, 1, 0);
    CHECK_NOTHROW(order.begin(reader, 0, 0));
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
    OrderChecker order(2);
    for (InstructionNumber number = 0; number < 300; ++number) {
        const std::size_t unit = random() % 2;
        const std::uint64_t first = random() % rows;
        const std::uint64_t last = first + 1 + random() % (rows - first);
        order.issue(unit, number, writes(first, last));
        order.begin(unit, number, number);
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
