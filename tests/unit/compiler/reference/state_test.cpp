// Graphs with state: outputs that replace inputs in the next run.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/reference/executor.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Floats = std::vector<float>;
using reference::TensorBytes;

/// Two states beside an input and an output without: a sum of all inputs so far, and the input before.
const std::string accumulator =
    "graph \"g\"\n"
    "inputs %0, %1, %2\n"
    "outputs %3, %4, %5\n"
    "state %2 -> %3\n"
    "state %0 -> %5\n"
    "%0 float32 1x2 \"before\"\n"
    "%1 float32 1x2 \"x\"\n"
    "%2 float32 1x2 \"sum\"\n"
    "%3 float32 1x2 \"new sum\"\n"
    "%4 float32 1x2 \"change\"\n"
    "%5 float32 1x2 \"now\"\n"
    "%3 = add(%2, %1) \"new sum\"\n"
    "%4 = subtract(%1, %0) \"change\"\n"
    "%5 = identity(%1) \"now\"\n";

}  // namespace

TEST_CASE("An output replaces its input in the next step, for each inference", "[compiler][reference]") {
    const ir::Graph graph = tests::graph_of_text(accumulator);
    const std::vector<std::vector<TensorBytes>> steps{{tests::bytes_of(Floats{1, 2, 3, 4})},
                                                      {tests::bytes_of(Floats{10, 20, 30, 40})},
                                                      {tests::bytes_of(Floats{5, 5, 5, 5})}};
    const auto results = reference::run_steps(
        graph, {tests::bytes_of(Floats{100, 200, 300, 400}), tests::bytes_of(Floats{0, 0, 1, 1})}, steps, 2);
    REQUIRE(results.size() == 3);
    CHECK(tests::numbers_of<float>(results[0][0]) == Floats{101, 202, 303, 404});
    CHECK(tests::numbers_of<float>(results[0][1]) == Floats{1, 2, 2, 3});
    CHECK(tests::numbers_of<float>(results[1][0]) == Floats{111, 222, 333, 444});
    CHECK(tests::numbers_of<float>(results[1][1]) == Floats{9, 18, 27, 36});
    CHECK(tests::numbers_of<float>(results[2][0]) == Floats{116, 227, 338, 449});
    CHECK(tests::numbers_of<float>(results[2][1]) == Floats{-5, -15, -25, -35});
    CHECK(tests::numbers_of<float>(results[2][2]) == Floats{5, 5, 5, 5});
    CHECK(reference::run_steps(graph, {tests::bytes_of(Floats{0, 0}), tests::bytes_of(Floats{0, 0})}, {}, 1)
              .empty());
}

TEST_CASE("Steps of another number of inputs are refused", "[compiler][reference]") {
    const ir::Graph graph = tests::graph_of_text(accumulator);
    const TensorBytes one = tests::bytes_of(Floats{1, 2});
    const std::vector<std::vector<TensorBytes>> none{{}};
    const std::vector<std::vector<TensorBytes>> two{{one, one}};
    const std::vector<std::vector<TensorBytes>> right{{one}};
    CHECK_THROWS_WITH(reference::run_steps(graph, {one}, right, 1), "g has 2 states; 1 was given");
    CHECK_THROWS_WITH(reference::run_steps(graph, {one, one}, two, 1),
                      "a step has 2 inputs; g has 1 without state");
    CHECK_THROWS_WITH(reference::run_steps(graph, {one, one}, none, 1),
                      "a step has 0 inputs; g has 1 without state");
    CHECK_THROWS_WITH(reference::run_steps(graph, {one, tests::bytes_of(Floats{1})}, right, 1),
                      "the input before has 4 bytes; 1 inferences need 8");
}
