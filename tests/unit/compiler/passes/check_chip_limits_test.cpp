#include "compiler/passes/check_chip_limits.h"

#include <catch2/catch.hpp>
#include <string>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/ready_for_run.h"
#include "compiler/passes/scale_images.h"
#include "tests/support/file_order.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

std::string refusal_by(const auto& compile) {
    try {
        compile();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

/// What each way to the compiler of a machine of integers says to a graph; all must say the same.
std::string refusal_for_integers(const ir::Graph& graph) {
    const std::string refusal = refusal_by([&] { passes::simplify(graph); });
    CHECK(refusal_by([&] { passes::prepare(graph, {}); }) == refusal);
    CHECK(refusal_by([&] { passes::prepare_beside_float(graph, {}); }) == refusal);
    return refusal;
}

/// The same, and what is said before the machine is known.
std::string refusal_of(const ir::Graph& graph) {
    const std::string refusal = refusal_by([&] { passes::check_chip_limits(graph); });
    CHECK(refusal_by([&] { passes::ready_for_run(graph); }) == refusal);
    CHECK(refusal_for_integers(graph) == refusal);
    return refusal;
}

/// A dense layer whose weights another node computes, between nodes that the passes fold into constant
/// weights: a transposed image, a concatenation, products and sums with constants, a batch normalization.
const std::string surrounded =
    "graph \"g\"\n"
    "inputs %0, %1, %2\n"
    "outputs %12, %14\n"
    "%0 float32 1x2x2x2 \"image\"\n"
    "%1 float32 1x3 \"vector\"\n"
    "%2 float32 2x11 \"turned\"\n"
    "%3 float32 1x2x2x2 \"t\"\n"
    "%4 float32 1x8 \"flat\"\n"
    "%5 float32 1x11 \"both\"\n"
    "%6 float32 11x2 \"w\"\n"
    "%7 float32 1x2 \"d\"\n"
    "%8 float32 1x2 \"n\"\n"
    "%9 float32 2 \"gamma\" = [2.0, 3.0]\n"
    "%10 float32 2 \"beta\" = [0.5, -0.5]\n"
    "%11 float32 2 \"one\" = [1.0, 1.0]\n"
    "%12 float32 1x2 \"half\"\n"
    "%13 float32 1 \"factor\" = [0.5]\n"
    "%14 float32 1x2 \"e\"\n"
    "%3 = transpose(%0) \"t\" {permutation [0, 3, 1, 2]}\n"
    "%4 = reshape(%3) \"flat\" {shape [1, 8]}\n"
    "%5 = concat(%4, %1) \"both\" {axis 1}\n"
    "%6 = transpose(%2) \"w\" {permutation [1, 0]}\n"
    "%7 = dense(%5; %6, %10) \"d\"\n"
    "%8 = batch_normalization(%7, %9, %10, %10, %11) \"n\"\n"
    "%12 = multiply(%8, %13) \"half\"\n"
    "%14 = dense(%3, %1; %6) \"e\"\n";

}  // namespace

TEST_CASE("What no chip runs is refused in one line, before any pass", "[compiler][passes]") {
    CHECK(refusal_of(tests::graph_of_text(surrounded)) ==
          "layer \"d\": another layer computes its weights; the chip needs constant weights");
    const std::string bias =
        "graph \"g\"\ninputs %0, %1\noutputs %3\n%0 float32 1x2 \"x\"\n%1 float32 2 \"b\"\n"
        "%2 float32 2x2 \"w\" = [1.0, 2.0, 3.0, 4.0]\n%3 float32 1x2 \"d\"\n%3 = dense(%0; %2, %1) \"d\"\n";
    CHECK(refusal_of(tests::graph_of_text(bias)) ==
          "layer \"d\": another layer computes its bias; the chip needs constant weights");
    const std::string shared =
        "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x2 \"x\"\n%1 float32 1x2 \"y\" shared\n"
        "%2 float32 1x2 \"z\"\n%2 = add(%0, %1) \"z\"\n";
    CHECK(refusal_of(tests::graph_of_text(shared)) ==
          "input \"y\": all inferences of a batch share it; no chip runs this yet");
    const std::string sum =
        "graph \"g\"\ninputs %0\noutputs %1\n%0 float32 1x2 \"x\"\n%1 float32 1x2 \"s\"\n"
        "%1 = reduce_sum(%0) \"s\" {axes [0], keep 1, over_batch 1}\n";
    CHECK(refusal_of(tests::graph_of_text(sum)) ==
          "layer \"s\": it combines the inferences of a batch; no chip does so yet");
    const std::string order =
        "graph \"g\"\ninputs %0\noutputs %2\n%0 float32 1x2 \"x\"\n%1 float32 2x1 \"w\" = [1.0, 2.0]\n"
        "%2 float32 1x1 \"d\"\n%2 = dense(%0, %1) \"d\" {sum_tile 2}\n";
    CHECK(refusal_of(tests::graph_of_text(order)) ==
          "layer \"d\": its float32 sums have an order (sum_tile); the chip computes it on integers");
    // On integers, the rest is the host's, which keeps the order.
    const std::string mixed =
        "graph \"g\"\ninputs %0\noutputs %3\n%0 uint8 1x2 \"x\" scale 0.5 zero 0\n"
        "%1 float32 1x2 \"y\"\n%2 float32 2x1 \"w\" = [1.0, 2.0]\n%3 float32 1x1 \"d\"\n"
        "%1 = dequantize(%0) \"y\"\n%3 = dense(%1, %2) \"d\" {sum_tile 2}\n";
    CHECK(refusal_of(tests::graph_of_text(mixed)) == "none");
}

TEST_CASE("Machines of integers refuse state, and passes leave graphs with state as they are",
          "[compiler][passes]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %2\nstate %0 -> %2\n%0 float32 1x2x3 \"x\"\n%1 float32 1x3x2 \"t\"\n"
        "%2 float32 1x2x3 \"y\"\n%1 = transpose(%0) \"t\" {permutation [0, 2, 1]}\n"
        "%2 = reshape(%1) \"y\" {shape [1, 2, 3]}\n");
    CHECK(refusal_for_integers(graph) ==
          "input \"x\": an output replaces it in the next run; only machines with tensor cores keep state");
    CHECK(ir::to_text(passes::ready_for_run(graph)) == ir::to_text(graph));
    const ir::Graph words = passes::prepare_in_words(graph, {});
    CHECK(words.state == graph.state);
    CHECK(words.values[words.inputs[0]].file_axes.empty());
}

TEST_CASE("Passes leave a layer with computed weights as it is", "[compiler][passes]") {
    const ir::Graph graph = tests::graph_of_text(surrounded);
    for (std::uint32_t seed = 0; seed < tests::random_runs(5); ++seed) {
        INFO("seed " << seed);
        constexpr std::uint32_t batch = 3;
        tests::GraphParts parts(seed);
        std::vector<std::vector<float>> inputs;
        for (const ir::ValueId id : graph.inputs) {
            inputs.push_back(parts.values(batch * graph.values[id].shape.elements()));
        }
        const std::vector<std::vector<float>> expected = tests::run_in_file_order(graph, inputs, batch);
        const ir::Graph simple =
            passes::simplification().run(graph, [&](std::string_view pass, const ir::Graph& after) {
                INFO("pass " << pass);
                const std::vector<std::vector<float>> outputs =
                    tests::run_in_file_order(after, inputs, batch);
                REQUIRE(outputs.size() == expected.size());
                CHECK(tests::largest_difference(outputs[0], expected[0]) < 1e-5);
                CHECK(tests::largest_difference(outputs[1], expected[1]) < 1e-5);
                CHECK(tests::graph_of_text(ir::to_text(after)) == after);
            });
        // The concatenation is gone, and the parameters stay behind the data.
        CHECK_THAT(ir::to_text(simple), Catch::Contains("dense(%") && !Catch::Contains("concat"));
        CHECK_THAT(ir::to_text(passes::drop_weights(simple)), Catch::Contains("without weights"));
    }
}

TEST_CASE("Weights that come from the image grow with it", "[compiler][passes]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\" without weights\ninputs %0\noutputs %3\n%0 float32 1x2x2x1 \"x\"\n"
        "%1 float32 1x4 \"flat\"\n%2 float32 4x1 \"w\"\n%3 float32 1x1 \"d\"\n"
        "%1 = reshape(%0) \"flat\" {shape [1, 4]}\n%2 = transpose(%1) \"w\" {permutation [1, 0]}\n"
        "%3 = dense(%0; %2) \"d\"\n");
    const ir::Graph larger = passes::scale_images(graph, 3);
    CHECK(larger.values[2].shape == ir::Shape{36, 1});
    CHECK(larger.output().shape == ir::Shape{1, 1});
}
