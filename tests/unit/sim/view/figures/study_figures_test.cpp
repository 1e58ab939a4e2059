// The metrics of every study, and the columns of `sim report --csv`, computed a second time. One without a
// row fails.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/study/sweep/metrics.h"
#include "sim/view/page/side_by_side.h"
#include "tests/support/csv.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/view/figures/answers.h"
#include "tests/unit/sim/view/figures/area.h"
#include "tests/unit/sim/view/figures/baselines.h"
#include "tests/unit/sim/view/figures/cases.h"
#include "tests/unit/sim/view/figures/cycles.h"
#include "tests/unit/sim/view/figures/energy.h"
#include "tests/unit/sim/view/figures/feeding.h"
#include "tests/unit/sim/view/figures/memory.h"
#include "tests/unit/sim/view/figures/requests.h"
#include "tests/unit/sim/view/figures/runs.h"

using namespace systole;
using figures::Expected;
using figures::Facts;
using figures::Json;

namespace {

using Compute = std::function<Expected(const Facts&)>;

Expected only_of_chip(const Facts& facts, const Expected& figure) {
    return facts.chip_computes() ? figure : Expected(nullptr);
}

Expected cycles(const Facts& facts) {
    return facts.record().cycles;
}

Expected rate(const Facts& facts) {
    return facts.inferences() == 0 ? Expected(nullptr) : only_of_chip(facts, figures::throughput(facts));
}

/// Seconds of a batch, from cycles of all or of one.
Expected latency(const Facts& facts, bool largest) {
    if (!facts.record().latency) return nullptr;
    const run::BatchLatency& times = *facts.record().latency;
    const double mean = static_cast<double>(times.sum) / static_cast<double>(facts.batches());
    return only_of_chip(facts, (largest ? static_cast<double>(times.largest) : mean) / facts.clock_hz());
}

Expected interval(const Facts& facts) {
    return only_of_chip(facts, figures::quotient(facts.seconds(), static_cast<double>(facts.batches())));
}

Expected achieved(const Facts& facts) {
    return only_of_chip(facts, 2.0 * static_cast<double>(facts.needed_macs()) / facts.seconds());
}

double peak(const Facts& facts) {
    return 2.0 * static_cast<double>(facts.rows() * facts.columns()) * facts.clock_hz();
}

Expected joules_each(const Facts& facts) {
    if (!figures::has_energy(facts) || facts.inferences() == 0) return nullptr;
    return only_of_chip(facts, figures::run_joules(facts).all() / static_cast<double>(facts.inferences()));
}

Expected watts(const Facts& facts) {
    if (!figures::has_energy(facts)) return nullptr;
    return figures::run_joules(facts).all() / facts.seconds();
}

Expected of_requests(const Facts& facts, const char* key) {
    const Json requests = figures::requests(facts, figures::Place({})).value;
    return requests.is_null() ? Expected(nullptr) : Expected(requests.at(key));
}

Expected times_1000(const Expected& seconds) {
    return seconds.value.is_null() ? seconds : Expected(1e3 * seconds.value.get<double>());
}

Expected of_feeding(const Facts& facts, const char* key, double factor) {
    const Json feeding = figures::feeding(facts, figures::Place({})).value;
    return feeding.is_null() ? Expected(nullptr) : Expected(factor * feeding.at(key).get<double>());
}

const std::map<std::string, Compute>& metrics() {
    static const std::map<std::string, Compute> rows{
        {"cycles", cycles},
        {"latency_ms", [](const Facts& facts) { return times_1000(latency(facts, false)); }},
        {"latency_max_ms", [](const Facts& facts) { return times_1000(latency(facts, true)); }},
        {"interval_ms", [](const Facts& facts) { return times_1000(interval(facts)); }},
        {"inferences_per_second", rate},
        {"host_share",
         [](const Facts& facts) {
             const auto of_host = static_cast<double>(facts.sum_of_host_macs());
             return of_host > 0.0 ? Expected(of_host / figures::macs_of_network(facts)) : Expected(nullptr);
         }},
        {"peak_share",
         [](const Facts& facts) {
             const Expected done = achieved(facts);
             return done.value.is_null() ? done : Expected(done.value.get<double>() / peak(facts));
         }},
        {"fill",
         [](const Facts& facts) {
             const figures::BoundCycles bounds = figures::bounds_of(facts);
             return figures::quotient(static_cast<double>(bounds.macs), static_cast<double>(bounds.array));
         }},
        {"watts", watts},
        {"joules_per_inference", joules_each},
        {"p99_ms", [](const Facts& facts) { return of_requests(facts, "p99_ms"); }},
        {"requests_within_limit", [](const Facts& facts) { return of_requests(facts, "most_per_second"); }},
        {"area_mm2",
         [](const Facts& facts) {
             return facts.has("energy") ? Expected(figures::area_of_die(facts).mm2) : Expected(nullptr);
         }},
    };
    return rows;
}

Expected share_of_run(const Facts& facts, const char* counter) {
    return static_cast<double>(facts.count(counter)) / static_cast<double>(facts.record().cycles);
}

/// A total of the run, over its inferences.
Expected each(const Facts& facts, double total) {
    return total / static_cast<double>(facts.inferences());
}

/// The columns of reports with different numbers of inferences.
const std::map<std::string, Compute>& columns() {
    static const std::map<std::string, Compute> rows{
        {"inferences", [](const Facts& facts) { return Expected(facts.inferences()); }},
        {"cycles_an_inference",
         [](const Facts& facts) { return each(facts, static_cast<double>(facts.record().cycles)); }},
        {"time_an_inference", [](const Facts& facts) { return each(facts, facts.seconds()); }},
        {"throughput", rate},
        {"latency", [](const Facts& facts) { return latency(facts, false); }},
        {"latency_largest", [](const Facts& facts) { return latency(facts, true); }},
        {"a_batch_every", interval},
        {"performance", achieved},
        {"peak", [](const Facts& facts) { return Expected(peak(facts)); }},
        {"array_active", [](const Facts& facts) { return share_of_run(facts, "matrix_unit.active_cycles"); }},
        {"weight_stall",
         [](const Facts& facts) { return share_of_run(facts, "matrix_unit.weight_stall_cycles"); }},
        {"weight_shift",
         [](const Facts& facts) { return share_of_run(facts, "matrix_unit.weight_shift_cycles"); }},
        {"non-matrix",
         [](const Facts& facts) { return share_of_run(facts, "matrix_unit.non_matrix_cycles"); }},
        {"weight_bytes_an_inference",
         [](const Facts& facts) {
             return each(facts, static_cast<double>(facts.count("weight_fifo.bytes")));
         }},
        {"unified_buffer_peak",
         [](const Facts& facts) {
             const auto held =
                 figures::most_held(facts, facts.record().occupancy->values.in("unified_buffer"));
             return Expected(*std::max_element(held.begin(), held.end()) * facts.rows());
         }},
        {"step_of_the_chip", [](const Facts& facts) { return of_feeding(facts, "chip_ms", 1e-3); }},
        {"step_of_the_host", [](const Facts& facts) { return of_feeding(facts, "host_ms", 1e-3); }},
        {"wait_for_input", [](const Facts& facts) { return of_feeding(facts, "wait_ms", 1e-3); }},
        {"gap_a_step", [](const Facts& facts) { return of_feeding(facts, "gap_ms", 1e-3); }},
        {"step_with_host", [](const Facts& facts) { return of_feeding(facts, "step_ms", 1e-3); }},
        {"input_share", [](const Facts& facts) { return of_feeding(facts, "input_share", 1.0); }},
        {"busy_share", [](const Facts& facts) { return of_feeding(facts, "busy_share", 1.0); }},
        {"examples_a_second",
         [](const Facts& facts) { return of_feeding(facts, "examples_per_second", 1.0); }},
        {"energy_an_inference", joules_each},
        {"power", watts},
        {"accuracy", [](const Facts& facts) { return figures::share_right(facts, false); }},
    };
    return rows;
}

}  // namespace

TEST_CASE("Every metric of studies is what the documents say", "[figures]") {
    const sweep::Metrics all({}, "the test");
    for (const auto& [given, finished] : figures::finished_cases()) {
        INFO(given.name);
        const Facts facts = finished.facts();
        const std::vector<std::optional<double>> values = all.values_of(facts.report());
        REQUIRE(values.size() == all.all().size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string& name = all.all()[i].name;
            INFO(name);
            const auto row = metrics().find(name);
            if (row == metrics().end()) {
                FAIL_CHECK("no row says what the metric means");
                continue;
            }
            const Json expected = row->second(facts).value;
            CAPTURE(expected.dump(), values[i].value_or(-1.0));
            CHECK(figures::Table::is_same(values[i] ? Json(*values[i]) : Json(),
                                          expected.is_null() ? expected : Json(expected.get<double>())));
        }
    }
    std::set<std::string> known;
    for (const sweep::Metric& metric : all.all()) known.insert(metric.name);
    for (const auto& [name, row] : metrics()) {
        INFO(name);
        CHECK(known.contains(name));
    }
}

TEST_CASE("docs/studies.md has every metric, with its unit and its formula", "[figures]") {
    const std::string page = tests::text_in(std::filesystem::path(tests::source_dir()) / "docs/studies.md");
    for (const sweep::Metric& metric : sweep::common_metrics()) {
        INFO(metric.name);
        const std::string better = metric.better == sweep::Better::Lower ? "lower" : "higher";
        const std::string row = "| `" + metric.name + "` | " + (metric.unit == "mm2" ? "mm²" : metric.unit) +
                                (metric.unit.empty() ? "" : " ") + "| `" + metric.formula + "`";
        const std::size_t begin = page.find(row);
        CHECK(begin != std::string::npos);
        if (begin == std::string::npos) continue;
        const std::string line = page.substr(begin, page.find('\n', begin) - begin);
        CHECK(line.ends_with("| " + better + " |"));
    }
}

TEST_CASE("Every column of reports as CSV is a figure of its report", "[figures]") {
    std::vector<page::NamedReport> reports;
    std::vector<Facts> facts;
    for (const auto& [given, finished] : figures::finished_cases()) {
        if (finished.record.program.inferences == 0) continue;
        facts.push_back(finished.facts());
        reports.push_back({given.name, facts.back().report()});
    }
    constexpr std::size_t against = 1;
    const page::SideBySide compared = page::side_by_side(reports, against);
    std::vector<std::vector<std::string>> table;
    std::istringstream lines(page::to_csv(compared));
    for (std::string line; std::getline(lines, line);) table.push_back(tests::csv_cells(line));
    REQUIRE(table.size() == reports.size() + 1);
    const std::vector<std::string>& titles = table.front();
    REQUIRE(titles[0] == "report");
    REQUIRE(titles[1] == "model");
    std::set<std::string> used;
    const auto expected_at = [&](const std::string& title, const Facts& of) -> std::optional<Json> {
        const auto row = columns().find(title);
        if (row != columns().end()) return row->second(of).value;
        const std::string speedup = "least_speedup_over_";
        if (title.starts_with(speedup)) {
            for (const Json& baseline : of.files().baselines) {
                if (baseline.at("name") != title.substr(speedup.size())) continue;
                if (!figures::is_compared(of)) return Json();
                return Json(figures::with_host(of) / figures::at_most(of, baseline, "fp32").rate);
            }
            return Json();
        }
        const bool is_time = title.starts_with("seconds of ");
        const std::string layer = is_time ? "seconds of " : "cycles of ";
        if (!title.starts_with(layer)) return std::nullopt;
        // Work of the host for a part of a layer may have the layer's name.
        std::optional<std::uint64_t> cycles;
        for (const run::Tag tag : of.tags()) {
            const std::string name =
                tag == 0 ? "(outside layers)" : of.record().program.layers[tag - 1U].name;
            if (name == title.substr(layer.size())) cycles = cycles.value_or(0) + of.cycles(tag);
        }
        const double clock = is_time ? 1e6 * of.record().spec.machine.clock_mhz : 1.0;
        if (cycles) return each(of, static_cast<double>(*cycles) / clock).value;
        return Json();
    };
    const std::set<std::string> shares{"array_active", "weight_stall", "weight_shift", "non-matrix",
                                       "accuracy",     "input_share",  "busy_share"};
    // The clocks of the cases differ: cycles have no difference, and layers have seconds.
    const bool same_clock = std::ranges::all_of(facts, [&](const Facts& of) {
        return of.record().spec.machine.clock_mhz == facts[0].record().spec.machine.clock_mhz;
    });
    REQUIRE_FALSE(same_clock);
    const auto number = [](const std::string& text) { return text.empty() ? Json() : Json(std::stod(text)); };
    for (std::size_t column = 2; column < titles.size(); ++column) {
        std::string title = titles[column];
        CAPTURE(title);
        const std::string difference = "_difference";
        const bool is_difference = title.ends_with(difference);
        if (is_difference) title.resize(title.size() - difference.size());
        const bool is_key = title.starts_with("run.") || title.starts_with("machine.");
        if (is_key) continue;  // the configuration as it is
        for (std::size_t i = 0; i < reports.size(); ++i) {
            INFO(reports[i].name);
            auto expected = expected_at(title, facts[i]);
            if (!expected) {
                FAIL_CHECK("no row says what the column means");
                break;
            }
            used.insert(title);
            if (is_difference) {
                const Json reference = *expected_at(title, facts[against]);
                const bool is_share = shares.contains(title);
                const bool is_known = !expected->is_null() && !reference.is_null() &&
                                      title != "cycles_an_inference" && (is_share || reference != 0.0);
                if (!is_known) {
                    expected = Json();
                } else if (is_share) {
                    expected = Json(expected->get<double>() - reference.get<double>());
                } else {
                    expected = Json(expected->get<double>() / reference.get<double>() - 1.0);
                }
            }
            CAPTURE(table[i + 1][column], expected->dump());
            const Json wanted = expected->is_null() ? *expected : Json(expected->get<double>());
            CHECK(figures::Table::is_same(number(table[i + 1][column]), wanted, is_difference ? 1.0 : 0.0));
        }
    }
    for (const auto& [title, row] : columns()) {
        INFO(title);
        CHECK(used.contains(title));
    }
}
