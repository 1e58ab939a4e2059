#include "sim/study/explain/cause.h"

#include <catch2/catch.hpp>
#include <string>

using namespace systole;
using explain::Cause;
using explain::cause_of;
using explain::Facts;

namespace {

const machine::MatrixUnitConfig array{.rows = 256, .columns = 256};

std::string sentence_of(const Facts& facts, std::string_view kind) {
    return explain::sentence(facts, cause_of(facts), {.kind = kind}, array);
}

}  // namespace

TEST_CASE("The cause is the one with the most cycles", "[explain]") {
    Facts facts{.active_cycles = 200, .weight_stall_cycles = 888, .weight_shift_cycles = 256};
    facts.useful_macs = 200;
    CHECK(cause_of(facts) == Cause::WeightStall);
    facts.weight_shift_cycles = 889;
    CHECK(cause_of(facts) == Cause::WeightShift);
    facts.non_matrix_cycles = 1000;
    CHECK(cause_of(facts) == Cause::Idle);
    facts.raw_stall_cycles = 1000;
    CHECK(cause_of(facts) == Cause::Activations);
    facts.input_stall_cycles = 1001;  // reasons overlap
    CHECK(cause_of(facts) == Cause::Input);
    facts.setup_stall_cycles = 1002;
    CHECK(cause_of(facts) == Cause::Setup);
    facts.port_stall_cycles = 1003;
    CHECK(cause_of(facts) == Cause::Ports);
    facts.active_cycles = 2000;  // all of them useful
    CHECK(cause_of(facts) == Cause::UsefulCells);
    facts.unused_macs = 300;  // most are not
    CHECK(cause_of(facts) == Cause::UnusedCells);
}

TEST_CASE("Active cycles are divided into useful and unused ones, which sum to them", "[explain]") {
    const Facts facts{.active_cycles = 1001, .useful_macs = 1, .unused_macs = 2};
    const auto useful = cycles_of(Cause::UsefulCells, facts);
    CHECK(useful == 334);
    CHECK(useful + cycles_of(Cause::UnusedCells, facts) == 1001);
}

TEST_CASE("Non-matrix cycles without a reason are idle", "[explain]") {
    const Facts facts{.non_matrix_cycles = 100, .raw_stall_cycles = 30, .input_stall_cycles = 20};
    CHECK(cycles_of(Cause::Idle, facts) == 50);
    const Facts overlapping{.non_matrix_cycles = 100, .raw_stall_cycles = 80, .input_stall_cycles = 60};
    CHECK(cycles_of(Cause::Idle, overlapping) == 0);
    CHECK(cause_of(Facts{}) == Cause::Idle);
}

TEST_CASE("A weight-bound layer counts its cycles by tiles", "[explain]") {
    const Facts facts{.active_cycles = 2000,
                      .weight_stall_cycles = 8880,
                      .weight_shift_cycles = 2560,
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
          "fills 17 of 256 rows and 12 of 256 columns, as the layer has 12 filters");
    CHECK(sentence_of(facts, "dense").find("as the layer has 12 outputs") != std::string::npos);
    CHECK(sentence_of(facts, "").find("as the layer has") == std::string::npos);
    // 256 + 16 columns: the widest tile is full, and no number of filters follows from one tile.
    facts.fetched.columns = 272;
    facts.fetched.widest_columns = 256;
    const std::string wide = sentence_of(facts, "convolution");
    CHECK(wide.ends_with("136 of 256 columns"));
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
}

TEST_CASE("Every cause has a sentence with its figure", "[explain]") {
    const Facts facts{.active_cycles = 10,
                      .weight_stall_cycles = 11,
                      .weight_shift_cycles = 12,
                      .non_matrix_cycles = 67,
                      .raw_stall_cycles = 13,
                      .input_stall_cycles = 14,
                      .setup_stall_cycles = 15,
                      .port_stall_cycles = 16,
                      .useful_macs = 7,
                      .unused_macs = 3};
    const auto says = [&](Cause cause, const std::string& part) {
        const std::string text = explain::sentence(facts, cause, {.kind = "dense"}, array);
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
    };
    says(Cause::WeightStall, "Weight-bound: 11.0 %");
    says(Cause::WeightShift, "Shift-bound: 12.0 %");
    says(Cause::Activations, "Activation-bound: in 13.0 %");
    says(Cause::Input, "Host-bound: in 14.0 %");
    says(Cause::Setup, "Setup-bound: in 15.0 %");
    says(Cause::Ports, "Port-bound: in 16.0 %");
    says(Cause::Idle, "In 9.0 % of its cycles");
    says(Cause::UnusedCells, "70.0 % of the cells work");
    says(Cause::UsefulCells, "active in 10.0 % of its cycles, with 70.0 %");
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
