// Values that all inferences of a batch share, and nodes that combine a batch into them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_order.h"
#include "tests/support/graphs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Floats = std::vector<float>;
using reference::TensorBytes;
using tests::bytes_of;
using tests::graph_of_text;
using tests::numbers_of;

Floats output_of(const ir::Graph& graph, const std::vector<Floats>& inputs, std::uint32_t batch) {
    return tests::run_in_file_order(graph, inputs, batch).front();
}

/// A reduction of vectors of two elements over their batch.
ir::Graph reduction(const std::string& op, const std::string& attributes, const std::string& result,
                    const std::string& type = "float32") {
    return graph_of_text("graph \"g\"\ninputs %0\noutputs %1\n%0 " + type + " 1x2 \"x\"\n%1 " + type + " " +
                         result + " \"r\"\n%1 = " + op + "(%0) \"r\" {axes [" + attributes +
                         ", over_batch 1}\n");
}

}  // namespace

TEST_CASE("A reduction over the batch makes one result of all inferences", "[compiler][reference]") {
    const Floats x{1, 2, 3, -4, 5, 6};
    CHECK(output_of(reduction("reduce_sum", "0], keep 1", "1x2"), {x}, 3) == Floats{9, 4});
    CHECK(output_of(reduction("reduce_sum", "0]", "2"), {x}, 3) == Floats{9, 4});
    CHECK(output_of(reduction("reduce_sum", "0, 1]", "scalar"), {x}, 3) == Floats{13});
    CHECK(output_of(reduction("reduce_mean", "0], keep 1", "1x2"), {x}, 3) == Floats{3, 4.0F / 3.0F});
    CHECK(output_of(reduction("reduce_mean", "0, 1]", "scalar"), {x}, 3) == Floats{13.0F / 6.0F});
    CHECK(output_of(reduction("reduce_max", "0], keep 1", "1x2"), {x}, 3) == Floats{5, 6});
    CHECK(output_of(reduction("reduce_min", "0], keep 1", "1x2"), {x}, 3) == Floats{1, -4});
    CHECK(output_of(reduction("reduce_product", "0], keep 1", "1x2"), {x}, 3) == Floats{15, -48});
    CHECK(output_of(reduction("reduce_sum", "0], keep 1", "1x2"), {Floats{7, 8}}, 1) == Floats{7, 8});
    const TensorBytes integers = bytes_of(std::vector<std::int32_t>{1, 2, 3, -4, 5, 6});
    const std::span<const std::uint8_t> span(integers);
    const ir::Graph sum = reduction("reduce_sum", "0], keep 1", "1x2", "int32");
    CHECK(numbers_of<std::int32_t>(reference::run(sum, {&span, 1}, 3).front()) ==
          std::vector<std::int32_t>{9, 4});
    const std::span<const std::uint8_t> none;
    CHECK_THROWS_WITH(reference::run(sum, {&none, 1}, 0), "a batch of 0 has nothing to combine");
}

TEST_CASE("A reduction over a batch larger than what is computed at a time is of the whole batch",
          "[compiler][reference]") {
    Floats x(2000);
    std::iota(x.begin(), x.end(), 0.0F);
    CHECK(output_of(reduction("reduce_max", "0], keep 1", "1x2"), {x}, 1000) == Floats{1998, 1999});
    CHECK(output_of(reduction("reduce_sum", "0], keep 1", "1x2"), {x}, 1000) == Floats{999000, 1000000});
}

TEST_CASE("Each inference can be compared with the mean of all", "[compiler][reference]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %2, %3\n%0 float32 1x2 \"x\"\n%1 float32 1x2 \"mean\"\n"
        "%2 float32 1x2 \"d\"\n%3 float32 1x2 \"twice\"\n"
        "%1 = reduce_mean(%0) \"mean\" {axes [0], keep 1, over_batch 1}\n"
        "%2 = subtract(%0, %1) \"d\"\n%3 = add(%1, %1) \"twice\"\n");
    const Floats x{1, 10, 2, 20, 6, 60};
    const std::span<const float> span(x);
    const std::vector<Floats> outputs = reference::execute(graph, {&span, 1}, 3);
    CHECK(outputs[0] == Floats{-2, -20, -1, -10, 3, 30});
    CHECK(outputs[1] == Floats{6, 60});
    std::vector<std::size_t> seen(graph.values.size(), 0);
    reference::execute(graph, {&span, 1}, 3,
                       [&](ir::ValueId id, std::span<const float> values) { seen[id] += values.size(); });
    CHECK(seen == std::vector<std::size_t>{6, 2, 6, 2});
}

TEST_CASE("Shared weights give the bits that constants give", "[compiler][reference]") {
    constexpr std::uint32_t batch = 5;
    tests::GraphParts parts(1);
    const ir::FeatureMap map{4, 5, 3};
    for (const bool is_dense : {true, false}) {
        const tests::Op op = is_dense
                                 ? parts.dense(map, 7, true)
                                 : parts.convolution(map, {.kernel_height = 2, .kernel_width = 3}, 7, true);
        const ir::Graph constant = tests::one_node(op, {map});
        ir::Graph shared = constant;
        ir::Node& node = shared.nodes.front();
        node.stated_data = 1;
        std::vector<Floats> inputs{parts.values(batch * map.elements())};
        for (std::size_t i = 1; i < node.inputs.size(); ++i) {
            ir::Value& value = shared.values[node.inputs[i]];
            const std::span<const float> values = value.constant->values<float>();
            inputs.emplace_back(values.begin(), values.end());
            value.constant.reset();
            value.is_shared = true;
            shared.inputs.push_back(node.inputs[i]);
        }
        const std::string text = ir::to_text(shared);
        CHECK_THAT(text, Catch::Contains("\" shared\n"));
        CHECK(graph_of_text(text) == shared);
        CHECK(output_of(shared, inputs, batch) == reference::execute(constant, inputs.front(), batch));
    }
}

TEST_CASE("Shared data may meet weights of each inference, and shared weights", "[compiler][reference]") {
    const std::string data =
        "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x2 \"x\" shared\n%1 float32 2x1 \"w\"\n"
        "%2 float32 1x1 \"d\"\n%2 = dense(%0; %1) \"d\"\n";
    CHECK(output_of(graph_of_text(data), {{5, 7}, {1, 2, 3, 4}}, 2) == Floats{5 + 14, 15 + 28});
    std::string both = data;
    both.replace(both.find("\"w\""), 3, "\"w\" shared");
    CHECK(output_of(graph_of_text(both), {{5, 7}, {1, 2}}, 2) == Floats{5 + 14});
}

TEST_CASE("A training step changes shared weights by the sum over its batch", "[compiler][reference]") {
    // y = x w, loss = sum (y - t)^2 / 2: the gradient of w is the sum of x (y - t).
    const ir::Graph graph = graph_of_text(
        "graph \"step\"\n"
        "inputs %0, %1, %2\n"
        "outputs %3, %10\n"
        "state %2 -> %10\n"
        "%0 float32 1x2 \"x\"\n"
        "%1 float32 1x1 \"t\"\n"
        "%2 float32 2x1 \"w\" shared\n"
        "%3 float32 1x1 \"y\"\n"
        "%4 float32 1x1 \"error\"\n"
        "%5 float32 1x2 \"products\"\n"
        "%6 float32 1x2 \"gradient\"\n"
        "%7 float32 2x1 \"column\"\n"
        "%8 float32 scalar \"rate\" = [0.25]\n"
        "%9 float32 2x1 \"change\"\n"
        "%10 float32 2x1 \"new w\"\n"
        "%3 = dense(%0; %2) \"y\"\n"
        "%4 = subtract(%3, %1) \"error\"\n"
        "%5 = multiply(%0, %4) \"products\"\n"
        "%6 = reduce_sum(%5) \"gradient\" {axes [0], keep 1, over_batch 1}\n"
        "%7 = transpose(%6) \"column\" {permutation [1, 0]}\n"
        "%9 = multiply(%7, %8) \"change\"\n"
        "%10 = subtract(%2, %9) \"new w\"\n");
    const std::vector<TensorBytes> step{bytes_of(Floats{1, 0, 0, 1, 1, 1}), bytes_of(Floats{1, 2, 3})};
    const auto results = reference::run_steps(graph, {bytes_of(Floats{0, 0})},
                                              std::vector<std::vector<TensorBytes>>{step, step}, 3);
    // y = 0, 0, 0; errors -1, -2, -3; gradient -1 - 3, -2 - 3.
    CHECK(numbers_of<float>(results[0][0]) == Floats{0, 0, 0});
    CHECK(numbers_of<float>(results[0][1]) == Floats{1, 1.25F});
    // y = 1, 1.25, 2.25; errors 0, -0.75, -0.75; gradient -0.75, -1.5.
    CHECK(numbers_of<float>(results[1][0]) == Floats{1, 1.25F, 2.25F});
    CHECK(numbers_of<float>(results[1][1]) == Floats{1.1875F, 1.625F});
}
