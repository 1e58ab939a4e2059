#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/view/arrivals/serve.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

using namespace systole;

namespace {

TEST_CASE("The largest load within a limit is the least of three random streams", "[report]") {
    run::RunRecord record;
    record.spec.compiler.batch = 16;
    record.program.inferences = 160;
    record.spec.host_time = false;
    record.spec.arrivals = {.per_second = 0.0, .latency_limit_ms = 7.0, .seed = 1};
    const report::BatchSeconds batch{.interval = 0.0007,
                                     .latency = 0.002,
                                     .largest = 0.003,
                                     .alone = 0.001,
                                     .followed = 0.0012,
                                     .full_interval = 0.0008};
    const arrivals::Server server{
        .interval_seconds = 0.0008, .alone_seconds = 0.001, .followed_seconds = 0.0012, .batch = 16};
    std::vector<unsigned> thousandths;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        thousandths.push_back(arrivals::Arrivals(seed).most_within(server, 0.007));
    }
    const auto [least, most] = std::ranges::minmax(thousandths);
    REQUIRE(least < most);  // else the streams say the same
    const report::Json requests = report::requests_json(record, batch);
    CHECK(requests["most_per_second"].get<double>() == Approx(least / 1000.0 * server.capacity()));
    CHECK(requests["most_per_second_high"].get<double>() == Approx(most / 1000.0 * server.capacity()));
    CHECK(report::requests_text(requests).find("luckiest") != std::string::npos);

    // A limit of a second leaves all of the capacity.
    record.spec.arrivals.latency_limit_ms = 1000.0;
    const std::string text = report::requests_text(report::requests_json(record, batch), {.columns = 200});
    CHECK(text.find("99.9 % of the most; the limit does not") != std::string::npos);
}

TEST_CASE("The times of requests are those of batches, with the host's share", "[report]") {
    run::RunRecord record;
    record.spec.compiler.batch = 16;
    record.program.inferences = 160;
    record.spec.arrivals = {.per_second = 0.001, .latency_limit_ms = 0.0, .seed = 1};
    record.spec.machine.server.host_percent = machine::HostPercent{.typical = 25, .least = 10, .most = 50};
    const report::BatchSeconds batch{.interval = 0.0007,
                                     .latency = 0.002,
                                     .largest = 0.003,
                                     .alone = 0.001,
                                     .followed = 0.0012,
                                     .full_interval = 0.0008};
    const report::Json json = report::requests_json(record, batch);
    CHECK(json.at("p50_ms").get<double>() == Approx(1.25));
    CHECK(json.at("p99_ms").get<double>() == Approx(1.25));
    CHECK(json.at("interval_ms").get<double>() == Approx(1.0));
    CHECK(json.at("alone_ms").get<double>() == Approx(1.25));
    CHECK(json.at("latency_ms").get<double>() == Approx(1.5));

    // Fewer inferences than the batch asked for are one batch.
    record.program.inferences = 10;
    CHECK(report::requests_json(record, batch)["capacity_per_second"].get<double>() == Approx(10 / 0.0010));
}

}  // namespace
