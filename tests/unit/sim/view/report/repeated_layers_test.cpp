#include "sim/view/report/repeated_layers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/random_runs.h"

using namespace systole;
using report::find_repeats;
using report::Repeats;
using Json = nlohmann::ordered_json;

namespace {

/// The repeats in a sequence of letters, without marks.
std::vector<Repeats> repeats_in(const std::string& letters) {
    const std::vector<std::size_t> kinds(letters.begin(), letters.end());
    return find_repeats(kinds, std::vector<std::string>(kinds.size()));
}

Json layer(const std::string& name, const std::string& kind, std::uint64_t cycles, std::uint64_t macs = 0,
           std::uint64_t vector = 0, std::uint64_t link = 0) {
    return {{"name", name},
            {"kind", kind},
            {"cycles", cycles},
            {"macs_per_inference", macs},
            {"bounds", {{"vector", vector}, {"link", link}}}};
}

/// One part that computes, and one that moves data.
std::vector<machine::Bound> two_bounds() {
    const auto bound = [](const std::string& name, bool computes) {
        return machine::Bound{
            .name = name, .part = name, .meaning = name, .run = 0, .by_tag = {}, .computes = computes};
    };
    return {bound("vector", true), bound("link", false)};
}

/// A network whose `blocks` have two layers each, between an embedding and a classifier.
Json encoder(std::uint32_t blocks) {
    Json layers{layer("embedding", "gather", 7)};
    for (std::uint32_t i = 0; i < blocks; ++i) {
        const std::string block = "layer." + std::to_string(i);
        layers.push_back(layer(block + ".query", "dense", 100 + i, 64, 5, 1000 * i));
        layers.push_back(layer(block + ".norm", "host", 10));
    }
    layers.push_back(layer("classifier", "dense", 30, 8));
    return layers;
}

}  // namespace

TEST_CASE("Blocks that follow each other are found with the shortest length", "[report]") {
    CHECK(repeats_in("xabababy") == std::vector<Repeats>{{.first = 1, .length = 2, .count = 3}});
    CHECK(repeats_in("aaaaa") == std::vector<Repeats>{{.first = 0, .length = 1, .count = 5}});
    CHECK(repeats_in("abcdabcd") == std::vector<Repeats>{{.first = 0, .length = 4, .count = 2}});
    // The rest of a block behind the last whole one stays outside.
    CHECK(repeats_in("abcabcabcab") == std::vector<Repeats>{{.first = 0, .length = 3, .count = 3}});
}

TEST_CASE("Repeats of which fewer than four elements are saved are left alone", "[report]") {
    CHECK(repeats_in("aaaa").empty());
    CHECK(repeats_in("abcabc").empty());
    CHECK(repeats_in("abcd").empty());
    CHECK(repeats_in("").empty());
}

TEST_CASE("Repeats that save most are taken first, and others beside them", "[report]") {
    // Within a block, "aa" repeats too.
    CHECK(repeats_in("aabcaabcaabc") == std::vector<Repeats>{{.first = 0, .length = 4, .count = 3}});
    CHECK(repeats_in("aaaaaxbcbcbcbc") ==
          std::vector<Repeats>{{.first = 0, .length = 1, .count = 5}, {.first = 6, .length = 2, .count = 4}});
    // The first begins where the second one's blocks are: it has those before.
    CHECK(repeats_in("aaaaaabcabcabcabc") ==
          std::vector<Repeats>{{.first = 0, .length = 1, .count = 5}, {.first = 5, .length = 3, .count = 4}});
}

TEST_CASE("Blocks begin where the number in their names does, if they can", "[report]") {
    // Without marks, the blocks would begin with the first "c".
    const std::string letters = "cabcabcabc";
    const std::vector<std::size_t> kinds(letters.begin(), letters.end());
    const std::vector<std::string> marks{"", "0", "0", "0", "1", "1", "1", "2", "2", "2"};
    CHECK(find_repeats(kinds, std::vector<std::string>(10)).front() ==
          Repeats{.first = 0, .length = 3, .count = 3});
    CHECK(find_repeats(kinds, marks).front() == Repeats{.first = 1, .length = 3, .count = 3});
    const std::vector<std::string> of_no_use(10, "same");
    CHECK(find_repeats(kinds, of_no_use).front().first == 0);
}

TEST_CASE("Repeats are alike in every element, and no two have one in common", "[report]") {
    for (std::uint32_t seed = 1; seed <= tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::vector<std::size_t> kinds;
        std::vector<std::string> marks;
        while (kinds.size() < 60) {
            std::vector<std::size_t> block(1 + random() % 6);
            for (std::size_t& kind : block) kind = random() % 3;
            for (std::size_t times = 1 + random() % 5; times > 0; --times) {
                kinds.insert(kinds.end(), block.begin(), block.end());
            }
        }
        for (std::size_t i = 0; i < kinds.size(); ++i) marks.push_back(std::to_string(random() % 2));
        std::size_t next = 0;
        for (const Repeats& each : find_repeats(kinds, marks)) {
            CHECK(each.first >= next);
            next = each.end();
            REQUIRE(next <= kinds.size());
            CHECK(each.count >= 2);
            CHECK((each.count - 1) * each.length >= report::least_saved);
            for (std::size_t i = each.first; i + each.length < next; ++i) {
                CHECK(kinds[i] == kinds[i + each.length]);
            }
        }
    }
}

TEST_CASE("A report says which layers repeat, with the cycles of all and how much they differ", "[report]") {
    const Json repeated = report::repeated_layers_json(encoder(12), two_bounds());
    REQUIRE(repeated.size() == 1);
    const Json& block = repeated[0];
    CHECK(block["name"] == "layer.*");
    CHECK(block["first"] == 1);
    CHECK(block["layers"] == 2);
    CHECK(block["count"] == 12);
    CHECK(block["cycles"] == 12 * 110 + 66);
    CHECK(block["least_cycles"] == 110);
    CHECK(block["most_cycles"] == 121);
    REQUIRE(block["places"].size() == 2);
    CHECK(block["places"][0] == Json{{"name", "layer.*.query"},
                                     {"kind", "dense"},
                                     {"cycles", 12 * 100 + 66},
                                     {"least_cycles", 100},
                                     {"most_cycles", 111}});
    CHECK(block["places"][1]["cycles"] == 120);
    CHECK(report::repeats_of({{"repeated_layers", repeated}}) ==
          std::vector<Repeats>{{.first = 1, .length = 2, .count = 12}});
    CHECK(report::repeats_of(Json::object()).empty());
}

TEST_CASE("Layers with another kind, name, work or shape do not repeat those before", "[report]") {
    const auto blocks = [](const Json& layers) {
        std::uint64_t count = 0;
        for (const Json& each : report::repeated_layers_json(layers, two_bounds())) {
            count += each["count"].get<std::uint64_t>();
        }
        return count;
    };
    CHECK(blocks(encoder(12)) == 12);
    const Json changes{{"kind", "add"}, {"name", "layer.11.key"}, {"macs_per_inference", 65}};
    for (const auto& [key, value] : changes.items()) {
        INFO(key);
        Json layers = encoder(12);
        layers[23][key] = value;
        CHECK(blocks(layers) == 11);
    }
    Json layers = encoder(12);
    layers[23]["bounds"]["vector"] = 6;  // as of a layer without MACs of another shape
    CHECK(blocks(layers) == 11);
    // Nine layers, all of which a text lists.
    CHECK(blocks(encoder(4)) == 0);
}
