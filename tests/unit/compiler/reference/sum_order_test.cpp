// Sums in float32 in the order that `sum_tile` says, to the bit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_order.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Floats = std::vector<float>;

/// The sum of products in parts of `tile`.
float sum_of(const Floats& a, const Floats& b, std::size_t tile) {
    float sum = 0.0F;
    std::size_t i = 0;
    for (bool is_first = true; i < a.size(); is_first = false) {
        float part = 0.0F;
        for (std::size_t n = 0; n < tile && i < a.size(); ++n, ++i) part = std::fma(a[i], b[i], part);
        sum = is_first ? part : sum + part;
    }
    return sum;
}

/// Every `step`th element from `first` on.
Floats column_of(const Floats& matrix, std::size_t first, std::size_t step) {
    Floats column;
    for (std::size_t i = first; i < matrix.size(); i += step) column.push_back(matrix[i]);
    return column;
}

ir::Graph with_tile(ir::Graph graph, std::size_t tile) {
    graph.nodes.front().set("sum_tile", static_cast<std::int64_t>(tile));
    const std::string text = ir::to_text(graph);
    CHECK_THAT(text, Catch::Contains("sum_tile"));
    CHECK(tests::graph_of_text(text) == graph);
    return graph;
}

}  // namespace

TEST_CASE("The sums of a dense layer are cut after so many products, across its inputs",
          "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const std::uint32_t first = parts.number(1, 20);
        const std::uint32_t second = parts.number(1, 20);
        const std::uint32_t units = parts.number(1, 5);
        const std::uint32_t batch = parts.number(1, 3);
        const std::size_t tile = parts.number(1, 45);
        tests::Op op =
            tests::dense(first + second, units, parts.values(std::uint64_t{first + second} * units));
        if (seed % 2 == 0) op.bias = parts.values(units);
        const ir::Graph graph = with_tile(tests::one_node(op, {{1, 1, first}, {1, 1, second}}), tile);
        const std::vector<Floats> inputs{parts.values(batch * first), parts.values(batch * second)};
        const Floats outputs = tests::run_in_file_order(graph, inputs, batch).front();
        Floats expected;
        for (std::uint32_t i = 0; i < batch; ++i) {
            Floats x(inputs[0].begin() + i * first, inputs[0].begin() + (i + 1) * first);
            x.insert(x.end(), inputs[1].begin() + i * second, inputs[1].begin() + (i + 1) * second);
            for (std::uint32_t unit = 0; unit < units; ++unit) {
                const float sum = sum_of(x, column_of(op.weights, unit, units), tile);
                expected.push_back(op.bias.empty() ? sum : sum + op.bias[unit]);
            }
        }
        CHECK(outputs == expected);
    }
}

TEST_CASE("The sums of a convolution are cut in the order of its weights, zeros of the border included",
          "[compiler][reference]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(30); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const std::uint32_t groups = parts.number(1, 2);
        const std::uint32_t own = parts.number(1, 3);
        const std::uint32_t filters = groups * parts.number(1, 3);
        const ir::FeatureMap map{parts.number(1, 5), parts.number(1, 5), groups * own};
        const ir::Window window = parts.window(map);
        const std::size_t tile = parts.number(1, 30);
        const std::uint64_t depth = window.kernel_elements() * own;
        tests::Op op = tests::convolution(window, own, filters, parts.values(depth * filters));
        op.attributes.emplace_back("groups", std::int64_t{groups});
        const ir::Graph graph = with_tile(tests::one_node(op, {map}), tile);
        const Floats image = parts.values(map.elements());
        const ir::FeatureMap result = graph.output_map();
        Floats expected;
        for (std::uint32_t y = 0; y < result.height; ++y) {
            for (std::uint32_t x = 0; x < result.width; ++x) {
                for (std::uint32_t filter = 0; filter < filters; ++filter) {
                    const std::uint32_t group = filter / (filters / groups);
                    Floats under;
                    for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
                        for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
                            const std::int64_t at_y =
                                std::int64_t{y} * window.stride_y + row - window.pad_top;
                            const std::int64_t at_x =
                                std::int64_t{x} * window.stride_x + column - window.pad_left;
                            const bool is_inside =
                                at_y >= 0 && at_x >= 0 && at_y < map.height && at_x < map.width;
                            for (std::uint32_t c = 0; c < own; ++c) {
                                const auto element = static_cast<std::size_t>(
                                    (at_y * map.width + at_x) * map.channels + group * own + c);
                                under.push_back(is_inside ? image[element] : 0.0F);
                            }
                        }
                    }
                    expected.push_back(sum_of(under, column_of(op.weights, filter, filters), tile));
                }
            }
        }
        CHECK(reference::execute(graph, image, 1) == expected);
    }
}

TEST_CASE("The order of a sum decides its bits", "[compiler][reference]") {
    // 2^24 + 1 + 1: each 1 is lost alone, and both together are not.
    const tests::Op op = tests::dense(4, 1, {16777216.0F, 0.0F, 1.0F, 1.0F});
    const ir::Graph graph = tests::one_node(op, {{1, 1, 4}});
    CHECK(reference::execute(with_tile(graph, 4), Floats{1, 1, 1, 1}, 1) == Floats{16777216.0F});
    CHECK(reference::execute(with_tile(graph, 2), Floats{1, 1, 1, 1}, 1) == Floats{16777218.0F});
    // A product is not rounded before it is added: (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24.
    const float near = 1.0F + std::ldexp(1.0F, -12);
    const ir::Graph two = tests::one_node(tests::dense(2, 1, {-1.0F, near}), {{1, 1, 2}});
    CHECK(reference::execute(with_tile(two, 2), Floats{1, near}, 1) ==
          Floats{std::ldexp(1.0F, -11) + std::ldexp(1.0F, -24)});
}
