// 16-bit activations and dense layers of several inputs.
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/operators/quantize_weights.h"
#include "compiler/operators/tables.h"
#include "compiler/passes/fold_concat_into_dense.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/unite_ranges.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/passes/compare.h"

using namespace systole;
using namespace systole::passes::tests;
using ir::Encoding;
using tests::Graph;
using tests::GraphParts;
using tests::NodeId;

namespace {

/// Two slices of the input, concatenated.
struct TwoParts {
    TwoParts() : graph(tests::graph_of({1, 1, 10})) {
        graph.append("a", tests::slice(0, 4), {0});
        graph.append("b", tests::slice(3, 5), {0});
        concat = graph.append("ab", tests::op("concat"), {1, 2});
    }

    GraphParts parts{7};
    Graph graph;
    NodeId concat = 0;
};

std::string error_of(const ir::Graph& graph) {
    GraphParts parts(1);
    try {
        passes::prepare(graph,
                        {.inputs = parts.values(graph.input().shape.elements()), .count = 1, .encoding = {}});
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("A concatenation that only dense layers read disappears", "[compiler][passes]") {
    TwoParts two;
    const NodeId first = two.graph.append("first", two.parts.dense({1, 1, 9}, 6, true), {two.concat});
    const NodeId second = two.graph.append("second", two.parts.dense({1, 1, 9}, 6, true), {two.concat});
    // And one of a concatenation of concatenations, by way of a reshape.
    const NodeId both = two.graph.append("both", tests::op("concat"), {first, second, two.concat});
    const NodeId reshaped = two.graph.append("shape", tests::reshape(ir::FeatureMap{1, 1, 21}), {both});
    two.graph.append("last", two.parts.dense({1, 1, 21}, 3, true), {reshaped});
    const ir::Graph folded = passes::simplify(two.graph);
    CHECK(kinds(folded) == "input slice slice dense dense dense ");
    CHECK(tests::summary(folded).find("%5 = dense(%3, %4, %1, %2)") != std::string::npos);
    CHECK(difference(two.graph, folded) < 1e-5);
}

TEST_CASE("A concatenation with other readers, or of maps, stays", "[compiler][passes]") {
    TwoParts two;
    two.graph.append("dense", two.parts.dense({1, 1, 9}, 9, true), {two.concat});
    two.graph.append("sum", tests::op("concat"), {two.concat, 4});
    const std::string before = kinds(two.graph);
    CHECK(kinds(passes::fold_concat_into_dense(two.graph)) == before);

    GraphParts parts(3);
    Graph maps = tests::graph_of({2, 2, 3});
    maps.append("concat", tests::op("concat"), {0, 0});
    maps.append("dense", parts.dense({2, 2, 6}, 4, true), {1});
    CHECK(kinds(passes::fold_concat_into_dense(maps)) == "input concat dense ");
}

TEST_CASE("The inputs of a dense layer share a range, the network's of 8 bits apart", "[compiler][passes]") {
    const std::vector<ir::Range> ranges{{-9, 9}, {-1, 2}, {-3, 1}, {0, 5}};
    for (const std::uint8_t bits : {std::uint8_t{8}, std::uint8_t{16}}) {
        GraphParts parts(3);
        Graph graph({1, 1, 2}, bits);
        const auto tanh = [] { return tests::op("tanh"); };
        graph.append("a", tanh(), {0}, bits);
        graph.append("b", tanh(), {0}, bits);
        graph.append("dense", parts.dense({1, 1, 6}, 2, true), {1, 0, 2}, bits);
        for (NodeId id = 0; id < ranges.size(); ++id) graph.get().values[graph.value(id)].range = ranges[id];
        const ir::Graph united = passes::unite_ranges(graph);
        const auto range = [&](NodeId id) {
            const ir::Range found = united.values[graph.value(id)].range.value();
            return std::pair(found.minimum, found.maximum);
        };
        if (bits == 8) {
            CHECK(range(0) == std::pair(-9.0F, 9.0F));
            CHECK(range(1) == std::pair(-3.0F, 2.0F));
        } else {
            CHECK(range(0) == std::pair(-9.0F, 9.0F));
            CHECK(range(1) == std::pair(-9.0F, 9.0F));
        }
        CHECK(range(2) == range(1));
        CHECK(range(3) == std::pair(0.0F, 5.0F));
    }
}

TEST_CASE("16 bits cover the range to both sides, zero point 0", "[compiler][passes]") {
    const Encoding encoding = ir::encoding_of(ir::Range{-3.0F, 1.0F}, DataType::Int16);
    CHECK(encoding.zero_point == 0);
    CHECK(encoding.stored(-3.0) == -32767);
    CHECK(encoding.stored(0.0) == 0);
    CHECK(encoding.stored(1.0) == 10922);
    CHECK(encoding.stored(-100.0) == -32768);
    CHECK(encoding.stored(100.0) == 32767);
    CHECK(ir::encoding_of(ir::Range{}, DataType::Int16).scale > 0.0);
}

TEST_CASE("A wide table holds the function at every 128th number", "[compiler][passes]") {
    const Encoding from{8.0 / 32768, 0, DataType::Int16};
    const Encoding to{1.0 / 32767, 0, DataType::Int16};
    const ir::Constant made = operators::make_table([](float x) { return std::tanh(x); }, from, to);
    const std::span<const std::int16_t> table = made.values<std::int16_t>();
    REQUIRE(table.size() == 513);
    for (std::int32_t i = 0; i <= 512; ++i) {
        const double exact = std::tanh(8.0 * (i - 256) / 256);
        CHECK(std::abs(table[static_cast<std::size_t>(i)] - exact * 32767) <= 0.51);
    }
    CHECK_THROWS_AS(operators::make_table([](float x) { return x; }, Encoding{}, to), std::logic_error);
}

TEST_CASE("No sum of 16-bit activations leaves 32 bits", "[compiler][passes]") {
    // 700 weights of one sign and size: at 127 each, sums would reach 2^31.4.
    const std::vector<float> weights(700, 0.5F);
    const std::vector<float> bias{0.25F};
    const Encoding input{1.0 / 32768, 0, DataType::Int16};
    const auto quantized = operators::quantize_weights(weights, bias, input, {0.01, 0, DataType::Int16});
    std::int64_t sum = 0;
    for (const std::int8_t weight : quantized.weights) sum += weight;
    CHECK(sum * 32768 + quantized.bias[0] < std::int64_t{1} << 31);
    CHECK(quantized.weights[0] == 64);  // half of 127, rounded
    // With bytes there is room for all.
    CHECK(operators::quantize_weights(weights, bias, {1.0 / 255, 0}, {0.01, 0}).weights[0] == 127);
}

TEST_CASE("Weights are adapted to the scales of several inputs, the bias to their zero points",
          "[compiler][passes]") {
    GraphParts parts(11);
    const std::vector<float> weights = parts.values(7 * 2);
    const std::vector<float> bias = parts.values(2);
    const std::vector<operators::WeightedInput> inputs{{{0.02, 100}, 3}, {{0.01, 7}, 4}};
    const auto quantized = operators::quantize_weights(weights, bias, inputs, {0.05, 128});
    // Stored numbers, and what they stand for.
    for (std::uint32_t trial = 0; trial < tests::random_runs(50); ++trial) {
        for (std::size_t c = 0; c < 2; ++c) {
            double exact = bias[c];
            double allowed = 0.02;
            std::int64_t sum = quantized.bias[c];
            const double step = 0.02 * quantized.scales[c];
            for (std::size_t i = 0; i < 7; ++i) {
                const auto stored = static_cast<std::int32_t>(parts.number(0, 255));
                const Encoding& encoding = inputs[i < 3 ? 0 : 1].encoding;
                exact += encoding.real(stored) * double{weights[i * 2 + c]};
                allowed += std::abs(encoding.real(stored)) * 0.51 * step / encoding.scale;
                sum += std::int64_t{stored - encoding.zero_point} * quantized.weights[i * 2 + c];
            }
            CHECK(std::abs(static_cast<double>(sum) * step - exact) <= allowed);
        }
    }
}

TEST_CASE("Moving elements keeps their bits", "[compiler][passes]") {
    Graph pool({4, 4, 2}, 16);
    const ir::Window window{.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2};
    pool.append("pool", tests::pool("max_pool", window), {0}, 16);
    CHECK(error_of(pool) ==
          "made: layer \"pool\": it is a max_pool of 16 bits; it must be of 8, as the chip pools no others");
    pool.store(1, 8);
    CHECK(error_of(pool) ==
          "made: layer \"pool\": it gives 8 bits from 16 bits; of max_pool, input and result have as many");
}
