// Layers of Keras whose windows write, are dilated or see groups of channels; numbers by Keras' definitions.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/unit/compiler/frontend/keras_graph.h"

using namespace systole;
using nlohmann::json;
using tests::layer;
using tests::sequential;

namespace {

/// The input of a graph: small numbers of both signs.
std::vector<float> some_numbers(std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
    return numbers;
}

/// tests::CountingWeights' number `index`, counted from 0.
float weight(std::int64_t index) {
    return static_cast<float>(index + 1);
}

/// One direction of a transposed convolution.
struct Direction {
    std::int64_t input, kernel, stride, dilation;
    std::optional<std::int64_t> extra;  ///< output_padding

    std::int64_t covered() const { return (kernel - 1) * dilation + 1; }
    /// By Keras' documentation.
    std::int64_t result(bool is_same) const {
        if (extra) return (input - 1) * stride + covered() - (is_same ? 2 * (covered() / 2) : 0) + *extra;
        return is_same ? input * stride : input * stride + std::max<std::int64_t>(covered() - stride, 0);
    }
    /// TensorFlow's padding of the convolution from the result to the input.
    std::int64_t before(bool is_same) const {
        const std::int64_t windows = (result(is_same) + stride - 1) / stride;
        const std::int64_t total = (windows - 1) * stride + covered() - result(is_same);
        return is_same ? std::max<std::int64_t>(total, 0) / 2 : 0;
    }
};

/// The sums of a transposed convolution with tests::CountingWeights, its bias included.
std::vector<float> transposed(const Direction& rows, const Direction& columns, std::int64_t channels,
                              std::int64_t filters, bool is_same, const std::vector<float>& input) {
    const std::int64_t height = rows.result(is_same);
    const std::int64_t width = columns.result(is_same);
    std::vector<float> sums(static_cast<std::size_t>(height * width * filters));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = weight(static_cast<std::int64_t>(i) % filters);
    for (std::size_t at = 0; at < input.size(); ++at) {
        const auto place = static_cast<std::int64_t>(at);
        const std::int64_t channel = place % channels;
        const std::int64_t x = place / channels % columns.input;
        const std::int64_t y = place / channels / columns.input;
        for (std::int64_t tap = 0; tap < rows.kernel * columns.kernel; ++tap) {
            const std::int64_t row =
                y * rows.stride + tap / columns.kernel * rows.dilation - rows.before(is_same);
            const std::int64_t column =
                x * columns.stride + tap % columns.kernel * columns.dilation - columns.before(is_same);
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            for (std::int64_t filter = 0; filter < filters; ++filter) {
                sums[static_cast<std::size_t>((row * width + column) * filters + filter)] +=
                    input[at] * weight((tap * filters + filter) * channels + channel);
            }
        }
    }
    return sums;
}

}  // namespace

TEST_CASE("Transposed convolutions write what Keras writes", "[compiler][frontend]") {
    struct Case {
        std::array<std::int64_t, 2> kernel, stride, dilation;
        std::optional<std::array<std::int64_t, 2>> extra;
    };
    const auto [kernel, stride, dilation, extra] = GENERATE(values<Case>({
        {{3, 3}, {2, 2}, {1, 1}, std::nullopt},
        {{2, 4}, {2, 2}, {1, 1}, std::nullopt},
        {{2, 1}, {3, 4}, {1, 1}, std::nullopt},  // rows and columns that no window writes
        {{3, 2}, {1, 1}, {2, 3}, std::nullopt},
        {{3, 5}, {2, 3}, {1, 1}, std::array<std::int64_t, 2>{1, 2}},
        {{3, 4}, {2, 2}, {1, 1}, std::array<std::int64_t, 2>{0, 1}},
        {{1, 3}, {2, 2}, {1, 1}, std::array<std::int64_t, 2>{1, 1}},
    }));
    const bool is_same = GENERATE(true, false);
    CAPTURE(kernel, stride, dilation, is_same, extra.has_value());
    const auto of = [&](const auto& pair, std::size_t i) {
        return pair ? std::optional<std::int64_t>((*pair)[i]) : std::nullopt;
    };
    const Direction rows{3, kernel[0], stride[0], dilation[0], of(extra, 0)};
    const Direction columns{4, kernel[1], stride[1], dilation[1], of(extra, 1)};
    json keys{{"filters", 3},
              {"kernel_size", kernel},
              {"strides", stride},
              {"dilation_rate", dilation},
              {"padding", is_same ? "same" : "valid"},
              {"output_padding", nullptr},
              {"activation", "linear"}};
    if (extra) keys["output_padding"] = *extra;
    const ir::Graph graph = sequential({nullptr, 3, 4, 2}, {layer("Conv2DTranspose", "t", keys)});
    REQUIRE(graph.output().shape == ir::Shape{1, static_cast<std::uint32_t>(rows.result(is_same)),
                                              static_cast<std::uint32_t>(columns.result(is_same)), 3});
    const std::vector<float> input = some_numbers(3 * 4 * 2);
    CHECK(reference::execute(graph, input, 1) == transposed(rows, columns, 2, 3, is_same, input));
}

TEST_CASE("A transposed convolution over a sequence has an axis less", "[compiler][frontend]") {
    const auto graph = [](const json& keys) {
        json config{{"filters", 1}, {"kernel_size", {3}}, {"strides", {2}}, {"padding", "same"}};
        config.update(keys);
        return sequential({nullptr, 2, 1}, {layer("Conv1DTranspose", "t", config)});
    };
    // 1 writes 1 2 3, 2 writes 2 4 6 two places on; the last sum is cut off, and the bias is 1.
    const ir::Graph plain = graph(json::object());
    CHECK(plain.output().shape == ir::Shape{1, 4, 1});
    CHECK(reference::execute(plain, std::vector<float>{1, 2}, 1) == std::vector<float>{2, 3, 6, 5});
    CHECK(reference::execute(graph({{"padding", "valid"}, {"use_bias", false}}), std::vector<float>{1, 2},
                             1) == std::vector<float>{1, 2, 5, 4, 6});
    CHECK(reference::execute(graph({{"activation", "relu"}}), std::vector<float>{-1, 0}, 1) ==
          std::vector<float>{0, 0, 0, 1});
    CHECK(graph({{"output_padding", 0}}).output().shape == ir::Shape{1, 3, 1});
    CHECK_THROWS_WITH(graph({{"output_padding", 2}}),
                      "layer \"t\": output_padding is 2; each must be an integer, at least 0 and less than "
                      "the stride");
    CHECK_THROWS_WITH(graph({{"output_padding", {0, 1}}}),
                      "layer \"t\": output_padding is [0, 1]; it must have 1 entry");
    CHECK_THROWS_WITH(graph({{"padding", "causal"}}),
                      "layer \"t\": padding is \"causal\"; it must be \"valid\" or \"same\"");
    CHECK_THROWS_WITH(graph({{"groups", 2}}), "layer \"t\": groups is 2; only 1 is supported");
    CHECK_THROWS_WITH(graph({{"strides", 4294967295}}),
                      "layer \"t\": strides is 4294967295; it must be at most 2147483647");
}

TEST_CASE("Transposed convolutions on channels first give what those on channels last give",
          "[compiler][frontend]") {
    json keys{{"filters", 2}, {"kernel_size", 3}, {"strides", 2}, {"padding", "same"}};
    const ir::Graph last = sequential({nullptr, 1, 2, 3}, {layer("Conv2DTranspose", "t", keys)});
    keys["data_format"] = "channels_first";
    const ir::Graph first = sequential({nullptr, 3, 1, 2}, {layer("Conv2DTranspose", "t", keys)});
    CHECK(first.output().shape == ir::Shape{1, 2, 2, 4});
    const std::vector<float> by_pixel = reference::execute(last, std::vector<float>{1, 2, 3, 4, 5, 6}, 1);
    const std::vector<float> by_channel = reference::execute(first, std::vector<float>{1, 4, 2, 5, 3, 6}, 1);
    REQUIRE(by_channel.size() == by_pixel.size());
    for (std::size_t i = 0; i < by_pixel.size(); ++i) CHECK(by_channel[i % 2 * 8 + i / 2] == by_pixel[i]);
}

TEST_CASE("Elements of a dilated kernel lie apart", "[compiler][frontend]") {
    // Causal: 1 * x[t - 4] + 2 * x[t - 2] + 3 * x[t], and the bias.
    const ir::Graph causal = sequential(
        {nullptr, 6, 1},
        {layer("Conv1D", "c",
               {{"filters", 1}, {"kernel_size", {3}}, {"dilation_rate", {2}}, {"padding", "causal"}})});
    CHECK(reference::execute(causal, std::vector<float>{1, 10, 100, 1000, 10000, 100000}, 1) ==
          std::vector<float>{4, 31, 303, 3021, 30202, 302011});

    // The same padding is that of the elements that the kernel covers: 5 rows and 3 columns.
    const json keys{{"filters", 1},
                    {"kernel_size", {3, 2}},
                    {"dilation_rate", {2, 2}},
                    {"padding", "same"},
                    {"use_bias", false}};
    const std::vector<float> input = some_numbers(5 * 4);
    std::vector<float> expected;
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 4; ++x) {
            float sum = 0.0F;
            for (int tap = 0; tap < 6; ++tap) {
                const int row = y - 2 + 2 * (tap / 2);
                const int column = x - 1 + 2 * (tap % 2);
                if (row < 0 || row >= 5 || column < 0 || column >= 4) continue;
                sum +=
                    weight(tap) *
                    input[std::size_t{4} * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)];
            }
            expected.push_back(sum);
        }
    }
    const ir::Graph same = sequential({nullptr, 5, 4, 1}, {layer("Conv2D", "c", keys)});
    CHECK(reference::execute(same, input, 1) == expected);
    const ir::Graph depthwise = sequential({nullptr, 5, 4, 1}, {layer("DepthwiseConv2D", "c", keys)});
    CHECK(reference::execute(depthwise, input, 1) == expected);

    const auto far = [](const std::string& padding) {
        return sequential(
            {nullptr, 6, 1},
            {layer(
                "Conv1D", "c",
                {{"filters", 1}, {"kernel_size", 3}, {"dilation_rate", 4294967295}, {"padding", padding}})});
    };
    for (const std::string padding : {"same", "causal"}) {
        CHECK_THROWS_WITH(far(padding),
                          "layer \"c\": dilation_rate is 4294967295; with it, the kernel covers 8589934591 "
                          "rows or columns; there may be at most 4294967295");
    }
    CHECK_THROWS_AS(far("valid"), ModelError);
}

TEST_CASE("A convolution in groups sees the channels of the group alone", "[compiler][frontend]") {
    const ir::Graph graph = sequential(
        {nullptr, 1, 1, 4},
        {layer("Conv2D", "c", {{"filters", 2}, {"kernel_size", 1}, {"groups", 2}, {"use_bias", false}})});
    // Weights [input channel of the group][filter]: 1 2, 3 4.
    CHECK(reference::execute(graph, std::vector<float>{1, 10, 100, 1000}, 1) == std::vector<float>{31, 4200});
    const ir::Graph sequence = sequential(
        {nullptr, 1, 4},
        {layer("Conv1D", "c", {{"filters", 2}, {"kernel_size", 1}, {"groups", 2}, {"use_bias", false}})});
    CHECK(reference::execute(sequence, std::vector<float>{1, 10, 100, 1000}, 1) ==
          std::vector<float>{31, 4200});
    CHECK_THROWS_WITH(sequential({nullptr, 1, 1, 3},
                                 {layer("Conv2D", "c", {{"filters", 4}, {"kernel_size", 1}, {"groups", 4}})}),
                      "layer \"c\": groups is 4; it must divide the 3 input channels and the 4 filters");
}

TEST_CASE("Pooling over all pixels gives a vector, unless it keeps the axes", "[compiler][frontend]") {
    const bool keeps = GENERATE(true, false);
    const json keys{{"keepdims", keeps}, {"data_format", "channels_last"}};
    for (const std::string name : {"GlobalAveragePooling", "GlobalMaxPooling"}) {
        const ir::Graph image = sequential({nullptr, 1, 2, 2}, {layer(name + "2D", "g", keys)});
        CHECK(image.output().shape == (keeps ? ir::Shape{1, 1, 1, 2} : ir::Shape{1, 2}));
        const ir::Graph sequence = sequential({nullptr, 2, 2}, {layer(name + "1D", "g", keys)});
        CHECK(sequence.output().shape == (keeps ? ir::Shape{1, 1, 2} : ir::Shape{1, 2}));
        const std::vector<float> expected =
            name == "GlobalMaxPooling" ? std::vector<float>{3, 8} : std::vector<float>{2, 5};
        CHECK(reference::execute(image, std::vector<float>{1, 8, 3, 2}, 1) == expected);
        CHECK(reference::execute(sequence, std::vector<float>{1, 8, 3, 2}, 1) == expected);
    }
    const ir::Graph first = sequential(
        {nullptr, 2, 1, 2},
        {layer("GlobalMaxPooling2D", "g", {{"keepdims", keeps}, {"data_format", "channels_first"}})});
    CHECK(first.output().shape == (keeps ? ir::Shape{1, 2, 1, 1} : ir::Shape{1, 2}));
    CHECK(reference::execute(first, std::vector<float>{1, 3, 8, 2}, 1) == std::vector<float>{3, 8});
}

TEST_CASE("A hard sigmoid is that of the version of Keras that wrote the file", "[compiler][frontend]") {
    const json name = GENERATE(json("hard_sigmoid"), json{{"module", "builtins"},
                                                          {"class_name", "function"},
                                                          {"config", "hard_sigmoid"},
                                                          {"registered_name", "function"}});
    const auto results_of = [&](int major_version) {
        const json layers{layer("InputLayer", "in", {{"batch_shape", {nullptr, 5}}}),
                          layer("Activation", "a", {{"activation", name}})};
        const json model{{"class_name", "Sequential"}, {"config", {{"name", "s"}, {"layers", layers}}}};
        const ir::Graph graph = frontend::build_keras_graph(model.dump(), tests::CountingWeights(),
                                                            operators::registry(), major_version);
        return reference::execute(graph, std::vector<float>{-2.75F, -1.5F, 0.0F, 1.0F, 2.75F}, 1);
    };
    for (const int version : {1, 2}) {
        const std::vector<float> results = results_of(version);
        const std::vector<float> expected{0.0F, 0.2F, 0.5F, 0.7F, 1.0F};
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(results[i] == Approx(expected[i]));
    }
    const std::vector<float> results = results_of(3);
    const std::vector<float> expected{0.25F / 6.0F, 0.25F, 0.5F, 4.0F / 6.0F, 5.75F / 6.0F};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(results[i] == Approx(expected[i]));
}
