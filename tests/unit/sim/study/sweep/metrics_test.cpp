#include "sim/study/sweep/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace systole;
using ReportJson = nlohmann::ordered_json;
using sweep::Metrics;

namespace {

ReportJson report() {
    return ReportJson::parse(R"({"cycles": 100, "interval_ms": 2.0, "latency_ms": 3.5,
        "latency_max_ms": 4.0, "inferences_per_second": 50,
        "tops": {"achieved": 2, "peak": 8}, "bounds": {"fill": null},
        "area": null, "requests": null, "host_share": null, "energy": {"watts": 4, "joules_per_inference": 0.5},
        "layers": [{"name": "a", "cycles": 30}, {"name": "b/c", "cycles": 70}],
        "comparison": [{"baseline": "k80", "speedup": 3}], "machine": "tpu", "timing_only": true,
        "configuration": {"run": {"batch": 8}, "machine": {"matrix_unit": {"rows": 256}}}})");
}

std::size_t index_of(const Metrics& metrics, const std::string& name) {
    const auto found = std::ranges::find(metrics.all(), name, &sweep::Metric::name);
    REQUIRE(found != metrics.all().end());
    return static_cast<std::size_t>(found - metrics.all().begin());
}

std::optional<double> metric(const Metrics& metrics, const std::string& name) {
    return metrics.values_of(report()).at(index_of(metrics, name));
}

TEST_CASE("Metrics are computed from a report, and what has no value is absent") {
    const Metrics metrics({{"twice", "2 * later"},
                           {"later", "inferences_per_second / machine.matrix_unit.rows"},
                           {"of_batch", "batch + timing_only"},
                           {"nothing", "bounds.fill + 1"},
                           {"infinite", "1 / (cycles - 100)"}},
                          "s.json");
    CHECK(metric(metrics, "cycles") == 100.0);
    CHECK(metric(metrics, "latency_ms") == 3.5);
    CHECK(metric(metrics, "latency_max_ms") == 4.0);
    CHECK(metric(metrics, "interval_ms") == 2.0);
    CHECK(metric(metrics, "peak_share") == 0.25);
    CHECK_FALSE(metric(metrics, "fill"));
    CHECK_FALSE(metric(metrics, "area_mm2"));  // the machine has none
    CHECK(metric(metrics, "later") == 50.0 / 256.0);
    CHECK(metric(metrics, "twice") == 100.0 / 256.0);
    CHECK(metric(metrics, "of_batch") == 9.0);
    CHECK_FALSE(metric(metrics, "nothing"));
    CHECK_FALSE(metric(metrics, "infinite"));
    const Metrics ways({{"up", "max: cycles"}, {"down", "min:cycles"}, {"plain", "max(cycles, 1)"}},
                       "s.json");
    CHECK(ways.all()[index_of(ways, "up")].better == sweep::Better::Higher);
    CHECK(ways.all()[index_of(ways, "up")].formula == "cycles");
    CHECK(ways.all()[index_of(ways, "down")].better == sweep::Better::Lower);
    CHECK(ways.all()[index_of(ways, "plain")].better == sweep::Better::Neither);
    CHECK_FALSE(metrics.need_values());
    CHECK(Metrics({{"right", "100 * accuracy"}}, "s.json").need_values());
    CHECK(Metrics({{"first", "predictions.0"}}, "s.json").need_values());
}

TEST_CASE("A run that is not compared with its baselines has no value of a comparison") {
    ReportJson none = report();
    none["inferences_per_second"] = GENERATE(ReportJson(nullptr), ReportJson(50));
    none["comparison"] = ReportJson::array();
    none["configuration"]["baselines"] = {{{"name", "k80"}}};
    const Metrics metrics({{"x", "comparison.0.expected.speedup"}}, "s.json");
    CHECK_FALSE(metrics.values_of(none)[index_of(metrics, "x")]);
    const Metrics named({{"x", "comparison.k80.speedup"}}, "s.json");
    CHECK_FALSE(named.values_of(none)[index_of(named, "x")]);
    // Of a baseline that the run does not have, the question is wrong.
    for (const char* const path : {"comparison.k81.speedup", "comparison.1.speedup"}) {
        CAPTURE(path);
        CHECK_THROWS_WITH(Metrics({{"x", path}}, "s.json").values_of(none),
                          Catch::Contains("which is no path of report.json"));
    }
    // Without baselines, the question is wrong.
    none["configuration"]["baselines"] = ReportJson::array();
    CHECK_THROWS_WITH(metrics.values_of(none), Catch::Contains("which is no path of report.json"));
}

TEST_CASE("Metrics that cannot be computed are refused") {
    const auto refused = [](std::vector<sweep::Metric> own, const std::string& rule) {
        CHECK_THROWS_WITH(Metrics(std::move(own), "s.json").values_of(report()),
                          Catch::Contains("s.json: metrics.") && Catch::Contains(rule));
    };
    refused({{"x", "tops.peek"}},
            "x names tops.peek, which is no path of report.json; did you mean \"tops.peak\"?");
    refused({{"x", "machine + 1"}}, "no number");
    refused({{"x", "(1"}}, "missing parenthesis");
    refused({{"cycles", "1"}}, "there is a metric cycles");
    refused({{"a-b", "1"}}, "letters, digits and _");
    refused({{"a", "b"}, {"b", "a"}}, "leads back to itself");
    refused({{"a", "a + 1"}}, "leads back to itself");
}

}  // namespace
