#include "sim/study/explain/cause.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/chip.h"
#include "tests/support/unit_descriptions.h"

using namespace systole;
using explain::Facts;

namespace {

const machine::MatrixUnitConfig array{.rows = 256, .columns = 256};

const std::vector<machine::UnitDescription>& units_of_tpu_v1() {
    static const std::vector<machine::UnitDescription> all = tests::descriptions_of(tests::tpu_v1());
    return all;
}

explain::Cause cause_of_name(std::string_view name) {
    for (const machine::UnitDescription& unit : units_of_tpu_v1()) {
        for (const machine::CycleCause& cause : unit.causes) {
            if (cause.name == name) return explain::Cause(cause);
        }
    }
    throw std::out_of_range("no cause " + std::string(name));
}

std::vector<std::string> names_of_causes(const Facts& facts) {
    std::vector<std::string> names;
    for (const explain::Cause cause : explain::causes_of(facts, units_of_tpu_v1()))
        names.push_back(cause->name);
    return names;
}

std::string main_cause(const Facts& facts) {
    return names_of_causes(facts).at(0);
}

std::string sentence_of(const Facts& facts, std::string_view kind,
                        const machine::MatrixUnitConfig& its = array) {
    return explain::sentence(facts, explain::causes_of(facts, units_of_tpu_v1()).at(0), {.kind = kind}, its);
}

}  // namespace

TEST_CASE("The main cause is the one with the most cycles", "[explain]") {
    Facts facts{.active_cycles = 200, .by_cause = {{"weight_stall", 888}, {"weight_shift", 256}}};
    facts.useful_macs = 200;
    CHECK(main_cause(facts) == "weight_stall");
    std::uint64_t most = 888;
    for (const char* const name :
         {"weight_shift", "accumulators", "activations", "input", "output_buffer", "vector_work", "setup",
          "ports", "issue", "sync", "host", "begin_and_end"}) {
        facts.by_cause[name] = ++most;
        CHECK(main_cause(facts) == name);
    }
    facts.active_cycles = 2000;  // all of them useful
    CHECK(main_cause(facts) == "useful_cells");
    facts.unused_macs = 300;  // most are not
    CHECK(main_cause(facts) == "unused_cells");
}

TEST_CASE("Of causes with equal cycles, the one described first is the main one", "[explain]") {
    const Facts facts{.by_cause = {{"accumulators", 1000}, {"activations", 1000}}};
    CHECK(names_of_causes(facts) == std::vector<std::string>{"activations", "accumulators"});
}

TEST_CASE("Causes with less than a twentieth of the cycles are left out", "[explain]") {
    Facts facts{.by_cause = {{"weight_stall", 900}, {"weight_shift", 50}, {"activations", 50}}};
    CHECK(names_of_causes(facts) == std::vector<std::string>{"weight_stall", "weight_shift", "activations"});
    facts.by_cause["weight_stall"] = 901;
    CHECK(names_of_causes(facts) == std::vector<std::string>{"weight_stall"});
    CHECK(names_of_causes(Facts{}).empty());
}

TEST_CASE("Active cycles are a cause only as the main one", "[explain]") {
    Facts facts{.active_cycles = 800, .by_cause = {{"activations", 200}}, .useful_macs = 3, .unused_macs = 5};
    CHECK(names_of_causes(facts) == std::vector<std::string>{"unused_cells", "activations"});
    facts.useful_macs = 6;
    CHECK(names_of_causes(facts) == std::vector<std::string>{"useful_cells", "activations"});
    facts.by_cause["activations"] = 900;
    CHECK(names_of_causes(facts) == std::vector<std::string>{"activations"});
}

TEST_CASE("Active cycles are divided into useful and unused ones, which sum to them", "[explain]") {
    const Facts facts{.active_cycles = 1001, .useful_macs = 1, .unused_macs = 2};
    const auto useful = cycles_of(cause_of_name("useful_cells"), facts);
    CHECK(useful == 334);
    CHECK(useful + cycles_of(cause_of_name("unused_cells"), facts) == 1001);
}

TEST_CASE("A weight-bound layer counts its cycles by tiles", "[explain]") {
    const Facts facts{.active_cycles = 2000,
                      .by_cause = {{"weight_stall", 8880}, {"weight_shift", 2560}},
                      .useful_macs = 1,
                      .fetched = {.tiles = 10}};
    CHECK(sentence_of(facts, "dense") ==
          "Weight-bound: 888 of 1,344 cycles per tile wait for weight memory (its rows take 200)");
    Facts joined = facts;
    joined.fetched.tiles = 0;
    CHECK(sentence_of(joined, "dense") == "Weight-bound: 66.1 % of its cycles wait for weight memory");
}

TEST_CASE("The sentence of a layer that underfills the array names the used part", "[explain]") {
    Facts facts{.active_cycles = 100,
                .useful_macs = 4,
                .unused_macs = 996,
                .fetched = {.tiles = 2,
                            .rows = 34,
                            .columns = 24,
                            .cells = 17 * 24,
                            .weights = 17 * 24,
                            .widest_columns = 12}};
    CHECK(sentence_of(facts, "convolution") ==
          "Underfills the array: 0.4 % of the cells work in an average active cycle, and an average tile "
          "fills 17 of 256 rows and 12 of 256 columns, all that its filters need");
    CHECK(sentence_of(facts, "dense").find("all that its outputs need") != std::string::npos);
    CHECK(sentence_of(facts, "").find("all that its") == std::string::npos);
    // 256 + 16 columns: the widest tile is full, and no number of filters follows from one tile.
    facts.fetched.columns = 272;
    facts.fetched.widest_columns = 256;
    const std::string wide = sentence_of(facts, "convolution");
    CHECK(wide.ends_with("136 of 256 columns"));
}

TEST_CASE("The used part is that of the array's own rows and columns", "[explain]") {
    Facts facts{.active_cycles = 100,
                .useful_macs = 4,
                .unused_macs = 996,
                .fetched = {.tiles = 2,
                            .rows = 34,
                            .columns = 80,
                            .cells = 17 * 80,
                            .weights = 17 * 80,
                            .widest_columns = 40}};
    const auto ends = [&](std::uint32_t rows, std::uint32_t columns) {
        const std::string text = sentence_of(facts, "dense", {.rows = rows, .columns = columns});
        return text.substr(text.find("fills 17"));
    };
    CHECK(ends(20, 64) == "fills 17 of 20 rows and 40 of 64 columns, all that its outputs need");
    CHECK(ends(20, 41) == "fills 17 of 20 rows and 40 of 41 columns, all that its outputs need");
    CHECK(ends(64, 40) == "fills 17 of 64 rows and 40 of 40 columns");
}

TEST_CASE("Tiles that are mostly zeros are not called full", "[explain]") {
    // A depthwise convolution: of 256 x 256 cells the diagonal carries weights.
    const Facts facts{.active_cycles = 100,
                      .useful_macs = 1,
                      .unused_macs = 255,
                      .fetched = {.tiles = 9,
                                  .rows = 9 * 256,
                                  .columns = 9 * 256,
                                  .cells = 9 * 65536,
                                  .weights = 9 * 256,
                                  .widest_columns = 256}};
    CHECK(sentence_of(facts, "depthwise_convolution") ==
          "Underfills the array: 0.4 % of the cells work in an average active cycle, and 0.4 % of a tile's "
          "cells hold a weight, as each channel has its own filter");
    // From half of the cells on, a tile is called as full as its rows and columns.
    Facts half = facts;
    half.fetched.weights = half.fetched.cells / 2;
    CHECK(sentence_of(half, "convolution") ==
          "Underfills the array: 0.4 % of the cells work in an average active cycle, and an average tile "
          "fills 256 of 256 rows and 256 of 256 columns");
    --half.fetched.weights;
    CHECK_THAT(sentence_of(half, "convolution"), Catch::Contains("50.0 % of a tile's cells hold a weight"));
}

TEST_CASE("Every cause has a sentence with its figure", "[explain]") {
    const Facts facts{.active_cycles = 10,
                      .by_cause = {{"weight_stall", 11},
                                   {"weight_shift", 12},
                                   {"activations", 3},
                                   {"input", 5},
                                   {"accumulators", 6},
                                   {"output_buffer", 7},
                                   {"vector_work", 8},
                                   {"setup", 9},
                                   {"ports", 1},
                                   {"issue", 13},
                                   {"sync", 4},
                                   {"host", 2},
                                   {"begin_and_end", 9}},
                      .useful_macs = 7,
                      .unused_macs = 3};
    const auto says = [&](std::string_view cause, const std::string& part) {
        const std::string text = explain::sentence(facts, cause_of_name(cause), {.kind = "dense"}, array);
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
    };
    says("weight_stall", "Weight-bound: 11.0 %");
    says("weight_shift", "Shift-bound: 12.0 %");
    says("activations", "Activation-bound: in 3.0 %");
    says("input", "Host-bound: in 5.0 %");
    says("accumulators", "Accumulator-bound: in 6.0 %");
    says("output_buffer", "Host-bound: in 7.0 %");
    says("vector_work", "Bound by the activation unit: in 8.0 %");
    says("setup", "Setup-bound: in 9.0 %");
    says("ports", "Port-bound: in 1.0 %");
    says("issue", "Issue-bound: in 13.0 %");
    says("sync", "Bound by synchronization: in 4.0 %");
    says("host", "Host-bound: in 2.0 % of its cycles the array waits for layers that the host computes");
    says("begin_and_end", "9.0 % of its cycles are before the first or after the last rows");
    says("unused_cells", "70.0 % of the cells work");
    says("useful_cells", "active in 10.0 % of its cycles, with 70.0 %");
}

TEST_CASE("A consequence names the speed of the layer and of the run", "[explain]") {
    CHECK(explain::consequence("4x the batch", 3.14, 2.2) ==
          "4x the batch would run it at 3.14x the speed (the run at 2.20x)");
    CHECK(explain::consequence("2x the clock", 1.004, {}) == "2x the clock would leave it as it is");
    CHECK(explain::consequence("2x the clock", 0.994, 2.0) ==
          "2x the clock would make it slower, at 0.99x the speed (the run at 2.00x)");
    CHECK(explain::consequence("a smaller array", 1.06, 0.81) ==
          "a smaller array would run it at 1.06x the speed (the run slower, at 0.81x)");
    CHECK(explain::consequence("a smaller array", 0.5, {}) ==
          "a smaller array would make it slower, at 0.50x the speed");
    CHECK(explain::consequence("X", {}, 1.5) == "X would leave nothing of it (the run at 1.50x)");
}
