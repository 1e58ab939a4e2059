#include "hw/common/order_checker.h"

#include <catch2/catch.hpp>

using namespace systole;
using namespace systole::hw;

namespace {

constexpr std::size_t writer = 0;
constexpr std::size_t reader = 1;

/// Behind instruction `number` of the writer.
isa::QueuePositions behind_writer(InstructionNumber number) {
    isa::QueuePositions behind{};
    behind[writer] = static_cast<isa::Position>(number + 1);
    return behind;
}

}  // namespace

TEST_CASE("An instruction may begin when its unit comes after what it needs", "[hw][order_checker]") {
    OrderChecker order;
    order.issue(writer, 0, {});
    order.issue(writer, 1, {});
    order.issue(reader, 2, behind_writer(0));
    order.begin(writer, 0);
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
    order.issue(writer, 0, {});
    order.issue(between, 1, {});
    order.issue(reader, 2, behind_writer(0));
    order.begin(writer, 0);
    order.merge(between, order.vector_clock(writer));
    order.begin(between, 1);
    order.merge(reader, order.vector_clock(between));
    CHECK_NOTHROW(order.begin(reader, 2));
}

TEST_CASE("A violation names both instructions", "[hw][order_checker]") {
    OrderChecker order;
    order.issue(writer, 7, {});
    order.issue(reader, 9, behind_writer(7));
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
    order.issue(writer, 0, {});
    order.issue(writer, 1, behind_writer(0));
    order.begin(writer, 0);
    CHECK_NOTHROW(order.begin(writer, 1));
}

TEST_CASE("Queues of another core have clocks of their own, which signals carry along",
          "[hw][order_checker]") {
    constexpr std::size_t of_other_core = isa::queue_count + writer;
    OrderChecker order(2);
    order.issue(writer, 5, {});
    order.issue(of_other_core, 5, {});
    order.begin(of_other_core, 5);
    CHECK(order.vector_clock(writer)[of_other_core] == 0);
    order.merge(writer, order.vector_clock(of_other_core));
    CHECK(order.vector_clock(writer)[of_other_core] == 6);
    CHECK(order.vector_clock(writer)[writer] == 0);
    order.begin(writer, 5);
    order.merge(reader, order.vector_clock(writer));
    CHECK(order.vector_clock(reader)[of_other_core] == 6);
    CHECK(order.vector_clock(reader)[writer] == 6);
}
