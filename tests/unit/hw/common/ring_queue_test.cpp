#include "hw/common/ring_queue.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <random>

using systole::hw::RingQueue;

TEST_CASE("A ring queue gives what a deque gives", "[hw][ring_queue]") {
    const unsigned seed = GENERATE(take(20, random(0U, 1U << 30U)));
    CAPTURE(seed);
    std::mt19937 random(seed);
    RingQueue<int> queue;
    std::deque<int> expected;
    for (int i = 0; i < 2000; ++i) {
        // Grows to many, then shrinks to none, again and again.
        const bool push = expected.empty() || random() % 100 < (i / 200 % 2 == 0 ? 70U : 30U);
        if (push) {
            queue.push_back(i);
            expected.push_back(i);
        } else {
            REQUIRE(queue.front() == expected.front());
            if (random() % 2 == 0) {
                queue.pop_front();
            } else {
                REQUIRE(queue.take_front() == expected.front());
            }
            expected.pop_front();
        }
        REQUIRE(queue.size() == expected.size());
        REQUIRE(queue.empty() == expected.empty());
    }
}

TEST_CASE("A ring queue releases elements that have left it", "[hw][ring_queue]") {
    const auto held = std::make_shared<int>(0);
    RingQueue<std::shared_ptr<int>> queue;
    queue.push_back(held);
    queue.push_back(held);
    queue.push_back(held);
    queue.pop_front();
    CHECK(held.use_count() == 3);
    CHECK(queue.take_front() == held);
    CHECK(held.use_count() == 2);
}
