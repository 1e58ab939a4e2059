#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using ir::FeatureMap;
using ir::Window;
using tests::GraphParts;

namespace {

constexpr double tolerance = 1e-4;

/// Calls `visit(image, y, x, tap, offset)` for every output pixel and every kernel element. `offset` is the
/// input pixel's place in its image, or nullopt outside.
template <typename Visit>
void for_each_tap(const ir::FeatureMap& input, const Window& window, const ir::FeatureMap& output,
                  const Visit& visit) {
    for (std::int64_t y = 0; y < output.height; ++y) {
        for (std::int64_t x = 0; x < output.width; ++x) {
            for (std::int64_t i = 0; i < window.kernel_height; ++i) {
                for (std::int64_t j = 0; j < window.kernel_width; ++j) {
                    const std::int64_t row = y * window.stride_y - window.pad_top + i;
                    const std::int64_t column = x * window.stride_x - window.pad_left + j;
                    if (row < 0 || column < 0 || row >= input.height || column >= input.width) continue;
                    visit(static_cast<std::size_t>(y * output.width + x),
                          static_cast<std::size_t>(i * window.kernel_width + j),
                          static_cast<std::size_t>(row * input.width + column));
                }
            }
        }
    }
}

/// The kind of operator for which windows are drawn.
struct Case {
    explicit Case(std::uint32_t seed) : parts(seed), shape(parts.shape()), window(parts.window(shape)) {
        batch = parts.number(1, 4);
        input = parts.values(batch * shape.elements());
    }
    std::string text(std::uint32_t seed) const {
        return fmt::format("seed {}: {}, {}, batch {}", seed, to_text(shape), to_text(window), batch);
    }
    GraphParts parts;
    ir::FeatureMap shape;
    Window window;
    std::uint32_t batch;
    std::vector<float> input;
};

}  // namespace

TEST_CASE("A convolution is the sum over its windows", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        Case drawn(seed);
        INFO(drawn.text(seed));
        const std::uint32_t filters = drawn.parts.number(1, 6);
        const auto op = drawn.parts.convolution(drawn.shape, drawn.window, filters, seed % 2 == 0);
        const ir::FeatureMap result = tests::output_shape(op, {drawn.shape});

        const std::size_t channels = drawn.shape.channels;
        std::vector<float> expected(drawn.batch * result.elements());
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = op.bias.empty() ? 0.0F : op.bias[i % filters];
        for (std::size_t image = 0; image < drawn.batch; ++image) {
            for_each_tap(drawn.shape, drawn.window, result,
                         [&](std::size_t to, std::size_t tap, std::size_t from) {
                             for (std::size_t c = 0; c < channels; ++c) {
                                 for (std::size_t f = 0; f < filters; ++f) {
                                     expected[image * result.elements() + to * filters + f] +=
                                         drawn.input[image * drawn.shape.elements() + from * channels + c] *
                                         op.weights[(tap * channels + c) * filters + f];
                                 }
                             }
                         });
        }
        CHECK(tests::largest_difference(tests::evaluate(op, drawn.shape, drawn.input, drawn.batch),
                                        expected) < tolerance);
    }
}

TEST_CASE("A depthwise convolution keeps the channels apart", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        Case drawn(seed);
        INFO(drawn.text(seed));
        const std::uint32_t multiplier = drawn.parts.number(1, 3);
        const auto op = drawn.parts.depthwise(drawn.shape, drawn.window, multiplier, seed % 2 == 0);
        const ir::FeatureMap result = tests::output_shape(op, {drawn.shape});
        REQUIRE(result.channels == drawn.shape.channels * multiplier);

        std::vector<float> expected(drawn.batch * result.elements());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] = op.bias.empty() ? 0.0F : op.bias[i % result.channels];
        }
        for (std::size_t image = 0; image < drawn.batch; ++image) {
            for_each_tap(drawn.shape, drawn.window, result,
                         [&](std::size_t to, std::size_t tap, std::size_t from) {
                             for (std::size_t c = 0; c < result.channels; ++c) {
                                 expected[image * result.elements() + to * result.channels + c] +=
                                     drawn.input[image * drawn.shape.elements() +
                                                 from * drawn.shape.channels + c / multiplier] *
                                     op.weights[tap * result.channels + c];
                             }
                         });
        }
        CHECK(tests::largest_difference(tests::evaluate(op, drawn.shape, drawn.input, drawn.batch),
                                        expected) < tolerance);
    }
}

TEST_CASE("Pooling leaves out what lies outside the image", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        Case drawn(seed);
        INFO(drawn.text(seed));
        const tests::Op maximum = tests::pool("max_pool", drawn.window);
        const tests::Op average = tests::pool("average_pool", drawn.window);
        const ir::FeatureMap result = tests::output_shape(maximum, {drawn.shape});

        const std::size_t channels = drawn.shape.channels;
        std::vector<float> largest(drawn.batch * result.elements(), -1e30F);
        std::vector<float> sums(largest.size(), 0.0F);
        std::vector<float> counts(largest.size(), 0.0F);
        for (std::size_t image = 0; image < drawn.batch; ++image) {
            for_each_tap(
                drawn.shape, drawn.window, result, [&](std::size_t to, std::size_t, std::size_t from) {
                    for (std::size_t c = 0; c < channels; ++c) {
                        const float value = drawn.input[image * drawn.shape.elements() + from * channels + c];
                        const std::size_t i = image * result.elements() + to * channels + c;
                        largest[i] = std::max(largest[i], value);
                        sums[i] += value;
                        counts[i] += 1.0F;
                    }
                });
        }
        // Windows that lie wholly in the padding have no defined result; none is left by "same" padding.
        if (std::ranges::find(counts, 0.0F) != counts.end()) continue;
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= counts[i];
        CHECK(tests::evaluate(maximum, drawn.shape, drawn.input, drawn.batch) == largest);
        CHECK(tests::largest_difference(tests::evaluate(average, drawn.shape, drawn.input, drawn.batch),
                                        sums) < tolerance);
    }
}

TEST_CASE("A border of zeros surrounds the image and nothing else changes", "[compiler][operators]") {
    const ir::FeatureMap shape{2, 3, 2};
    const tests::Op padding = tests::zero_padding(1, 3, 2, 0);
    std::vector<float> input(2 * shape.elements());
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i + 1);
    const ir::FeatureMap result{5, 6, 2};
    CHECK(tests::output_shape(padding, {shape}) == result);
    const std::vector<float> output = tests::evaluate(padding, shape, input, 2);
    for (std::size_t i = 0; i < output.size(); ++i) {
        const std::size_t image = i / result.elements();
        const std::size_t row = i % result.elements() / (6 * 2);
        const std::size_t column = i % (6 * 2) / 2;
        const bool inside = row >= 1 && row < 3 && column >= 3;
        CHECK(output[i] == (inside ? input[image * 12 + (row - 1) * 6 + (column - 3) * 2 + i % 2] : 0.0F));
    }
}

TEST_CASE("A kernel must fit the padded input, and may fill it", "[compiler][operators]") {
    GraphParts parts(1);
    const ir::FeatureMap shape{4, 5, 2};
    Window window{.kernel_height = 6, .kernel_width = 5, .pad_top = 1, .pad_bottom = 1};
    CHECK(tests::output_shape(parts.convolution(shape, window, 3, false), {shape}) ==
          ir::FeatureMap{1, 1, 3});
    window.kernel_height = 7;
    CHECK_THROWS_WITH(tests::output_shape(parts.convolution(shape, window, 3, false), {shape}),
                      "the height of its kernel is 7; the padded input's is 6 and must not be smaller");
    window = {.kernel_width = 6};
    CHECK_THROWS_AS(tests::output_shape(parts.convolution(shape, window, 3, false), {shape}), ModelError);
    window = {.stride_x = 0};
    CHECK_THROWS_WITH(tests::output_shape(parts.convolution(shape, window, 3, false), {shape}),
                      "attribute stride is [1, 0]; it must be at least 1");
}

TEST_CASE("Padding as large as the kernel is refused in pooling", "[compiler][operators]") {
    const ir::FeatureMap shape{4, 4, 1};
    CHECK_NOTHROW(
        tests::output_shape(tests::max_pool({.kernel_height = 2, .kernel_width = 2, .pad_top = 1}), {shape}));
    CHECK_THROWS_AS(
        tests::output_shape(tests::max_pool({.kernel_height = 2, .kernel_width = 2, .pad_top = 2}), {shape}),
        ModelError);
}
