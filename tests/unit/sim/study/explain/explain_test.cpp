#include "sim/study/explain/explain.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/study/explain/accumulator_change.h"
#include "sim/study/explain/cause.h"
#include "tests/support/unit_descriptions.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using explain::Answer;
using explain::Facts;
using explain::Simulation;

namespace {

run::RunConfig any_run() {
    run::RunConfig config;
    config.machine = tests::shipped_machine("tpu_v1.json");
    config.model = "net.h5";
    config.batch = 8;
    return config;
}

const std::vector<machine::UnitDescription>& tpu_v1_units() {
    static const std::vector<machine::UnitDescription> all =
        tests::descriptions_of(machine::read_machine(tests::shipped_machine("tpu_v1.json")));
    return all;
}

Facts stalled(std::uint64_t stall) {
    return {.active_cycles = 100,
            .by_cause = {{"weight_stall", stall}},
            .useful_macs = 1,
            .fetched = {.tiles = 1}};
}

Facts idle(std::uint64_t cycles) {
    return {.by_cause = {{"begin_and_end", cycles}}};
}

Simulation simulation_of(Facts outside, Facts layer, std::uint64_t inferences = 8) {
    Facts run = layer;
    for (const auto& [cause, cycles] : outside.by_cause) run.by_cause[cause] += cycles;
    return {.inferences = inferences,
            .run = run,
            .tags = {{"(outside layers)", "", outside}, {"fc", "dense", layer}},
            .units = tpu_v1_units()};
}

/// Answers by the settings of the run; the first run is the base.
class Table {
public:
    explicit Table(Simulation base) : base_(std::move(base)) {}

    void with(std::string key, Answer answer) { answers_.emplace_back(std::move(key), std::move(answer)); }

    std::vector<Answer> operator()(std::span<const run::RunConfig> runs) {
        std::vector<Answer> found;
        for (const run::RunConfig& config : runs) {
            if (asked_++ == 0) {
                found.push_back({base_, {}});
            } else {
                found.push_back(answer_of(config));
            }
        }
        return found;
    }

    std::size_t asked() const { return asked_; }

private:
    Answer answer_of(const run::RunConfig& config) const {
        for (const auto& [key, answer] : answers_) {
            if (key == "batch" && config.batch != any_run().batch) return answer;
            for (const run::Setting& setting : config.machine_settings) {
                if (setting.key == key) return answer;
            }
        }
        return {base_, {}};
    }

    Simulation base_;
    std::vector<std::pair<std::string, Answer>> answers_;
    std::size_t asked_ = 0;
};

}  // namespace

TEST_CASE("Each layer's sentence has the what-if of its cause, with simulated figures", "[explain]") {
    Table table(simulation_of(idle(200), stalled(900)));
    table.with("weight_memory.bandwidth_gb_per_s", {simulation_of(idle(200), stalled(100)), {}});
    table.with("host_interface.read_gb_per_s", {simulation_of(idle(50), stalled(900)), {}});
    const report::Explanations why = explain::explain(any_run(), std::ref(table));

    REQUIRE(why.layers.size() == 2);
    CHECK(why.layers[1].name == "fc");
    CHECK(why.layers[1].cycles == 1000);
    CHECK(why.layers[1].share == Approx(1000.0 / 1200.0));
    CHECK(why.layers[1].speedup == Approx(1000.0 / 200.0));
    CHECK(why.layers[1].text ==
          "Weight-bound: 900 of 1,000 cycles per tile wait for weight memory (its rows take 100); 4x the "
          "weight "
          "bandwidth would run it at 5.00x the speed (the run at 3.00x).");
    // Of the candidates against the cycles at the end, the one that helps.
    CHECK(why.layers[0].text ==
          "100.0 % of its cycles are before the first or after the last rows of the program; 4x the host's "
          "bandwidth would run it at 4.00x the speed (the run at 1.14x).");
    CHECK(why.run.text ==
          "Weight-bound: 900 of 1,200 cycles per tile wait for weight memory (its rows take 100); 4x the "
          "weight "
          "bandwidth would run it at 3.00x the speed.");
    // Base, bandwidth, and two against the cycles at the end; none twice.
    CHECK(table.asked() == 4);
    REQUIRE(why.what_ifs.size() == 3);
    CHECK(why.what_ifs[0].settings ==
          std::vector<std::string>{"machine.weight_memory.bandwidth_gb_per_s=130.5"});
    CHECK(why.what_ifs[0].speedup == Approx(3.0));
}

TEST_CASE("A change against another cause than the main one is named only if it helps", "[explain]") {
    Facts layer = stalled(600);
    layer.by_cause["activations"] = 300;
    Facts slower = layer;
    slower.by_cause["weight_stall"] = 800;
    Table table(simulation_of({}, layer));  // nothing changes with other changes
    table.with("weight_memory.bandwidth_gb_per_s", {simulation_of({}, slower), {}});
    const std::string unhelpful = explain::explain(any_run(), std::ref(table)).layers[1].text;
    CHECK_THAT(unhelpful,
               Catch::Contains("4x the weight bandwidth would make it slower, at 0.83x the speed"));
    Facts quicker = layer;
    quicker.by_cause["activations"] = 100;
    Table helping(simulation_of({}, layer));
    helping.with("weight_memory.bandwidth_gb_per_s", {simulation_of({}, slower), {}});
    helping.with("clock_mhz", {simulation_of({}, quicker), {}});
    const std::string text = explain::explain(any_run(), std::ref(helping)).layers[1].text;
    CHECK_THAT(text, Catch::Contains("2x the clock would run it at 1.25x the speed"));
}

TEST_CASE("An explanation names the main cause, and the one that its change is against, each once",
          "[explain]") {
    Facts layer = stalled(600);
    layer.by_cause["activations"] = 300;
    Facts less_stalled = layer;
    less_stalled.by_cause["weight_stall"] = 100;
    Facts less_waiting = layer;
    less_waiting.by_cause["activations"] = 100;
    const auto sentence_with = [&](const std::string& key, const Facts& changed) {
        Table table(simulation_of({}, layer));
        table.with(key, {simulation_of({}, changed), {}});
        return explain::explain(any_run(), std::ref(table)).layers[1].sentence;
    };
    const machine::MatrixUnitConfig array =
        machine::read_machine(tests::shipped_machine("tpu_v1.json")).matrix_unit;
    const std::vector<explain::Cause> causes = explain::causes_of(layer, tpu_v1_units());
    REQUIRE(causes.size() >= 2);
    const auto said = [&](explain::Cause cause) {
        return explain::sentence(layer, cause, {.kind = "dense"}, array);
    };
    CHECK(sentence_with("weight_memory.bandwidth_gb_per_s", less_stalled) == said(causes[0]));
    CHECK(sentence_with("clock_mhz", less_waiting) == said(causes[0]) + ". " + said(causes[1]));
    // No change helps, and that against the main cause cannot run.
    Table table(simulation_of({}, layer));
    table.with("weight_memory.bandwidth_gb_per_s", {std::nullopt, "no such memory"});
    CHECK(explain::explain(any_run(), std::ref(table)).layers[1].sentence == said(causes[0]));
}

TEST_CASE("A larger batch is compared by inference", "[explain]") {
    const Facts shifting{
        .active_cycles = 8, .by_cause = {{"weight_shift", 256}}, .useful_macs = 1, .fetched = {.tiles = 1}};
    const Facts less{
        .active_cycles = 32, .by_cause = {{"weight_shift", 256}}, .useful_macs = 1, .fetched = {.tiles = 1}};
    Table table(simulation_of({}, shifting, 8));
    table.with("batch", {simulation_of({}, less, 32), {}});
    const report::Explanations why = explain::explain(any_run(), std::ref(table));
    CHECK(why.layers[1].speedup == Approx((264.0 / 8.0) / (288.0 / 32.0)));
    CHECK(why.what_ifs.at(0).settings == std::vector<std::string>{"batch=32"});
}

TEST_CASE("A faster clock is compared by time, not by cycles", "[explain]") {
    const Facts computing{.active_cycles = 1000, .useful_macs = 1};
    const Facts more_cycles{.active_cycles = 1000, .by_cause = {{"weight_stall", 600}}, .useful_macs = 1};
    Simulation base = simulation_of({}, computing);
    base.clock_hz = 700;
    Simulation faster = simulation_of({}, more_cycles);
    faster.clock_hz = 1400;
    Table table(base);
    table.with("clock_mhz", {faster, {}});
    const report::Explanations why = explain::explain(any_run(), std::ref(table));
    CHECK(why.run.speedup == Approx(1000.0 * 2.0 / 1600.0));
}

TEST_CASE("A change that cannot run has no figure, but a reason", "[explain]") {
    Table table(simulation_of({}, stalled(900)));
    table.with("weight_memory.bandwidth_gb_per_s", {std::nullopt, "no such memory"});
    const report::Explanations why = explain::explain(any_run(), std::ref(table));
    CHECK(why.layers[1].text ==
          "Weight-bound: 900 of 1,000 cycles per tile wait for weight memory (its rows take 100).");
    CHECK_FALSE(why.layers[1].what_if);
    REQUIRE(why.what_ifs.size() == 1);
    CHECK_FALSE(why.what_ifs[0].speedup);
    CHECK(why.what_ifs[0].error == "no such memory");
    CHECK(report::to_text(why).find("cannot run: no such memory") != std::string::npos);
}

TEST_CASE("A layer without cycles after a change has no speedup", "[explain]") {
    Table table(simulation_of(idle(200), stalled(900)));
    table.with("host_interface.read_gb_per_s", {simulation_of({}, stalled(900)), {}});
    const report::Explanations why = explain::explain(any_run(), std::ref(table));
    CHECK_FALSE(why.layers[0].speedup);
    CHECK(why.layers[0].text.find("4x the host's bandwidth would leave nothing of it (the run at 1.20x)") !=
          std::string::npos);
    const nlohmann::ordered_json json = to_json(why.layers[0], why.what_ifs);
    CHECK(json["what_if"]["speedup"].is_null());
}

TEST_CASE("The text of explanations keeps its width", "[explain]") {
    Table table(simulation_of(idle(200), stalled(900)));
    const report::Explanations why = explain::explain(any_run(), std::ref(table));
    const auto width = GENERATE(std::size_t{60}, std::size_t{80}, std::size_t{120});
    const std::string text = report::to_text(why, terminal::Look{.colours = false, .columns = width});
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    CHECK(longest <= width);
    CHECK(longest > width / 2);
}

TEST_CASE("An accumulator change of the run is undone, and a slower one says why", "[explain]") {
    run::RunConfig config = any_run();
    config.machine_settings.push_back({"accumulators.rows", 16384});
    Table table(simulation_of(idle(1200), stalled(900)));
    table.with("accumulators.rows", {simulation_of(idle(2000), stalled(900)), {}});
    const report::Explanations why = explain::explain(config, std::ref(table));
    const std::string change = "the 4,096 accumulators of the machine file";
    const auto undone = std::ranges::find(why.what_ifs, change, &report::WhatIf::change);
    REQUIRE(undone != why.what_ifs.end());
    CHECK(undone->settings == std::vector<std::string>{"machine.accumulators.rows=4096"});
    CHECK(undone->remark.find("each piece fetches the weights again") != std::string::npos);
    CHECK(report::to_text(why).find("slower, because") != std::string::npos);
    CHECK(to_json(why)["what_ifs"].back()["remark"] == undone->remark);

    config.machine_settings.back().value = 4096;  // as in the file
    const report::Explanations same = explain::explain(config, Table(simulation_of({}, stalled(900))));
    CHECK(std::ranges::find(same.what_ifs, change, &report::WhatIf::change) == same.what_ifs.end());
}

TEST_CASE("A slower change of the accumulators has a reason, other changes have none", "[explain]") {
    const explain::WhatIf more{"4x the accumulators", {{"machine.accumulators.rows", 16384}}};
    CHECK(explain::why_slower(more, 4096, 0.97).find("until the whole last piece is activated") !=
          std::string::npos);
    CHECK(explain::why_slower(more, 4096, 1.03).empty());
    CHECK(explain::why_slower(more, 4096, 0.999).empty());
    CHECK(explain::why_slower(more, 4096, std::nullopt).empty());
    const explain::WhatIf without{"the 4,096 accumulators of the machine file",
                                  {{"machine.accumulators.rows", 4096}}};
    CHECK(explain::warning(without, 16384, 1.02) ==
          "The change to 16,384 accumulators makes the run slower, because a layer is computed in pieces of "
          "a part of "
          "the accumulators; larger pieces fetch weights less often, but the next layer waits until the "
          "whole last "
          "piece is activated: the 4,096 accumulators of the machine file would run it at 1.02x the speed.");
    CHECK(explain::warning(without, 1024, 2.0).find("each piece fetches the weights again") !=
          std::string::npos);
    CHECK(explain::warning(without, 16384, 1.001).empty());
    CHECK(explain::why_slower({"2x the clock", {{"machine.clock_mhz", 1400}}}, 4096, 0.5).empty());
}

TEST_CASE("Of many layers, the text explains ten, or all", "[explain]") {
    Simulation base = simulation_of(idle(200), stalled(900));
    for (unsigned i = 0; i < 20; ++i) {
        base.tags.push_back({.name = "layer_" + std::to_string(i), .kind = "dense", .facts = stalled(i)});
    }
    Table table(base);
    const report::Explanations why = explain::explain(any_run(), std::ref(table));
    const std::string text = report::to_text(why);
    CHECK(text.find("layer_19 (") != std::string::npos);
    CHECK(text.find("layer_5 (") == std::string::npos);
    CHECK(text.find("\n12 other layers (") != std::string::npos);
    CHECK(text.find("--all explains each") != std::string::npos);
    const std::string all = report::to_text(why, {}, true);
    CHECK(all.find("layer_5 (") != std::string::npos);
    CHECK(all.find("other layers") == std::string::npos);
}
