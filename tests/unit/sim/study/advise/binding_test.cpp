#include "sim/study/advise/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/view/report/numbers.h"
#include "tests/support/random_runs.h"

using namespace systole;
using namespace systole::advise;
using Catch::Matchers::Contains;

namespace {

/// A point of eight cores of which one part needs this share of the cycles.
Point point(std::uint64_t images, double rate, const std::string& part, double share) {
    return {.batch = static_cast<std::uint32_t>(8 * images),
            .inferences_per_second = rate,
            .images_of_core = images,
            .shares = {{part, "work of " + part, share}, {"rest", "the rest", share / 2}}};
}

}  // namespace

TEST_CASE("The shares of a run are its bounds over its cycles, those of a further step if there is one",
          "[study][advise]") {
    run::RunRecord record;
    record.cycles = 1000;
    const auto bound = [](const std::string& name, Cycle cycles) {
        return machine::Bound{
            .name = name, .part = name, .meaning = "of " + name, .run = cycles, .by_tag = {}};
    };
    record.bounds = {bound("macs", 900), bound("array", 500), bound("hbm", 700), bound("infeed", 700)};
    const std::vector<Share> shares = shares_of(record);
    // Without macs; of equal ones the first stays the first.
    CHECK(shares == std::vector<Share>{
                        {"hbm", "of hbm", 0.7}, {"infeed", "of infeed", 0.7}, {"array", "of array", 0.5}});
    CHECK(share_named(shares, "array") == 0.5);
    CHECK(share_named(shares, "link") == 0.0);
    record.step = run::FurtherStep{.cycles = 200, .bounds = {bound("macs", 10), bound("array", 100)}};
    CHECK(shares_of(record) == std::vector<Share>{{"array", "of array", 0.5}});
    record.step->cycles = 0;
    CHECK(shares_of(record).empty());
}

TEST_CASE("A part that binds has a word", "[study][advise]") {
    CHECK(bound_word("infeed") == "infeed-bound");
    CHECK(bound_word("hbm") == "HBM-bound");
    CHECK(bound_word("weight_shift") == "weight-shift-bound");
    CHECK(bound_word("cross_lane") == "cross-lane-bound");
}

TEST_CASE("Sentences say which part binds at which batch, and what the article's rule gives",
          "[study][advise]") {
    const std::vector<Point> points{point(1, 100, "weight_shift", 0.7), point(8, 300, "weight_shift", 0.6),
                                    point(32, 800, "array", 0.4), point(64, 900, "array", 0.45),
                                    point(128, 1000, "hbm", 0.9)};
    const std::vector<std::string> said = binding_sentences(points);
    REQUIRE(said.size() == 2);
    CHECK(said[0] ==
          "At 1 to 8 images a core it is weight-shift-bound: work of weight_shift in 60.0 % to 70.0 % of the "
          "cycles. At 32 to 64 images a core it is nearest to array-bound: work of array in 40.0 % to 45.0 % "
          "of the cycles. At 128 images a core it is HBM-bound: work of hbm in 90.0 % of the cycles.");
    CHECK(said[1] ==
          "The article's rule, batch = 64 x cores, is batch 512 here: 90.0 % of the best speed, which batch "
          "1,024 has; half as many images give 80.0 %, twice as many give 100.0 %.");

    CHECK(binding_sentences(std::vector<Point>{points[0]})[0] ==
          "At 1 image a core it is weight-shift-bound: work of weight_shift in 70.0 % of the cycles.");
    CHECK(binding_sentences(std::vector<Point>{points[0]})[1] ==
          "The article's rule, batch = 64 x cores, is not among these batches.");
    CHECK(binding_sentences(std::vector<Point>{points[3]})[1] ==
          "It is the article's rule, batch = 64 x cores.");
    CHECK_THAT(binding_sentences(std::vector<Point>{points[2], points[3]})[1],
               Contains("is batch 512 here: the best speed; half as many images give 88.9 %."));
    // A program that does not say which input takes its examples.
    Point unknown = points[3];
    unknown.images_of_core = 0;
    CHECK(binding_sentences(std::vector<Point>{unknown}) ==
          std::vector<std::string>{
              "At batch 512 it is nearest to array-bound: work of array in 45.0 % of the cycles."});
    // Of other machines nothing is said.
    CHECK(binding_sentences(std::vector<Point>{{.batch = 8, .inferences_per_second = 5}}).empty());
    CHECK(binding_sentences({}).empty());
}

TEST_CASE("Sentences about the part that binds are true of any points", "[study][advise]") {
    const std::array<std::string, 4> parts{"array", "hbm", "infeed", "vector"};
    for (std::uint32_t seed = 1; seed <= tests::random_runs(200); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto number = [&](double least, double most) {
            return std::uniform_real_distribution<double>(least, most)(random);
        };
        std::vector<Point> points;
        for (std::uint64_t images = 1 + random() % 3; images <= 300; images *= 2) {
            points.push_back(point(images, number(100, 1000), parts[random() % 4], number(0.2, 1.0)));
        }
        const std::vector<std::string> said = binding_sentences(points);
        REQUIRE(said.size() == 2);
        // Each change of the part begins a sentence, and every batch lies in one that names its part.
        std::size_t sentences = 1;
        for (std::size_t i = 1; i < points.size(); ++i) {
            if (points[i].shares[0].name != points[i - 1].shares[0].name) ++sentences;
        }
        CHECK(static_cast<std::size_t>(std::ranges::count(said[0], ':')) == sentences);
        const double best =
            std::ranges::max_element(points, {}, &Point::inferences_per_second)->inferences_per_second;
        const auto rule = std::ranges::find(points, article_images, &Point::images_of_core);
        CAPTURE(said[1]);
        if (rule == points.end()) {
            CHECK_THAT(said[1], Contains("not among these batches"));
        } else if (rule->inferences_per_second == best) {
            CHECK_THAT(said[1], Contains("here: the best speed"));
        } else {
            CHECK_THAT(said[1], Contains(fmt::format("here: {} of the best speed",
                                                     report::percent(rule->inferences_per_second / best))));
        }
    }
}
