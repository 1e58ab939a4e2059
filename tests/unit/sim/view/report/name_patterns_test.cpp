#include "sim/view/report/name_patterns.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace systole;
using report::block_name;
using report::common_scope;
using report::pattern_of;
using report::within_scope;
using report::without_numbers;
using Names = std::vector<std::string>;

TEST_CASE("Names that are equal up to numbers have the same text without them", "[report]") {
    CHECK(without_numbers("encoder.layer.0.output") == "encoder.layer.#.output");
    CHECK(without_numbers("encoder.layer.11.output") == "encoder.layer.#.output");
    CHECK(without_numbers("12") == "#");
    CHECK(without_numbers("conv2d") == "conv#d");
    // A name may have the sign itself.
    CHECK(without_numbers("conv#") != without_numbers("conv1"));
    CHECK(without_numbers("conv\\#") != without_numbers("conv\\1"));
    CHECK(report::groups_of(Names{"conv1", "conv#"}).size() == 2);
    CHECK(report::groups_of(Names{"conv#", "conv1"}).size() == 2);
    CHECK(without_numbers("") == "");
    // A number that one of them lacks is a difference.
    CHECK(without_numbers("dense") != without_numbers("dense1"));
}

TEST_CASE("A pattern keeps the numbers that all names have", "[report]") {
    CHECK(pattern_of(Names{"conv2d_7", "conv2d_8"}) == "conv2d_*");
    CHECK(pattern_of(Names{"layer.1.2", "layer.1.3", "layer.1.22"}) == "layer.1.*");
    CHECK(pattern_of(Names{"3/4", "5/6"}) == "*/*");
    CHECK(pattern_of(Names{"same1", "same1"}) == "same1");
}

TEST_CASE("The common scope ends with a whole part of a name", "[report]") {
    CHECK(common_scope(Names{"encoder.layer.*.output", "encoder.layer.*.attention.query"}) ==
          "encoder.layer.*");
    CHECK(common_scope(Names{"conv4_block*_1_conv", "conv4_block*_2_bn"}) == "conv4_block*");
    CHECK(common_scope(Names{"left", "leftover"}) == "");
    CHECK(common_scope(Names{"a.left", "a.leftover"}) == "a");
    CHECK(common_scope(Names{"a.b", "a.b.c"}) == "a.b");
    CHECK(common_scope(Names{"only.one"}) == "only.one");
    // Some names of a file begin with the root, others do not.
    CHECK(common_scope(Names{"/layer.*/Softmax", "layer.*/query"}) == "layer.*");
    CHECK(common_scope(Names{"/Gather", "/Squeeze"}) == "");
}

TEST_CASE("A block has the scope of those of its layers that have one", "[report]") {
    CHECK(block_name(Names{"/v*", "encoder.layer.*.query", "/encoder.layer.*.self"}) == "encoder.layer.*");
    CHECK(block_name(Names{"fc*", "relu*"}) == "fc*");
    CHECK(block_name(Names{"a.left", "b.right"}) == "a.left");
}

TEST_CASE("In a block, names stand without its scope", "[report]") {
    CHECK(within_scope("encoder.layer.*.output.dense", "encoder.layer.*") == "output.dense");
    CHECK(within_scope("/encoder.layer.*.self", "encoder.layer.*") == "self");
    CHECK(within_scope("conv4_block*_1_conv", "conv4_block*") == "1_conv");
    // The scope itself, a name outside of it, and one that only begins alike.
    CHECK(within_scope("encoder.layer.*", "encoder.layer.*") == "encoder.layer.*");
    CHECK(within_scope("/v*", "encoder.layer.*") == "/v*");
    CHECK(within_scope("leftover", "left") == "leftover");
    CHECK(within_scope("any", "") == "any");
}

TEST_CASE("Names that are equal up to numbers are one group in the place of the first", "[report]") {
    const Names names{"l.0.a", "b", "l.1.a", "l.1.b", "l.2.a"};
    const std::vector<report::NameGroup> groups = report::groups_of(names);
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].pattern == "l.*.a");
    CHECK(groups[0].count == 3);
    CHECK(groups[1].pattern == "b");
    CHECK(groups[2].pattern == "l.1.b");
    CHECK(groups[2].count == 1);
}
