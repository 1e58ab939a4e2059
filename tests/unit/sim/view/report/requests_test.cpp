#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/view/arrivals/serve.h"
#include "sim/view/report/report.h"

using namespace systole;

namespace {

TEST_CASE("The largest load within a limit is the least of three random streams", "[report]") {
    run::RunRecord record;
    record.spec.compiler.batch = 16;
    record.spec.host_time = false;
    record.spec.arrivals = {.per_second = 0.0, .latency_limit_ms = 7.0, .seed = 1};
    const double batch_seconds = 0.0008;
    const arrivals::Server server{.batch_seconds = batch_seconds, .batch = 16};
    std::vector<unsigned> thousandths;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        thousandths.push_back(arrivals::Arrivals(seed).most_within(server, 0.007));
    }
    const auto [least, most] = std::ranges::minmax(thousandths);
    REQUIRE(least < most);  // else the streams say the same
    const auto requests = report::make_requests(record, batch_seconds);
    REQUIRE(requests);
    CHECK(requests->most_per_second.value() == Approx(least / 1000.0 * server.capacity()));
    CHECK(requests->most_per_second_high.value() == Approx(most / 1000.0 * server.capacity()));
    CHECK_FALSE(requests->reaches_capacity);
    CHECK(report::requests_text(*requests).find("luckiest") != std::string::npos);

    // A limit of a second leaves all of the capacity.
    record.spec.arrivals.latency_limit_ms = 1000.0;
    CHECK(report::make_requests(record, batch_seconds)->reaches_capacity);
}

}  // namespace
