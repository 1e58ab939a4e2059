// Every figure of the report of a machine with tiles is computed a second time, as in
// report_figures_test.cpp; the laws of these figures hold for random programs; what belongs to an array is
// not there.
#include "tests/unit/sim/view/figures/tiles.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/execute/run.h"
#include "sim/study/explain/facts.h"
#include "sim/view/page/page.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_runs.h"
#include "tests/support/random_tiles/random_tiles.h"
#include "tests/unit/sim/view/figures/answers.h"
#include "tests/unit/sim/view/figures/baselines.h"
#include "tests/unit/sim/view/figures/cycles.h"
#include "tests/unit/sim/view/figures/energy.h"
#include "tests/unit/sim/view/figures/explanations.h"
#include "tests/unit/sim/view/figures/feeding.h"
#include "tests/unit/sim/view/figures/lines.h"
#include "tests/unit/sim/view/figures/requests.h"
#include "tests/unit/sim/view/figures/rows.h"
#include "tests/unit/sim/view/figures/runs.h"

using namespace systole;
using figures::Json;

namespace {

/// The rows of all machines, without those of an array and of what programs do not have; then those of tiles.
figures::Rows rows_with_tiles() {
    const std::vector<std::string_view> of_arrays{"matrix_unit",
                                                  "bounds",
                                                  "roofline",
                                                  "layers[].roofline",
                                                  "layers[].matrix_unit",
                                                  "layers[].bounds",
                                                  "layers[].weight_bytes",
                                                  "layers[].array_utilization",
                                                  "instruction_kinds",
                                                  "claim",
                                                  "simulator.gemm_seconds"};
    figures::Rows rows;
    for (figures::Rows (*of_topic)() :
         {figures::rows_of_runs, figures::rows_of_cycles, figures::rows_of_energy, figures::rows_of_baselines,
          figures::rows_of_requests, figures::rows_of_feeding, figures::rows_of_answers,
          figures::rows_of_explanations}) {
        for (figures::Row& row : of_topic()) {
            const bool is_of_networks = row.pattern.starts_with("batching.");
            if (!is_of_networks && std::ranges::find(of_arrays, row.pattern) == of_arrays.end()) {
                rows.push_back(std::move(row));
            }
        }
    }
    for (figures::Row& row : figures::rows_of_tiles()) rows.push_back(std::move(row));
    return rows;
}

run::RunRecord record_of(const tests::TileCase& random) {
    const tests::FreshSimulation simulation;
    run::RunSpec spec;
    spec.machine = random.machine;
    spec.program.emplace();
    spec.timing_only = true;
    spec.observed.occupancy = true;
    run::Prepared prepared;
    prepared.program = random.program;
    return run::simulate(spec, prepared);
}

std::uint64_t classes_of(const Json& unit) {
    std::uint64_t sum = 0;
    for (const char* const name : {"busy_cycles", "ring_stall_cycles", "sync_cycles", "idle_cycles"}) {
        sum += unit.at(name).get<std::uint64_t>();
    }
    return sum;
}

}  // namespace

TEST_CASE("Every figure of the report of a machine with tiles is what the documents say",
          "[figures][tiles]") {
    figures::Table table(rows_with_tiles());
    REQUIRE(figures::finished_tiles().size() == 3);
    for (const auto& [each, finished] : figures::finished_tiles()) {
        INFO(each.name);
        table.check(finished.facts());
    }
    CAPTURE(table.leaves());
    CHECK(table.leaves() > 500);
}

TEST_CASE("The report of a machine with tiles has no key of an array", "[figures][tiles]") {
    for (const auto& [each, finished] : figures::finished_tiles()) {
        INFO(each.name);
        const Json report = finished.facts().report();
        for (const char* const key : {"matrix_unit", "roofline", "claim"}) CHECK_FALSE(report.contains(key));
        for (const Json& layer : report.at("layers")) {
            CHECK_FALSE(layer.contains("matrix_unit"));
            CHECK_FALSE(layer.contains("roofline"));
        }
        CHECK_FALSE(report.at("memory").contains("unified_buffer_map"));
        for (const auto& [key, value] : report.at("memory").items()) {
            CHECK(
                (key == "over_time" || key.starts_with("narrow_memory_") || key.starts_with("wide_memory_")));
        }
        CHECK_FALSE(report.at("simulator").contains("gemm_seconds"));
        CHECK_FALSE(report.at("traffic").contains("weight_bytes"));
    }
}

TEST_CASE("The text of a machine with tiles divides their cycles", "[figures][tiles]") {
    const figures::Finished& finished = figures::finished_tiles().front().second;
    const Json& json = finished.report;
    terminal::Look look;
    look.columns = 120;  // no line of this text is longer
    const std::string text = report::to_text(json, finished.record, {}, look);
    const auto line = [&](const std::string& name, const std::string& key) {
        const auto cycles = json.at(Json::json_pointer("/tile_array/" + key)).get<std::uint64_t>();
        const std::string begin = name + " " + report::grouped(cycles) + " ";
        std::istringstream lines(text);
        bool is_found = false;
        for (std::string each; std::getline(lines, each);) {
            is_found = is_found || figures::one_blank(each).starts_with(begin);
        }
        INFO(begin);
        CHECK(is_found);
    };
    CHECK_THAT(text, Catch::Contains("\nTiles                     cycles    share\n"));
    line("tiles busy", "busy_cycles");
    line("ring stall", "ring_stall_cycles");
    line("sync", "sync_cycles");
    line("idle", "idle_cycles");
    line("multiply", "work/multiply_cycles");
    line("vector", "work/vector_cycles");
    CHECK_THAT(text, Catch::Contains("all lanes over the cycles that multiply"));
    CHECK_THAT(text, Catch::Contains("  busy  ring  sync  idle"));
    CHECK_THAT(text, Catch::Contains("\n  narrow memory"));
    for (const char* const word :
         {"Matrix unit", "array", "nified buffer", "FIFO", "weight memory", "cells"}) {
        INFO(word);
        CHECK(text.find(word) == std::string::npos);
    }
    const auto only = [&](const std::string& section) {
        return report::to_text(finished.report, finished.record, std::vector<std::string>{section});
    };
    CHECK(only("tile_array").starts_with("Tiles "));
    CHECK_THAT(only("matrix_unit"), Catch::Contains("no matrix_unit: the main unit of tiles is tile_array"));
    CHECK_THAT(only("area"), Catch::Contains("no area: it is not known for the units of tiles"));
    CHECK_THAT(only("claim"), Catch::Contains("no claim: the run names no baseline"));
}

TEST_CASE("The text has the first call and a later one, or says how to get it", "[figures][tiles]") {
    const auto text_of = [](const std::string& name, const std::string& section) {
        const auto each = std::ranges::find(figures::finished_tiles(), name,
                                            [](const auto& one) { return one.first.name; });
        terminal::Look look;
        look.columns = 150;  // no line of this text is longer
        return report::to_text(each->second.report, each->second.record, std::vector{section}, look);
    };
    const std::string once = text_of("three layers", "summary");
    CHECK_THAT(once, Catch::Contains("\n    warm                           -   give two inferences: the "
                                     "second call finds the parameters in the memory\n"));
    CHECK_THAT(once, Catch::Contains("(of each call, 3.7 us are the host's, haswell_e5_2699_v3; its link: "
                                     "0.37 GB/s in, 0.23 GB/s out)"));
    const std::string twice = text_of("two calls", "summary");
    CHECK_THAT(twice, Catch::Contains("   the second call\n"));
    CHECK_THAT(twice, Catch::Contains("(of each call, 7.5 us are the host's, k80; its link: "));
    const std::string energy = text_of("two calls", "energy");
    for (const char* const part : {"chip, static", "board", "tile array", "ring", "host interface",
                                   "host processor", "a cold call", "a warm call"}) {
        INFO(part);
        CHECK(energy.find(std::string("\n  ") + part + ' ') != std::string::npos);
    }
    CHECK_THAT(energy, Catch::Contains("chip, link, host and board"));
    CHECK_THAT(text_of("two calls", "claim"),
               Catch::StartsWith("At the edge: a call against an inference of other processors\n"));
}

TEST_CASE("The page takes the report of a machine with tiles, and names what it lacks", "[figures][tiles]") {
    const Json json = figures::finished_tiles().front().second.facts().report();
    CHECK(page::parse_report(json.dump(), "r.json") == json);
    const auto fails = [&](const char* pointer, const std::string& message) {
        Json without = json;
        const Json::json_pointer place(pointer);
        without.at(place.parent_pointer()).erase(place.back());
        CHECK_THROWS_WITH(page::parse_report(without.dump(), "r.json"), message);
    };
    fails("/tile_array", "r.json: tile_array is missing; it must be an object");
    fails("/tile_array/sync_cycles",
          "r.json: tile_array.sync_cycles is missing; it must be a whole number of at least 0");
    fails("/cycle_classes/classes", "r.json: cycle_classes.classes is missing; it must be a list");
    fails("/cycle_classes", "r.json: matrix_unit is missing; it must be an object");
    Json other = json;
    other["layers"][1].erase("tile_array");
    CHECK_THROWS_WITH(page::parse_report(other.dump(), "r.json"),
                      "r.json: layers[1].tile_array is missing; it must be an object");
    CHECK(page::to_html(std::vector<page::NamedReport>{{.name = "a", .report = json}}).size() > 100'000);
}

TEST_CASE("Cycles of random programs for tiles are in one class each, and no bound is above them",
          "[figures][tiles]") {
    for (std::uint64_t seed = 500; seed < 500 + tests::random_runs(40); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        const run::RunRecord record = record_of(tests::random_tiles(choices));
        const Json json = report::make_report(record);
        const std::uint64_t cycles = json.at("cycles");
        CHECK(classes_of(json.at("tile_array")) == cycles);
        std::uint64_t of_layers = 0;
        for (const Json& layer : json.at("layers")) {
            CHECK(classes_of(layer.at("tile_array")) == layer.at("cycles"));
            of_layers += layer.at("cycles").get<std::uint64_t>();
        }
        CHECK(of_layers == cycles);
        std::uint64_t of_kinds = 0;
        for (const Json& kind : json.at("instruction_kinds")) {
            of_kinds += kind.at("cycles").get<std::uint64_t>();
        }
        CHECK(of_kinds == cycles);
        const Json& work = json.at("tile_array").at("work");
        CHECK(json.at("tile_array").at("busy_cycles").get<std::uint64_t>() ==
              work.at("multiply_cycles").get<std::uint64_t>() +
                  work.at("vector_cycles").get<std::uint64_t>());
        for (const auto& [name, bound] : json.at("bounds").items()) {
            if (name == "ratio" || bound.is_null()) continue;
            INFO(name);
            CHECK(bound.get<double>() <= (name == "fill" ? 1.0 : static_cast<double>(cycles)));
        }
        for (const Json& path : json.at("paths")) {
            INFO(path.dump());
            CHECK((path.at("utilization").is_null() || path.at("utilization").get<double>() <= 1.0));
        }
        for (const char* const memory : {"narrow_memory", "wide_memory"}) {
            const Json& all = json.at("memory");
            const std::string name = memory;
            const auto used = all.at(name + (name == "narrow_memory" ? "_peak_bytes" : "_used_bytes"));
            CHECK(used.get<std::uint64_t>() <= all.at(name + "_bytes").get<std::uint64_t>());
        }
        CHECK_FALSE(report::to_text(json, record).empty());
    }
}

TEST_CASE("Each class of a main unit's cycles is a figure of the list, and their cycles are all",
          "[figures]") {
    for (const auto* const cases : {&figures::finished_cases(), &figures::finished_tiles()}) {
        for (const auto& [each, finished] : *cases) {
            INFO(each.name);
            const machine::MainUnit& main = *finished.record.main_unit().main;
            std::uint64_t cycles = 0;
            for (const machine::CycleClass& one : main.classes) {
                INFO(one.counter);
                const auto figure =
                    std::ranges::find(report::figures(), one.counter,
                                      [](const report::Figure& listed) { return listed.key(); });
                REQUIRE(figure != report::figures().end());
                CHECK(figure->name == one.name);
                CHECK(figure->line.part == report::Figure::Part::MainUnit);
                cycles += report::find_path(finished.report, one.counter)->get<std::uint64_t>();
            }
            CHECK(finished.report["cycles"] == cycles);
        }
    }
}

TEST_CASE("The causes of the tiles' cycles are all of them", "[figures][tiles]") {
    for (std::uint64_t seed = 700; seed < 700 + tests::random_runs(10); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        const run::RunRecord record = record_of(tests::random_tiles(choices));
        const explain::Simulation simulation = explain::facts_of(record);
        CHECK(simulation.run.cycles() == record.cycles);
        CHECK(simulation.run.active_cycles == record.counters.at("tile_array.work.multiply_cycles").value());
        std::uint64_t of_tags = 0;
        for (const explain::TagFacts& tag : simulation.tags) of_tags += tag.facts.cycles();
        CHECK(of_tags == record.cycles);
    }
}
