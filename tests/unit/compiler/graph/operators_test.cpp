#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/add.h"
#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/reshape.h"
#include "compiler/graph/operators/softmax.h"
#include "compiler/model_error.h"
#include "tests/support/graphs.h"

using namespace systole;
using graph::Activation;
using graph::ActivationFunction;
using graph::Shape;

TEST_CASE("A dense layer multiplies the flattened input", "[compiler][graph]") {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        const Shape shape = parts.shape();
        const std::uint32_t units = parts.number(1, 40);
        const std::uint32_t batch = parts.number(1, 5);
        const auto op = parts.dense(shape, units, seed % 2 == 0);
        const std::vector<float> input = parts.values(batch * shape.elements());
        std::vector<float> expected;
        for (std::uint32_t image = 0; image < batch; ++image) {
            for (std::uint32_t unit = 0; unit < units; ++unit) {
                float sum = op->bias.empty() ? 0.0F : op->bias[unit];
                for (std::size_t i = 0; i < shape.elements(); ++i) {
                    sum += input[image * shape.elements() + i] * op->weights[i * units + unit];
                }
                expected.push_back(sum);
            }
        }
        CHECK(tests::largest_difference(tests::evaluate(*op, shape, input, batch), expected) < 1e-4);
    }
}

TEST_CASE("Concatenation puts channels behind channels, pixel by pixel", "[compiler][graph]") {
    const graph::Concat concat;
    const std::vector<Shape> shapes{{1, 2, 1}, {1, 2, 3}, {1, 2, 2}};
    REQUIRE(concat.output_shape(shapes) == Shape{1, 2, 6});
    // Two images of two pixels.
    const std::vector<float> a{1, 2, 3, 4};
    const std::vector<float> b{10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42};
    const std::vector<float> c{100, 101, 200, 201, 300, 301, 400, 401};
    const std::vector<const float*> inputs{a.data(), b.data(), c.data()};
    std::vector<float> output(2 * 12);
    concat.evaluate(shapes, inputs, 2, output.data());
    CHECK(output == std::vector<float>{1, 10, 11, 12, 100, 101, 2, 20, 21, 22, 200, 201,
                                       3, 30, 31, 32, 300, 301, 4, 40, 41, 42, 400, 401});
}

TEST_CASE("Concatenation takes two or more maps of one height and width", "[compiler][graph]") {
    const graph::Concat concat;
    const auto shape_of = [&](const std::vector<Shape>& shapes) { return concat.output_shape(shapes); };
    CHECK_THROWS_WITH(shape_of({{4, 4, 1}}), "it concatenates 1 inputs; it must have at least 2");
    CHECK_THROWS_WITH(shape_of({{4, 4, 1}, {4, 4, 2}, {4, 3, 1}}),
                      "it concatenates 4x4x1 and 4x3x1; height and width must be the same");
    CHECK_THROWS_WITH(shape_of({{4, 4, 1}, {3, 4, 1}}),
                      "it concatenates 4x4x1 and 3x4x1; height and width must be the same");
    CHECK_THROWS_WITH(shape_of({{1, 1, 0x80000000}, {1, 1, 0x80000000}}),
                      "its result has 4294967296 channels; that is too large");
}

TEST_CASE("Batch normalization computes its definition", "[compiler][graph]") {
    tests::GraphParts parts(3);
    const Shape shape{3, 2, 4};
    const auto op = parts.batch_normalization(shape.channels);
    const std::vector<float> input = parts.values(2 * shape.elements());
    std::vector<float> expected;
    for (std::size_t i = 0; i < input.size(); ++i) {
        const std::size_t c = i % shape.channels;
        expected.push_back(
            op->gamma[c] * (input[i] - op->mean[c]) / std::sqrt(op->variance[c] + op->epsilon) + op->beta[c]);
    }
    CHECK(tests::largest_difference(tests::evaluate(*op, shape, input, 2), expected) < 1e-5);

    op->variance[1] = -op->epsilon;
    CHECK_THROWS_AS(op->output_shape(std::vector{shape}), ModelError);
}

TEST_CASE("Activation functions have their textbook values", "[compiler][graph]") {
    struct Point {
        ActivationFunction function;
        float alpha, maximum, x, y;
    };
    constexpr float no_limit = std::numeric_limits<float>::infinity();
    const auto point = GENERATE_COPY(values<Point>({
        {ActivationFunction::Linear, 0, no_limit, -3.5F, -3.5F},
        {ActivationFunction::Relu, 0, no_limit, -1.0F, 0.0F},
        {ActivationFunction::Relu, 0, no_limit, 7.0F, 7.0F},
        {ActivationFunction::Relu, 0, 6.0F, 5.5F, 5.5F},
        {ActivationFunction::Relu, 0, 6.0F, 6.5F, 6.0F},
        {ActivationFunction::LeakyRelu, 0.1F, no_limit, -2.0F, -0.2F},
        {ActivationFunction::LeakyRelu, 0.1F, no_limit, 2.0F, 2.0F},
        {ActivationFunction::Elu, 2.0F, no_limit, -1.0F, -1.2642411F},
        {ActivationFunction::Selu, 0, no_limit, 1.0F, 1.050701F},
        {ActivationFunction::Selu, 0, no_limit, -1.0F, -1.1113307F},
        {ActivationFunction::Sigmoid, 0, no_limit, 0.0F, 0.5F},
        {ActivationFunction::Sigmoid, 0, no_limit, 2.0F, 0.8807971F},
        {ActivationFunction::Sigmoid, 0, no_limit, -200.0F, 0.0F},
        {ActivationFunction::Tanh, 0, no_limit, 0.5F, 0.4621172F},
        {ActivationFunction::Swish, 0, no_limit, 1.0F, 0.7310586F},
        {ActivationFunction::Softplus, 0, no_limit, 0.0F, 0.6931472F},
        {ActivationFunction::Softplus, 0, no_limit, 200.0F, 200.0F},
    }));
    Activation activation(point.function);
    activation.alpha = point.alpha;
    activation.maximum = point.maximum;
    INFO(activation.parameters() << " at " << point.x);
    CHECK(activation(point.x) == Approx(point.y).margin(1e-6));
    const Shape shape{1, 1, 3};
    CHECK(tests::evaluate(activation, shape, {point.x, point.x, point.x}, 1) ==
          std::vector<float>(3, activation(point.x)));
}

TEST_CASE("Softmax makes each pixel's channels probabilities, however large they are", "[compiler][graph]") {
    const Shape shape{1, 2, 3};
    const std::vector<float> output = tests::evaluate(
        graph::Softmax(), shape, {0.0F, std::log(2.0F), std::log(5.0F), 1000.0F, 1000.0F, -1000.0F}, 1);
    const std::vector<float> expected{0.125F, 0.25F, 0.625F, 0.5F, 0.5F, 0.0F};
    CHECK(tests::largest_difference(output, expected) < 1e-6);
}

TEST_CASE("Add needs two inputs of one shape", "[compiler][graph]") {
    const graph::Add add;
    const std::vector<float> a{1.0F, 2.0F};
    const std::vector<float> b{10.0F, 20.0F};
    const std::vector<Shape> shapes{{1, 1, 2}, {1, 1, 2}};
    const std::vector<const float*> inputs{a.data(), b.data()};
    std::vector<float> sum(2);
    add.evaluate(shapes, inputs, 1, sum.data());
    CHECK(sum == std::vector<float>{11.0F, 22.0F});
    CHECK_THROWS_AS(add.output_shape(std::vector<Shape>{{1, 1, 2}}), ModelError);
    CHECK_THROWS_AS(add.output_shape(std::vector<Shape>{{1, 1, 2}, {1, 2, 1}}), ModelError);
}

TEST_CASE("Reshape keeps the number of elements", "[compiler][graph]") {
    CHECK(graph::Reshape({2, 3, 4}).output_shape(std::vector<Shape>{{1, 1, 24}}) == Shape{2, 3, 4});
    CHECK_THROWS_WITH(graph::Reshape({2, 3, 4}).output_shape(std::vector<Shape>{{1, 1, 25}}),
                      "it reshapes 1x1x25 to 2x3x4; the number of elements must stay the same");
    constexpr std::uint32_t large = std::uint32_t{1} << 31;
    CHECK_THROWS_AS(graph::Reshape({large, large, 4}).output_shape(std::vector<Shape>{{1, 1, 1}}),
                    ModelError);
}
