#include "sim/study/measure/products.h"

#include <catch2/catch.hpp>

#include "sim/run/baselines/expected.h"
#include "sim/study/array_fill/array_fill.h"
#include "tests/support/graphs.h"

using namespace systole;
using measure::Product;

TEST_CASE("A convolution is a product of its windows, a dense layer one of its inputs", "[measure]") {
    const measure::Products products = measure::products_of(studies::article_cnn({}), 5);
    REQUIRE(products.products.size() == 5);
    CHECK(products.products[0] == Product{"conv2d", 5 * 28 * 28, 12, 3 * 3 * 1});
    CHECK(products.products[1] == Product{"conv2d_1", 5 * 14 * 14, 24, 6 * 6 * 12});
    CHECK(products.products[2] == Product{"conv2d_2", 5 * 7 * 7, 64, 6 * 6 * 24});
    CHECK(products.products[3] == Product{"dense", 5, 200, 7 * 7 * 64});
    CHECK(products.products[4] == Product{"dense_1", 5, 10, 200});
    CHECK(products.left_out.empty());
    CHECK(products.macs() == 5 * ir::macs(studies::article_cnn({})));
}

TEST_CASE("Layers that multiply but are not a matrix product are listed", "[measure]") {
    tests::GraphParts parts(1);
    const ir::FeatureMap shape{6, 6, 3};
    tests::Graph graph = tests::graph_of(shape);
    const ir::Window window{.kernel_height = 3, .kernel_width = 3};
    graph.append("depthwise", parts.depthwise(shape, window, 2, false), {0});
    graph.append("dense", parts.dense({4, 4, 6}, 7, false), {1});
    const measure::Products products = measure::products_of(graph, 2);
    REQUIRE(products.products.size() == 1);
    CHECK(products.products[0] == Product{"dense", 2, 7, 96});
    CHECK(products.left_out == std::vector<std::string>{"depthwise"});
}

TEST_CASE("The network of a baseline has the graph's work, and one layer for each node that is not fused",
          "[baselines]") {
    const ir::Graph graph = studies::article_cnn({});
    const baselines::Network network = baselines::network_of(graph);
    REQUIRE(network.layers.size() == 5);  // activation functions and softmax belong to the layers before
    CHECK(network.macs() == ir::macs(graph));
    CHECK(network.weights() ==
          9 * 12 + 36 * 12 * 24 + 36 * 24 * 64 + std::uint64_t{49} * 64 * 200 + 200 * 10);
    CHECK(network.layers[0].activations == 28 * 28 * (1 + 12));
    CHECK(network.layers[3].activations == 49 * 64 + 200);

    tests::GraphParts parts(2);
    const ir::FeatureMap shape{6, 6, 3};
    tests::Graph made = tests::graph_of(shape);
    const ir::Window window{.kernel_height = 3, .kernel_width = 3};
    made.append("normalize", parts.batch_normalization(3), {0});
    made.append("depthwise", parts.depthwise(shape, window, 2, false), {1});
    const baselines::Network depthwise = baselines::network_of(made);
    REQUIRE(depthwise.layers.size() == 1);
    CHECK(depthwise.weights() == 9 * 6);
    CHECK(depthwise.macs() == 16 * 9 * 6);
}
