#include "sim/study/advise/wrong_machine.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/study/advise/binding.h"
#include "tests/support/random_runs.h"

using namespace systole;
using namespace systole::advise;
using Catch::Matchers::Contains;

namespace {

using Sentences = std::vector<std::string>;

Point with(std::vector<Share> shares, double passes = 0.0) {
    std::ranges::sort(shares, std::ranges::greater(), &Share::share);
    return {.shares = std::move(shares), .passes = passes};
}

Sentences said(const Point& point, const ir::Detours& detours = {}) {
    return wrong_machine_sentences("chip", "net", point, detours);
}

const Point products = with({{"array", "rows pass", 0.9}, {"vector", "elements are worked on", 0.2}}, 1.0);

}  // namespace

TEST_CASE("A machine whose array works, in one pass, without detours is not the wrong one",
          "[study][advise]") {
    CHECK(said(products).empty());
    CHECK(said({}).empty());
}

TEST_CASE("A TPU is the wrong machine where its array idles while another part works", "[study][advise]") {
    CHECK(said(with({{"vector", "elements are worked on", 0.744}, {"array", "rows pass", 0.02}})) ==
          Sentences{
              "chip is the wrong machine for net: its array, which has the machine's peak, works in 2.0 % "
              "of the cycles; elements are worked on in 74.4 % of them (vector-bound)."});
    for (const std::string part : {"vector", "cross_lane", "hbm", "vector_memory"}) {
        CAPTURE(part);
        CHECK(said(with({{part, "work", 0.5}, {"array", "rows pass", 0.0999}})).size() == 1);
        CHECK(said(with({{part, "work", 0.5}, {"array", "rows pass", 0.1}})).empty());
    }
    // Too little input, or too few rows for each weight, is no question of the machine.
    for (const std::string part : {"infeed", "link", "weight_shift"}) {
        CAPTURE(part);
        CHECK(said(with({{part, "work", 0.9}, {"array", "rows pass", 0.01}})).empty());
    }
}

TEST_CASE("A TPU is the wrong machine for products of several passes", "[study][advise]") {
    CHECK(said(with({{"array", "rows pass", 0.97}}, 6.0)) ==
          Sentences{
              "chip is the wrong machine for net: each of its products passes the array 6.0 times for the "
              "precision of its numbers, so that 16.7 % of the peak is the most that it can have."});
    CHECK(said(with({{"array", "rows pass", 0.97}}, 1.5)).size() == 1);
    CHECK(said(with({{"array", "rows pass", 0.97}}, 1.49)).empty());
}

TEST_CASE("A TPU is the wrong machine for places and choices from data", "[study][advise]") {
    ir::Detours lookups{.all = {}, .discarded = {}, .found = 100, .compared = 1600};
    const Point beside = with({{"hbm", "rows move", 0.9}, {"array", "rows pass", 0.5}});
    CHECK(said(beside, lookups) ==
          Sentences{
              "chip is the wrong machine for net: data say which places are read or written, and no memory "
              "is addressed by data: 1,600 elements are compared for 100 that are found."});
    CHECK(said(products, lookups).empty());  // they hardly count beside the products
    lookups.compared = 1599;
    CHECK(said(beside, lookups).empty());

    ir::Detours choices{.all = {.macs = 400}, .choices = 3, .discarded = {.macs = 100}};
    CHECK(said(products, choices) ==
          Sentences{
              "chip is the wrong machine for net: 3 choices among branches follow data, and no core "
              "branches by data: all sides are computed, and 25.0 % of the multiply-accumulates are thrown "
              "away."});
    choices.discarded.macs = 99;
    CHECK(said(products, choices).empty());
    // Without products, results count.
    const ir::Detours results{.all = {.elements = 10}, .choices = 1, .discarded = {.elements = 5}};
    CHECK_THAT(said(products, results).at(0),
               Contains("1 choice among branches follows data") && Contains("50.0 % of all results"));
    const ir::Detours few{.all = {.macs = 10, .elements = 10}, .choices = 1, .discarded = {.elements = 9}};
    CHECK(said(products, few).empty());
}

TEST_CASE("Each reason is said where it holds, and only there", "[study][advise]") {
    constexpr std::array<const char*, 8> parts{"array",  "vector", "cross_lane",    "hbm",
                                               "infeed", "link",   "vector_memory", "weight_shift"};
    for (std::uint32_t seed = 1; seed <= tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto number = [&](double most) {
            return std::uniform_real_distribution<double>(0.0, most)(random);
        };
        std::vector<Share> shares;
        for (const char* const part : parts) {
            // Some parts are often idle, the array most often.
            const bool idles = random() % 3 == 0;
            shares.push_back({part, std::string("work of ") + part, number(idles ? 0.1 : 1.0)});
        }
        const Point point = with(shares, random() % 2 == 0 ? 1.0 : number(6.0));
        const ir::Detours detours{.all = {.macs = random() % 3 * 100, .elements = 1 + random() % 100},
                                  .choices = random() % 3,
                                  .discarded = {.macs = random() % 80, .elements = random() % 80},
                                  .found = random() % 2 * 10,
                                  .compared = random() % 320};
        const Sentences sentences = said(point, detours);
        const auto says = [&](const std::string& text) {
            return std::ranges::any_of(
                sentences, [&](const std::string& each) { return each.find(text) != std::string::npos; });
        };
        const std::string largest = point.shares.front().name;
        const bool beside =
            largest != "array" && largest != "infeed" && largest != "link" && largest != "weight_shift";
        const bool idles = beside && share_named(point.shares, "array") < 0.1;
        CHECK(says("its array") == idles);
        CHECK(says("work of " + largest) == idles);
        CHECK(says("elements are compared") ==
              (beside && detours.found > 0 && detours.compared >= 16 * detours.found));
        CHECK(says("passes the array") == (point.passes >= 1.5));
        const bool has_macs = detours.all.macs > 0;
        const double part =
            has_macs
                ? static_cast<double>(detours.discarded.macs) / static_cast<double>(detours.all.macs)
                : static_cast<double>(detours.discarded.elements) / static_cast<double>(detours.all.elements);
        CHECK(says("all sides are computed") == (part >= 0.25));
        for (std::size_t i = 0; i < sentences.size(); ++i) {
            CHECK(sentences[i].starts_with(i == 0 ? "chip is the wrong machine for net: " : "Besides, "));
            CHECK(sentences[i].ends_with('.'));
        }
    }
}
