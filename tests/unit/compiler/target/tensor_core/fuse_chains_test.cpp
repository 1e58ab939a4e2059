// Element-wise work that is put together: fewer nodes, the same bits.
#include "compiler/target/tensor_core/fuse_chains.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

namespace systole::tests {
namespace {

std::size_t chains_in(const ir::Graph& graph) {
    return static_cast<std::size_t>(
        std::ranges::count_if(graph.nodes, [](const ir::Node& node) { return node.is("word_chain"); }));
}

TEST_CASE("A chain takes in those that it alone reads, with what both compute once", "[tensor_core]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1\noutputs %4\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
        "%2 float32 1x4 \"a\"\n%3 float32 1x4 \"b\"\n%4 float32 1x4 \"c\"\n"
        "%2 = word_chain(%0) \"a\" {steps [\"exp 0\", \"add 1 0\"]}\n"
        "%3 = word_chain(%0, %1) \"b\" {steps [\"exp 0\", \"multiply 2 1\"]}\n"
        "%4 = word_chain(%2, %3) \"c\" {steps [\"subtract 0 1\"]}\n");
    CHECK(to_text(tensor_core::fuse_chains(graph)) ==
          "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
          "%2 float32 1x4 \"c\"\n"
          "%2 = word_chain(%0, %1) \"c\" {steps [\"exp 0\", \"multiply 2 1\", \"add 2 0\", \"subtract 4 "
          "3\"]}\n");
}

TEST_CASE("What others need, and what is smaller than the result, is computed once", "[tensor_core]") {
    // An output; two tensors for two readers; a column for all columns.
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1, %2\noutputs %3, %7\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
        "%2 float32 1x1 \"z\"\n%3 float32 1x4 \"a\"\n%4 float32 1x4 \"b\"\n%5 float32 1x1 \"c\"\n"
        "%6 float32 1x4 \"d\"\n%7 float32 1x1 \"e\"\n"
        "%3 = word_chain(%0) \"a\" {steps [\"negate 0\"]}\n"
        "%4 = word_chain(%0, %1) \"b\" {steps [\"add 0 1\"]}\n"
        "%5 = word_chain(%2) \"c\" {steps [\"exp 0\"]}\n"
        "%6 = word_chain(%3, %4, %5) \"d\" {steps [\"add 0 1\", \"multiply 3 2\"]}\n"
        "%7 = word_reduce(%6) \"e\" {reduction \"sum\", axes [1], keep 1}\n");
    const ir::Graph fused = tensor_core::fuse_chains(graph);
    CHECK(chains_in(fused) == 3);  // a, c, and d with b
}

TEST_CASE("Short work on one tensor is done by each of its readers", "[tensor_core]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %2, %3\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"a\"\n"
        "%2 float32 1x4 \"b\"\n%3 float32 1x4 \"c\"\n"
        "%1 = word_chain(%0) \"a\" {steps [\"negate 0\"]}\n"
        "%2 = word_chain(%1, %0) \"b\" {steps [\"exp 0\", \"add 2 1\"]}\n"
        "%3 = word_chain(%1) \"c\" {steps [\"tanh 0\"]}\n");
    CHECK(chains_in(tensor_core::fuse_chains(graph)) == 2);
}

TEST_CASE("A bfloat16 between chains is rounded when it is no value any more", "[tensor_core]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1\noutputs %4\n%0 float32 1x4 \"x\"\n%1 bfloat16 1x4 \"y\"\n"
        "%2 bfloat16 1x4 \"a\"\n%3 bfloat16 1x4 \"b\"\n%4 float32 1x4 \"c\"\n"
        "%2 = word_chain(%0) \"a\" {steps [\"negate 0\"]}\n"
        "%3 = word_chain(%1) \"b\" {steps [\"negate 0\"]}\n"
        "%4 = word_chain(%2, %3) \"c\" {steps [\"add 0 1\"]}\n");
    const ir::Graph fused = tensor_core::fuse_chains(graph);
    REQUIRE(chains_in(fused) == 1);
    CHECK(std::get<std::vector<std::string>>(fused.nodes.front().attributes.front()) ==
          std::vector<std::string>{"negate 0", "negate 1", "round_to_bfloat16 3", "add 4 2"});
}

/// Chains on values before them, some of which are smaller than others.
ir::Graph random_chains(std::mt19937& random) {
    const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    ir::Graph graph;
    graph.name = "random";
    std::vector<ir::ValueId> values;
    for (int i = 0; i < 3; ++i) {
        values.push_back(graph.add_input("x" + std::to_string(i),
                                         random() % 3 == 0 ? ir::Shape{1, 1, 4} : ir::Shape{1, 3, 4}));
    }
    const std::vector<std::string> binary{"add", "subtract", "multiply", "maximum", "less", "xor"};
    for (int node = 0; node < 12; ++node) {
        std::vector<ir::ValueId> inputs;
        for (std::size_t i = 0; i < 1 + pick(3); ++i) inputs.push_back(values[pick(values.size())]);
        std::vector<std::string> steps;
        for (std::size_t i = 0; i < 1 + pick(6); ++i) {
            const std::size_t before = inputs.size() + steps.size();
            steps.push_back(binary[pick(binary.size())] + " " + std::to_string(pick(before)) + " " +
                            std::to_string(pick(before)));
        }
        values.push_back(
            graph.append("n", operators::registry().at("word_chain"), {{"steps", steps}}, inputs));
    }
    for (int i = 0; i < 3; ++i) graph.outputs.push_back(values[values.size() - 1 - pick(6)]);
    std::ranges::sort(graph.outputs);
    graph.outputs.erase(std::unique(graph.outputs.begin(), graph.outputs.end()), graph.outputs.end());
    return graph;
}

TEST_CASE("Random chains have the same bits when they are put together", "[tensor_core]") {
    std::size_t before = 0;
    std::size_t behind = 0;
    for (std::uint32_t seed = 0; seed < random_runs(200); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const ir::Graph graph = random_chains(random);
        const ir::Graph fused = tensor_core::fuse_chains(graph);
        REQUIRE(ir::find_fault(fused) == std::nullopt);
        before += chains_in(graph);
        behind += chains_in(fused);
        const mapping::Batches batches{.batch = 2, .inferences = 2};
        const WordTensors inputs = random_inputs(random, graph, 2);
        CHECK(difference(expected_outputs(fused, batches, inputs), expected_outputs(graph, batches, inputs))
                  .empty());
    }
    CHECK(behind < before / 2);
}

}  // namespace
}  // namespace systole::tests
