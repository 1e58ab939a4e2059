#include "sim/study/explain/cause.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace systole;
using explain::Cause;
using explain::Facts;

namespace {

const machine::MatrixUnitConfig array{.rows = 256, .columns = 256};

Cause main_cause(const Facts& facts) {
    return explain::causes_of(facts).at(0);
}

std::string sentence_of(const Facts& facts, std::string_view kind) {
    return explain::sentence(facts, main_cause(facts), {.kind = kind}, array);
}

}  // namespace

TEST_CASE("The main cause is the one with the most cycles", "[explain]") {
    Facts facts{.active_cycles = 200, .weight_stall_cycles = 888, .weight_shift_cycles = 256};
    facts.useful_macs = 200;
    CHECK(main_cause(facts) == Cause::WeightStall);
    facts.weight_shift_cycles = 889;
    CHECK(main_cause(facts) == Cause::WeightShift);
    facts.non_matrix_cycles = 14000;
    facts.reasons.accumulators = 1000;
    CHECK(main_cause(facts) == Cause::Accumulators);
    facts.reasons.raw = 1000;
    CHECK(main_cause(facts) == Cause::Activations);
    facts.reasons.input = 501;
    facts.reasons.input_buffer = 500;
    CHECK(main_cause(facts) == Cause::Input);
    facts.reasons.output_buffer = 1002;
    CHECK(main_cause(facts) == Cause::OutputBuffer);
    facts.reasons.vector_work = 1003;
    CHECK(main_cause(facts) == Cause::VectorWork);
    facts.reasons.setup = 1004;
    CHECK(main_cause(facts) == Cause::Setup);
    facts.reasons.port = 1005;
    CHECK(main_cause(facts) == Cause::Ports);
    facts.reasons.not_arrived = 400;
    facts.reasons.queue_full = 400;
    facts.reasons.issue = 206;
    CHECK(main_cause(facts) == Cause::Issue);
    facts.reasons.sync = 1007;
    CHECK(main_cause(facts) == Cause::Sync);
    facts.reasons.program_begin = 8;
    facts.reasons.program_end = 1000;
    CHECK(main_cause(facts) == Cause::BeginAndEnd);
    facts.active_cycles = 2000;  // all of them useful
    CHECK(main_cause(facts) == Cause::UsefulCells);
    facts.unused_macs = 300;  // most are not
    CHECK(main_cause(facts) == Cause::UnusedCells);
}

TEST_CASE("Causes with less than a twentieth of the cycles are left out", "[explain]") {
    Facts facts{.weight_stall_cycles = 900, .weight_shift_cycles = 50, .non_matrix_cycles = 50};
    facts.reasons.raw = 50;
    CHECK(explain::causes_of(facts) ==
          std::vector{Cause::WeightStall, Cause::WeightShift, Cause::Activations});
    facts.weight_stall_cycles = 901;
    CHECK(explain::causes_of(facts) == std::vector{Cause::WeightStall});
    CHECK(explain::causes_of(Facts{}).empty());
}

TEST_CASE("Active cycles are a cause only as the main one", "[explain]") {
    Facts facts{.active_cycles = 800, .non_matrix_cycles = 200, .useful_macs = 3, .unused_macs = 5};
    facts.reasons.raw = 200;
    CHECK(explain::causes_of(facts) == std::vector{Cause::UnusedCells, Cause::Activations});
    facts.useful_macs = 6;
    CHECK(explain::causes_of(facts) == std::vector{Cause::UsefulCells, Cause::Activations});
    facts.reasons.raw = 900;
    facts.non_matrix_cycles = 900;
    CHECK(explain::causes_of(facts) == std::vector{Cause::Activations});
}

TEST_CASE("Active cycles are divided into useful and unused ones, which sum to them", "[explain]") {
    const Facts facts{.active_cycles = 1001, .useful_macs = 1, .unused_macs = 2};
    const auto useful = cycles_of(Cause::UsefulCells, facts);
    CHECK(useful == 334);
    CHECK(useful + cycles_of(Cause::UnusedCells, facts) == 1001);
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
        const std::string text = explain::sentence(facts, main_cause(facts), {.kind = "dense"},
                                                   {.rows = rows, .columns = columns});
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
    Facts facts{.active_cycles = 10,
                .weight_stall_cycles = 11,
                .weight_shift_cycles = 12,
                .non_matrix_cycles = 67,
                .useful_macs = 7,
                .unused_macs = 3};
    facts.reasons = {.raw = 3,
                     .input = 2,
                     .accumulators = 6,
                     .output_buffer = 7,
                     .input_buffer = 3,
                     .vector_work = 8,
                     .setup = 9,
                     .port = 1,
                     .not_arrived = 2,
                     .queue_full = 4,
                     .issue = 7,
                     .sync = 4,
                     .program_begin = 1,
                     .program_end = 8,
                     .host = 2};
    const auto says = [&](Cause cause, const std::string& part) {
        const std::string text = explain::sentence(facts, cause, {.kind = "dense"}, array);
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
    };
    says(Cause::WeightStall, "Weight-bound: 11.0 %");
    says(Cause::WeightShift, "Shift-bound: 12.0 %");
    says(Cause::Activations, "Activation-bound: in 3.0 %");
    says(Cause::Input, "Host-bound: in 5.0 %");
    says(Cause::Accumulators, "Accumulator-bound: in 6.0 %");
    says(Cause::OutputBuffer, "Host-bound: in 7.0 %");
    says(Cause::VectorWork, "Bound by the activation unit: in 8.0 %");
    says(Cause::Setup, "Setup-bound: in 9.0 %");
    says(Cause::Ports, "Port-bound: in 1.0 %");
    says(Cause::Issue, "Issue-bound: in 13.0 %");
    says(Cause::Sync, "Bound by synchronization: in 4.0 %");
    says(Cause::Host, "Host-bound: in 2.0 % of its cycles the array waits for layers that the host computes");
    says(Cause::BeginAndEnd, "9.0 % of its cycles are before the first or after the last rows");
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
