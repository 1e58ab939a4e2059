#include "sim/view/arrivals/serve.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

#include "sim/study/validate/queue.h"

using namespace systole;
using arrivals::Arrivals;
using arrivals::Server;

namespace {

/// A chip that computes one batch after the other.
Server one_after_the_other(double seconds, std::uint32_t batch) {
    return {
        .interval_seconds = seconds, .alone_seconds = seconds, .latency_seconds = seconds, .batch = batch};
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

TEST_CASE("No request has its result before a batch alone has") {
    const Arrivals requests(6);
    for (const double interval : {0.0002, 0.0006, 0.001}) {
        for (const double shared : {0.001, 0.0014}) {
            const Server server{
                .interval_seconds = interval, .alone_seconds = 0.001, .latency_seconds = shared, .batch = 8};
            CHECK(server.capacity() == Approx(8 / interval));
            double before = 0.0;
            for (const double load : {0.00001, 0.001, 0.1, 0.5, 0.9}) {
                CAPTURE(interval, shared, load);
                const auto served = requests.serve(server, load * server.capacity());
                REQUIRE(served);
                CHECK(served->p50_seconds >= 0.001 - 1e-12);
                CHECK(served->p99_seconds >= served->p50_seconds);
                CHECK(served->p50_seconds >= 0.999 * before);
                before = served->p50_seconds;
            }
            const auto lonely = requests.serve(server, 0.01);
            CHECK(lonely->p50_seconds == Approx(0.001));
            CHECK(lonely->p99_seconds == Approx(0.001));
        }
    }
}

TEST_CASE(
    "A batch that shares the chip takes longer than one alone, and the next need not wait for its end") {
    const Arrivals requests(7);
    // Batches of one: at half the load of this chip, one alone would have more work than time.
    const Server server{
        .interval_seconds = 0.001, .alone_seconds = 0.004, .latency_seconds = 0.005, .batch = 1};
    const auto half = requests.serve(server, 500.0);
    REQUIRE(half);
    CHECK(half->p50_seconds >= 0.005);
    // The waiting times are those of the queue whose server takes the interval.
    CHECK(half->p99_seconds == Approx(0.004 + 0.001 * validate::response_time(0.5, 0.99)).epsilon(0.05));
    CHECK_FALSE(requests.serve(server, 1000.0));
    CHECK(requests.most_within(server, 0.0039) == 0);
}

}  // namespace
