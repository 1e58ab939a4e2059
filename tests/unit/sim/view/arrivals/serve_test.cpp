#include "sim/view/arrivals/serve.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/study/validate/queue.h"

using namespace systole;
using arrivals::Arrivals;
using arrivals::Server;

namespace {

/// A chip that computes one batch after the other.
Server one_after_the_other(double seconds, std::uint32_t batch) {
    return {
        .interval_seconds = seconds, .alone_seconds = seconds, .followed_seconds = seconds, .batch = batch};
}

TEST_CASE("A server of single requests has the waiting times of the M/D/1 queue") {
    const Server server = one_after_the_other(0.002, 1);
    constexpr int seeds = 16;
    for (const double load : {0.2, 0.5, 0.8}) {
        CAPTURE(load);
        double p50 = 0.0;
        double p99 = 0.0;
        for (int seed = 1; seed <= seeds; ++seed) {
            const auto served =
                Arrivals(static_cast<std::uint64_t>(seed)).serve(server, load * server.capacity());
            REQUIRE(served);
            p50 += served->p50_seconds / seeds;
            p99 += served->p99_seconds / seeds;
            CHECK(served->mean_batch == 1.0);
        }
        CHECK(p50 == Approx(0.002 * validate::response_time(load, 0.50)).epsilon(0.02));
        CHECK(p99 == Approx(0.002 * validate::response_time(load, 0.99)).epsilon(0.03));
    }
    const double most = Arrivals(1).most_within(server, 0.01) / 1000.0;
    CHECK(most == Approx(validate::largest_load(5.0, 0.99)).margin(0.02));
}

TEST_CASE("A lonely request takes the time of a batch, and a full load fills the batches") {
    const Arrivals requests(2);
    const Server server = one_after_the_other(0.001, 100);
    const auto lonely = requests.serve(server, 0.01);
    CHECK(lonely->p50_seconds == Approx(0.001));
    CHECK(lonely->mean_batch == Approx(1.0).epsilon(0.001));
    const auto busy = requests.serve(server, 0.99 * server.capacity());
    CHECK(busy->mean_batch > 90.0);
    CHECK(busy->p50_seconds > 0.001);
    // A request that comes while a batch runs waits for it, and then for its own.
    const auto half = requests.serve(server, 0.5 * server.capacity());
    CHECK(half->p99_seconds < 0.0021);
    CHECK(half->p50_seconds == Approx(0.0015).epsilon(0.02));
}

TEST_CASE("At its capacity and beyond, a queue has no percentiles") {
    const Arrivals requests(3);
    const Server server = one_after_the_other(0.001, 10);
    CHECK_FALSE(requests.serve(server, server.capacity()));
    CHECK_FALSE(requests.serve(server, 2.0 * server.capacity()));
    CHECK_FALSE(requests.serve(server, 0.0));
    CHECK(requests.most_within(server, 0.0009) == 0);  // not even a lonely request
    CHECK(requests.most_within(server, 0.1) > 970);
}

TEST_CASE("The largest load is the last within the limit, and equal seeds are equal") {
    const Arrivals requests(4);
    const Server server = one_after_the_other(0.0008, 200);
    const unsigned most = requests.most_within(server, 0.002);
    const auto served = [&](unsigned thousandths) {
        return requests.serve(server, thousandths / 1000.0 * server.capacity());
    };
    CHECK(served(most)->p99_seconds <= 0.002);
    CHECK((most == 999 || served(most + 1)->p99_seconds > 0.002));
    CHECK(Arrivals(4).most_within(server, 0.002) == most);
    CHECK(Arrivals(5).serve(server, 1000.0)->p99_seconds != requests.serve(server, 1000.0)->p99_seconds);
}

TEST_CASE("Batches begin when requests wait and the chip takes them") {
    // A chip that takes a batch every 3 seconds, and has its results after 7.
    Server server{.interval_seconds = 3.0, .alone_seconds = 7.0, .followed_seconds = 7.0, .batch = 2};
    const auto taken = [&](const std::vector<double>& arrivals) {
        return arrivals::answers_of(arrivals, server).seconds;
    };
    using Seconds = std::vector<double>;
    CHECK(taken({}).empty());
    CHECK(taken({5.0}) == Seconds{7.0});
    // 10 begins alone; 11 and 12 wait until 13, and are answered at 20.
    CHECK(taken({10.0, 11.0, 12.0}) == Seconds{7.0, 9.0, 8.0});
    // Later than an interval, a request does not wait, although the batch before is not done.
    CHECK(taken({10.0, 13.0, 16.5}) == Seconds{7.0, 7.0, 7.0});
    // Five at once: two begin at once, two after 3 seconds, and one after 6.
    CHECK(taken({0.0, 0.0, 0.0, 0.0, 0.0}) == Seconds{7.0, 7.0, 10.0, 10.0, 13.0});
    CHECK(arrivals::answers_of(std::vector<double>(5, 0.0), server).batches == 3);
    // A request that comes when a batch has begun goes into the next one, even if it had room.
    CHECK(taken({0.0, 0.5}) == Seconds{7.0, 9.5});
    // If one comes behind it in its 7 seconds, a batch has its results after 9.
    server.followed_seconds = 9.0;
    CHECK(taken({10.0, 17.0, 30.0}) == Seconds{7.0, 7.0, 7.0});
    CHECK(taken({10.0, 16.0, 30.0}) == Seconds{9.0, 7.0, 7.0});
    CHECK(taken({0.0, 0.0, 0.0, 0.0, 0.0}) == Seconds{9.0, 9.0, 12.0, 12.0, 13.0});
    // No batch has its results before the one in front of it.
    server.followed_seconds = 12.0;
    CHECK(taken({10.0, 13.0}) == Seconds{12.0, 9.0});
    // A chip that takes longer to take a batch than one alone takes.
    server = {.interval_seconds = 4.0, .alone_seconds = 2.0, .followed_seconds = 2.0, .batch = 1};
    CHECK(taken({0.0, 0.0}) == Seconds{2.0, 6.0});
}

TEST_CASE("No request has its result before a batch alone has, and load makes none quicker") {
    constexpr std::uint32_t seed = 6100;
    INFO("first seed " << seed);
    for (std::uint32_t number = 0; number < 12; ++number) {
        std::mt19937 random(seed + number);
        const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
        const Arrivals requests(seed + number);
        const double interval = 0.001 * (0.05 + uniform());
        const double alone = interval * (1.0 + 5.0 * uniform());
        const Server server{.interval_seconds = interval,
                            .alone_seconds = alone,
                            .followed_seconds = alone * (1.0 + (number % 2 == 0 ? 0.0 : uniform())),
                            .batch = 1 + static_cast<std::uint32_t>(random() % 300)};
        CAPTURE(seed + number, interval, alone, server.followed_seconds, server.batch);
        CHECK(server.capacity() == Approx(server.batch / interval));
        // A hundred times as long as an interval until the next request: each has the chip to itself.
        const auto lonely = requests.serve(server, 0.0001 / interval);
        CHECK(lonely->p50_seconds == Approx(server.alone_seconds));
        CHECK(lonely->p99_seconds == Approx(server.alone_seconds));
        CHECK(lonely->mean_batch == Approx(1.0).epsilon(0.001));
        double p50 = lonely->p50_seconds;
        double p99 = lonely->p99_seconds;
        for (const double load : {0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}) {
            CAPTURE(load);
            const auto served = requests.serve(server, load * server.capacity());
            REQUIRE(served);
            CHECK(served->p50_seconds >= server.alone_seconds);
            CHECK(served->p99_seconds >= served->p50_seconds);
            // Percentiles of 90,000 requests: a few thousandths of an interval are chance.
            CHECK(served->p50_seconds >= p50 - 0.01 * interval);
            CHECK(served->p99_seconds >= p99 - 0.01 * interval);
            p50 = served->p50_seconds;
            p99 = served->p99_seconds;
        }
        CHECK(p50 > lonely->p50_seconds + 0.4 * interval);
    }
}

TEST_CASE("The chip overlaps batches only where requests have their results sooner for it") {
    const Arrivals requests(8);
    const Server server{
        .interval_seconds = 0.0006, .alone_seconds = 0.001, .followed_seconds = 0.002, .batch = 50};
    const auto alike = [&](double rate) {
        return requests.serve(server, rate)->p99_seconds ==
               requests.serve(server.one_by_one(), rate)->p99_seconds;
    };
    CHECK(alike(1000.0));
    CHECK(alike(25000.0));  // half of the most requests one by one
    CHECK_FALSE(alike(49900.0));
    CHECK_FALSE(requests.serve(server.one_by_one(), 60000.0));
    CHECK(requests.serve(server, 60000.0)->p50_seconds >= 0.002);
    CHECK(server.capacity() == Approx(50 / 0.0006));
    // Overlapping that makes each batch longer is of no use.
    const Server slow{
        .interval_seconds = 0.002, .alone_seconds = 0.001, .followed_seconds = 0.002, .batch = 50};
    CHECK(slow.capacity() == Approx(50 / 0.001));
    CHECK(requests.serve(slow, 40000.0)->p99_seconds ==
          requests.serve(slow.one_by_one(), 40000.0)->p99_seconds);
}

TEST_CASE("The latency of a batch delays its requests, and no others") {
    // The waiting times are those of the queue whose server takes the interval, however long a batch is in
    // the chip.
    const Arrivals requests(7);
    const auto p99 = [&](double alone) {
        const Server server{
            .interval_seconds = 0.001, .alone_seconds = alone, .followed_seconds = alone, .batch = 1};
        return requests.serve(server, 500.0)->p99_seconds - alone;
    };
    CHECK(p99(0.004) == Approx(0.001 * (validate::response_time(0.5, 0.99) - 1.0)).epsilon(0.05));
    CHECK(p99(0.004) == Approx(p99(0.001)));
    CHECK(p99(0.1) == Approx(p99(0.001)));
    const Server server{
        .interval_seconds = 0.001, .alone_seconds = 0.004, .followed_seconds = 0.005, .batch = 1};
    CHECK_FALSE(requests.serve(server, 1000.0));
    CHECK(requests.most_within(server, 0.0039) == 0);
}

}  // namespace
