// The ranges that calibration gives to tensors, by what reads them.
#include "compiler/passes/calibrate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using tests::Graph;
using tests::NodeId;

namespace {

/// What reads the elements of a convolution.
enum class Reads {
    Sigmoid,
    SigmoidOfMaximum,
    SigmoidOfAverage,
    SigmoidAndConvolution,
    SigmoidAndOutput,
    TwoSigmoids
};

float width(const ir::Range& range) {
    return range.maximum - range.minimum;
}

/// The range that a convolution gets, whose results are far below 0, but for a few.
ir::Range range_before(Reads reads, std::uint32_t seed, passes::CalibrationMethod method) {
    tests::GraphParts parts(seed);
    Graph graph = tests::graph_of({8, 8, 1});
    const ir::Window window{.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2};
    const NodeId made = graph.append("made", tests::convolution({}, 1, 1, {1.0F}), {0});
    NodeId read = made;
    if (reads == Reads::SigmoidOfMaximum) read = graph.append("pool", tests::max_pool(window), {made});
    if (reads == Reads::SigmoidOfAverage)
        read = graph.append("pool", tests::pool("average_pool", window), {made});
    const NodeId sigmoid = graph.append("sigmoid", tests::op("sigmoid"), {read});
    std::vector<ir::ValueId> outputs{graph.value(sigmoid)};
    if (reads == Reads::SigmoidAndConvolution)
        outputs.push_back(graph.value(graph.append("other", tests::convolution({}, 1, 1, {1.0F}), {made})));
    if (reads == Reads::TwoSigmoids)
        outputs.push_back(graph.value(graph.append("other", tests::op("sigmoid"), {made})));
    if (reads == Reads::SigmoidAndOutput) outputs.push_back(graph.value(made));
    graph.get().outputs = outputs;
    std::vector<float> inputs = parts.values(std::uint64_t{8} * 8 * 4, -60.0F, -30.0F);
    for (std::size_t i = 0; i < inputs.size(); i += 32) inputs[i] = parts.values(1, -3.0F, 3.0F).front();
    const ir::Graph ranges = passes::calibrate(
        graph, {.inputs = inputs, .count = 4, .encoding = {}, .further_inputs = {}, .method = method});
    return ranges.values[graph.value(made)].range.value();
}

}  // namespace

TEST_CASE("What a function alone reads gets the range where the function is steep", "[compiler][passes]") {
    using enum passes::CalibrationMethod;
    for (std::uint32_t seed = 0; seed < tests::random_runs(20); ++seed) {
        INFO("seed " << seed);
        const float all = width(range_before(Reads::Sigmoid, seed, MinMax));
        CHECK(width(range_before(Reads::Sigmoid, seed, LeastError)) < 0.4F * all);
        CHECK(width(range_before(Reads::SigmoidOfMaximum, seed, LeastError)) < 0.4F * all);
        for (const Reads reads : {Reads::SigmoidOfAverage, Reads::SigmoidAndConvolution,
                                  Reads::SigmoidAndOutput, Reads::TwoSigmoids}) {
            INFO("read by " << static_cast<int>(reads));
            CHECK(width(range_before(reads, seed, LeastError)) > 0.7F * all);
        }
        CHECK(width(range_before(Reads::Sigmoid, seed, Percentile)) > 0.7F * all);
    }
}
