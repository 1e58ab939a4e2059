#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using ir::FeatureMap;

TEST_CASE("A dense layer multiplies the flattened input", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(50); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const ir::FeatureMap shape = parts.shape();
        const std::uint32_t units = parts.number(1, 40);
        const std::uint32_t batch = parts.number(1, 5);
        const auto op = parts.dense(shape, units, seed % 2 == 0);
        const std::vector<float> input = parts.values(batch * shape.elements());
        std::vector<float> expected;
        for (std::uint32_t image = 0; image < batch; ++image) {
            for (std::uint32_t unit = 0; unit < units; ++unit) {
                float sum = op.bias.empty() ? 0.0F : op.bias[unit];
                for (std::size_t i = 0; i < shape.elements(); ++i) {
                    sum += input[image * shape.elements() + i] * op.weights[i * units + unit];
                }
                expected.push_back(sum);
            }
        }
        CHECK(tests::largest_difference(tests::evaluate(op, shape, input, batch), expected) < 1e-4);
    }
}

TEST_CASE("Concatenation puts channels behind channels, pixel by pixel", "[compiler][operators]") {
    const tests::Op concat = tests::op("concat");
    const std::vector<ir::FeatureMap> shapes{{1, 2, 1}, {1, 2, 3}, {1, 2, 2}};
    REQUIRE(tests::output_shape(concat, shapes) == ir::FeatureMap{1, 2, 6});
    // Two images of two pixels.
    const std::vector<float> a{1, 2, 3, 4};
    const std::vector<float> b{10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42};
    const std::vector<float> c{100, 101, 200, 201, 300, 301, 400, 401};
    CHECK(tests::evaluate(concat, shapes, {a, b, c}, 2) ==
          std::vector<float>{1, 10, 11, 12, 100, 101, 2, 20, 21, 22, 200, 201,
                             3, 30, 31, 32, 300, 301, 4, 40, 41, 42, 400, 401});
}

TEST_CASE("Concatenation takes two or more maps of one height and width", "[compiler][operators]") {
    const tests::Op concat = tests::op("concat");
    const auto shape_of = [&](const std::vector<ir::FeatureMap>& shapes) {
        return tests::output_shape(concat, shapes);
    };
    CHECK_THROWS_WITH(shape_of({{4, 4, 1}}), "it concatenates 1 input; it must have at least 2");
    CHECK_THROWS_WITH(shape_of({{4, 4, 1}, {4, 4, 2}, {4, 3, 1}}),
                      "it concatenates 4x4x1 and 4x3x1; height and width must be the same");
    CHECK_THROWS_WITH(shape_of({{4, 4, 1}, {3, 4, 1}}),
                      "it concatenates 4x4x1 and 3x4x1; height and width must be the same");
    CHECK_THROWS_WITH(shape_of({{1, 1, 0x80000000}, {1, 1, 0x80000000}}),
                      "its result has 4294967296 channels; that is too large");
}

TEST_CASE("Batch normalization computes its definition", "[compiler][operators]") {
    tests::GraphParts parts(3);
    const ir::FeatureMap shape{3, 2, 4};
    tests::Op op = parts.batch_normalization(shape.channels);
    constexpr float epsilon = 1e-3F;
    const std::vector<float> input = parts.values(2 * shape.elements());
    std::vector<float> expected;
    for (std::size_t i = 0; i < input.size(); ++i) {
        const std::size_t c = i % shape.channels;
        const auto constant = [&](std::size_t which) { return op.by_channel[which][c]; };
        expected.push_back(constant(0) * (input[i] - constant(2)) / std::sqrt(constant(3) + epsilon) +
                           constant(1));
    }
    CHECK(tests::largest_difference(tests::evaluate(op, shape, input, 2), expected) < 1e-5);

    op.by_channel[3][1] = -epsilon;
    CHECK_THROWS_AS(tests::output_shape(op, {shape}), ModelError);
}

TEST_CASE("Activation functions have their textbook values", "[compiler][operators]") {
    struct Point {
        const char* function;
        std::vector<ir::NamedAttribute> attributes;
        float x, y;
    };
    const std::vector<Point> points{
        {"identity", {}, -3.5F, -3.5F},
        {"relu", {}, -1.0F, 0.0F},
        {"relu", {}, 7.0F, 7.0F},
        {"relu", {{"maximum", 6.0}}, 5.5F, 5.5F},
        {"relu", {{"maximum", 6.0}}, 6.5F, 6.0F},
        {"leaky_relu", {{"alpha", double{0.1F}}}, -2.0F, -0.2F},
        {"leaky_relu", {{"alpha", double{0.1F}}}, 2.0F, 2.0F},
        {"elu", {{"alpha", 2.0}}, -1.0F, -1.2642411F},
        {"selu", {}, 1.0F, 1.050701F},
        {"selu", {}, -1.0F, -1.1113307F},
        {"sigmoid", {}, 0.0F, 0.5F},
        {"sigmoid", {}, 2.0F, 0.8807971F},
        {"sigmoid", {}, -200.0F, 0.0F},
        {"tanh", {}, 0.5F, 0.4621172F},
        {"swish", {}, 1.0F, 0.7310586F},
        {"softplus", {}, 0.0F, 0.6931472F},
        {"softplus", {}, 200.0F, 200.0F},
    };
    for (const Point& point : points) {
        INFO(point.function << " at " << point.x);
        const tests::Op op = tests::op(point.function, point.attributes);
        const std::vector<float> results = tests::evaluate(op, {1, 1, 3}, {point.x, point.x, point.x}, 1);
        for (const float result : results) CHECK(result == Approx(point.y).margin(1e-6));
        const ir::Graph graph = tests::one_node(op, {{1, 1, 3}});
        const auto function = operators::operator_of(graph.nodes[0]).function(graph.nodes[0]);
        CHECK(function.has_value() == (std::string(point.function) != "identity"));
        if (function) CHECK((*function)(point.x) == results[0]);
    }
}

TEST_CASE("Softmax makes each pixel's channels probabilities, however large they are",
          "[compiler][operators]") {
    const ir::FeatureMap shape{1, 2, 3};
    const std::vector<float> output = tests::evaluate(
        tests::op("softmax"), shape, {0.0F, std::log(2.0F), std::log(5.0F), 1000.0F, 1000.0F, -1000.0F}, 1);
    const std::vector<float> expected{0.125F, 0.25F, 0.625F, 0.5F, 0.5F, 0.0F};
    CHECK(tests::largest_difference(output, expected) < 1e-6);
}

TEST_CASE("Add needs two inputs that broadcast to one shape", "[compiler][operators]") {
    const tests::Op add = tests::op("add");
    const std::vector<float> a{1.0F, 2.0F};
    const std::vector<float> b{10.0F, 20.0F};
    const std::vector<ir::FeatureMap> shapes{{1, 1, 2}, {1, 1, 2}};
    CHECK(tests::evaluate(add, shapes, {a, b}, 1) == std::vector<float>{11.0F, 22.0F});
    CHECK_THROWS_AS(tests::output_shape(add, {{1, 1, 2}}), ModelError);
    CHECK(tests::output_shape(add, {{1, 1, 2}, {1, 2, 1}}) == ir::FeatureMap{1, 2, 2});
    CHECK_THROWS_AS(tests::output_shape(add, {{1, 1, 2}, {1, 1, 3}}), ModelError);
}

TEST_CASE("Reshape keeps the number of elements", "[compiler][operators]") {
    CHECK(tests::output_shape(tests::reshape({2, 3, 4}), {{1, 1, 24}}) == ir::FeatureMap{2, 3, 4});
    CHECK_THROWS_WITH(tests::output_shape(tests::reshape({2, 3, 4}), {{1, 1, 25}}),
                      "it reshapes 1x1x25 to 2x3x4; the number of elements must stay the same");
    constexpr std::uint32_t large = std::uint32_t{1} << 31;
    CHECK_THROWS_AS(tests::output_shape(tests::reshape({large, large, 4}), {{1, 1, 1}}), ModelError);
}
