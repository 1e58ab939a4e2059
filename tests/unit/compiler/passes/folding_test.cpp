#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "compiler/passes/fold_batch_normalization.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/fold_padding.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/remove_identities.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/integer_graphs.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using ir::FeatureMap;
using tests::Graph;
using tests::GraphParts;
using tests::NodeId;

namespace {

constexpr double tolerance = 1e-4;

}  // namespace

TEST_CASE("Batch normalization disappears into the layer before it", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        INFO("seed " << seed);
        GraphParts parts(seed);
        const ir::FeatureMap shape = parts.shape();
        Graph graph = tests::graph_of(shape);
        const bool bias = seed % 2 == 0;
        std::string expected;
        switch (seed % 3) {
            case 0:
                graph.append("linear",
                             parts.convolution(shape, parts.window(shape), parts.number(1, 6), bias), {0});
                expected = "input convolution ";
                break;
            case 1:
                graph.append("linear", parts.depthwise(shape, parts.window(shape), parts.number(1, 3), bias),
                             {0});
                expected = "input depthwise_convolution ";
                break;
            default:
                graph.append("linear", parts.dense(shape, parts.number(1, 20), bias), {0});
                expected = "input dense ";
                break;
        }
        // Two in a row: the second folds into what the first has folded into.
        graph.append("first", parts.batch_normalization(graph.output_shape().channels), {1});
        graph.append("second", parts.batch_normalization(graph.output_shape().channels), {2});
        const ir::Graph folded = passes::fold_batch_normalization(graph);
        CHECK(kinds(folded) == expected);
        CHECK(difference(graph, folded) < tolerance);
    }
}

TEST_CASE("Batch normalization elsewhere becomes a depthwise convolution", "[compiler][passes]") {
    GraphParts parts(5);
    const ir::FeatureMap shape{4, 4, 3};
    Graph graph = tests::graph_of(shape);
    graph.append("conv", parts.convolution(shape, {}, 3, true), {0});
    SECTION("behind an activation function") {
        graph.append("relu", tests::op("relu"), {1});
        graph.append("norm", parts.batch_normalization(3), {2});
        const ir::Graph folded = passes::fold_batch_normalization(graph);
        CHECK(kinds(folded) == "input convolution relu depthwise_convolution ");
        CHECK(difference(graph, folded) < tolerance);
    }
    SECTION("where the layer before it has another reader") {
        graph.append("norm", parts.batch_normalization(3), {1});
        graph.append("sum", tests::op("add"), {1, 2});
        const ir::Graph folded = passes::fold_batch_normalization(graph);
        CHECK(kinds(folded) == "input convolution depthwise_convolution add ");
        CHECK(difference(graph, folded) < tolerance);
    }
}

TEST_CASE("Borders of zeros become padding", "[compiler][passes]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        GraphParts parts(seed);
        const ir::FeatureMap shape = parts.shape();
        Graph graph = tests::graph_of(shape);
        graph.append("outer",
                     tests::zero_padding(parts.number(0, 3), parts.number(0, 3), parts.number(0, 3),
                                         parts.number(0, 3)),
                     {0});
        graph.append("inner",
                     tests::zero_padding(parts.number(0, 3), parts.number(0, 3), parts.number(0, 3),
                                         parts.number(0, 3)),
                     {1});
        const ir::FeatureMap padded = graph.output_shape();
        if (seed % 2 == 0) {
            graph.append("conv", parts.convolution(padded, parts.window(padded), 2, true), {2});
        } else {
            graph.append("conv", parts.depthwise(padded, parts.window(padded), 2, false), {2});
        }
        const ir::Graph folded = passes::fold_padding(graph);
        CHECK(folded.nodes.size() == 1);
        CHECK(difference(graph, folded) < tolerance);
    }
}

TEST_CASE("A border with another reader stays", "[compiler][passes]") {
    GraphParts parts(2);
    Graph graph = tests::graph_of({4, 4, 2});
    graph.append("border", tests::zero_padding(1, 1, 1, 1), {0});
    graph.append("conv", parts.convolution({6, 6, 2}, {}, 2, false), {1});
    graph.append("sum", tests::op("add"), {1, 2});
    const ir::Graph folded = passes::fold_padding(graph);
    CHECK(kinds(folded) == "input zero_padding convolution add ");
    CHECK(difference(graph, folded) < tolerance);

    Graph pooled = tests::graph_of({4, 4, 2});
    pooled.append("border", tests::zero_padding(1, 1, 1, 1), {0});
    pooled.append("pool", tests::pool("average_pool", ir::Window{}), {1});
    CHECK(kinds(passes::fold_padding(pooled)) == "input zero_padding average_pool ");
}

TEST_CASE("Nodes that change no value are removed", "[compiler][passes]") {
    GraphParts parts(7);
    Graph graph = tests::graph_of({1, 1, 32});
    graph.append("image", tests::reshape(ir::FeatureMap{4, 4, 2}), {0});
    graph.append("linear", tests::op("identity"), {1});
    graph.append("border", tests::zero_padding(0, 0, 0, 0), {2});
    graph.append("conv", parts.convolution({4, 4, 2}, {}, 3, true), {3});
    graph.append("pool", tests::pool("max_pool", ir::Window{}), {4});
    graph.append("flat", tests::reshape(ir::FeatureMap{1, 1, 48}), {5});
    graph.append("same", tests::reshape(ir::FeatureMap{1, 1, 48}), {6});
    graph.append("dense", parts.dense({1, 1, 48}, 5, true), {7});
    graph.append("last", tests::op("identity"), {8});
    const ir::Graph simple = passes::remove_identities(graph);
    CHECK(kinds(simple) == "input convolution dense ");
    CHECK(simple.input_map() == ir::FeatureMap{4, 4, 2});
    CHECK(difference(graph, simple) == 0.0);
}

TEST_CASE("A reshape between layers that depend on the shape stays", "[compiler][passes]") {
    GraphParts parts(7);
    Graph graph = tests::graph_of({4, 4, 2});
    graph.append("conv", parts.convolution({4, 4, 2}, {}, 2, true), {0});
    graph.append("flat", tests::reshape(ir::FeatureMap{1, 1, 32}), {1});
    graph.append("wide", tests::reshape(ir::FeatureMap{2, 8, 2}), {2});
    graph.append("pool", tests::pool("max_pool", ir::Window{2, 2, 2, 2}), {3});
    const ir::Graph simple = passes::remove_identities(graph);
    CHECK(kinds(simple) == "input convolution reshape max_pool ");
    CHECK(difference(graph, simple) == 0.0);
}

TEST_CASE("An input read in two shapes keeps its own", "[compiler][passes]") {
    GraphParts parts(7);
    Graph graph = tests::graph_of({1, 1, 16});
    graph.append("a", tests::reshape(ir::FeatureMap{4, 4, 1}), {0});
    graph.append("pool", tests::pool("max_pool", ir::Window{4, 4}), {1});
    graph.append("b", tests::reshape(ir::FeatureMap{2, 8, 1}), {0});
    graph.append("other_pool", tests::pool("max_pool", ir::Window{2, 8}), {3});
    graph.append("sum", tests::op("add"), {2, 4});
    const ir::Graph simple = passes::remove_identities(graph);
    CHECK(simple.input_map() == ir::FeatureMap{1, 1, 16});
    CHECK(kinds(simple) == "input reshape max_pool reshape max_pool add ");
}

TEST_CASE("Simplifying leaves the original as it was and computes the same", "[compiler][passes]") {
    GraphParts parts(3);
    Graph graph = tests::graph_of({1, 1, 64});
    graph.append("image", tests::reshape(ir::FeatureMap{8, 8, 1}), {0});
    graph.append("border", tests::zero_padding(1, 1, 1, 1), {1});
    graph.append("conv", parts.convolution({10, 10, 1}, {3, 3, 2, 2}, 4, false), {2});
    graph.append("linear", tests::op("identity"), {3});
    graph.append("norm", parts.batch_normalization(4), {4});
    graph.append("relu", tests::op("relu"), {5});
    const std::string before = tests::summary(graph);
    const ir::Graph simple = passes::simplify(graph);
    CHECK(tests::summary(graph) == before);
    CHECK(kinds(simple) == "input convolution relu ");
    CHECK(difference(graph, simple) < tolerance);
}

TEST_CASE("Dense layers read the parts of integer concatenations only if none is converted",
          "[compiler][passes]") {
    std::uint32_t folded = 0;
    std::uint32_t kept = 0;
    constexpr std::uint32_t first_seed = 37'098;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(60); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto one_of = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
        const ir::Encoding joined{0.5, 10, DataType::Uint8};
        const auto encoding_of_part = [&]() -> ir::Encoding {
            if (one_of(3) > 0) return joined;
            if (one_of(2) > 0) return {0.25, 10, DataType::Uint8};
            return {0.5, 110, DataType::Uint8};
        };
        tests::IntegerGraph made;
        std::vector<ir::ValueId> parts;
        const std::uint32_t inputs = one_of(4) + 1;
        const ir::ValueId input = made.input({1, 1, inputs}, joined);
        const auto weights = [&](std::uint32_t count) {
            tests::IntegerWeights drawn{.values = {}, .scales = {0.02}};
            for (std::uint32_t i = 0; i < count; ++i) {
                drawn.values.push_back(static_cast<std::int8_t>(random()));
            }
            return drawn;
        };
        std::uint32_t elements = 0;
        bool converts = false;
        const std::uint32_t count = one_of(2) + 2;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t units = one_of(5) + 1;
            const ir::Encoding encoding = encoding_of_part();
            converts |= encoding != joined;
            parts.push_back(made.dense({input}, units, weights(inputs * units), encoding));
            elements += units;
        }
        const ir::ValueId all = made.append("concat", parts, joined);
        made.dense({all}, 3, weights(elements * 3), joined);
        const ir::Graph after = passes::fold_concat_into_dense(made.graph());
        const bool has_concat =
            std::ranges::any_of(after.nodes, [](const ir::Node& node) { return node.is("concat"); });
        CHECK(has_concat == converts);
        std::vector<std::uint8_t> images(inputs * 8);
        for (std::uint8_t& value : images) value = static_cast<std::uint8_t>(random());
        CHECK(reference::execute(after, images, 8) == reference::execute(made.graph(), images, 8));
        (converts ? kept : folded) += 1;
    }
    CHECK(kept >= tests::random_share(15));
    CHECK(folded >= tests::random_share(10));
}
