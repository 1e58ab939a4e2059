#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/operators/batch_normalization/affine.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_order.h"
#include "tests/unit/compiler/frontend/keras_graph.h"

using namespace systole;
using nlohmann::json;
using tests::layer;
using tests::nodes_of;
using tests::sequential;

namespace {

const json image{nullptr, 28, 28, 3};

}  // namespace

TEST_CASE("Convolutions take kernel, strides, padding and activation from the file", "[compiler][frontend]") {
    CHECK(nodes_of(sequential(image, {layer("Conv2D", "c",
                                            {{"filters", 4},
                                             {"kernel_size", {3, 5}},
                                             {"strides", {2, 1}},
                                             {"padding", "same"},
                                             {"data_format", "channels_last"},
                                             {"dilation_rate", {1, 1}},
                                             {"groups", 1},
                                             {"activation", "relu"},
                                             {"use_bias", true}})})) ==
          "%1 = convolution(%0) -> 14x28x4 \"c\": kernel 3x5, stride 2x1, padding 0,2,1,2, filters 4, bias "
          "yes\n"
          "%2 = relu(%1) -> 14x28x4 \"c\"\n");
    CHECK(nodes_of(sequential(
              image, {layer("Conv2D", "c", {{"filters", 4}, {"kernel_size", 3}, {"use_bias", false}})})) ==
          "%1 = convolution(%0) -> 26x26x4 \"c\": kernel 3x3, stride 1x1, padding 0,0,0,0, filters 4, bias "
          "no\n");
}

TEST_CASE("Depthwise convolutions multiply the channels", "[compiler][frontend]") {
    const ir::Graph graph = sequential(
        image,
        {layer(
            "DepthwiseConv2D", "d",
            {{"kernel_size", {2, 2}}, {"depth_multiplier", 2}, {"strides", {1, 1}}, {"filters", nullptr}})});
    CHECK(nodes_of(graph) ==
          "%1 = depthwise_convolution(%0) -> 27x27x6 \"d\": kernel 2x2, stride 1x1, padding 0,0,0,0, "
          "multiplier 2, "
          "bias yes\n");
}

TEST_CASE("A dense layer over an image sees single pixels", "[compiler][frontend]") {
    CHECK(nodes_of(sequential(image, {layer("Dense", "d", {{"units", 5}})})) ==
          "%1 = convolution(%0) -> 28x28x5 \"d\": kernel 1x1, stride 1x1, padding 0,0,0,0, filters 5, bias "
          "yes\n");
    CHECK(nodes_of(sequential({nullptr, 7}, {layer("Dense", "d", {{"units", 5}})})) ==
          "%1 = dense(%0) -> 1x1x5 \"d\": units 5, bias yes\n");
}

TEST_CASE("A dense layer keeps all axes but the last one", "[compiler][frontend]") {
    const auto shape_after = [](const json& batch_shape) {
        const ir::Graph graph = sequential(batch_shape, {layer("Dense", "d", {{"units", 5}})});
        return to_text(graph.output().shape);
    };
    CHECK(shape_after({nullptr, 7}) == "1x5");
    CHECK(shape_after({nullptr, 3, 7}) == "1x3x5");
    CHECK(shape_after({nullptr, 1, 7}) == "1x1x5");
    CHECK(shape_after({nullptr, 2, 3, 7}) == "1x2x3x5");
    CHECK(shape_after({nullptr, 1, 1, 7}) == "1x1x1x5");
}

TEST_CASE("Pooling takes its stride from the window if none is given", "[compiler][frontend]") {
    CHECK(nodes_of(sequential(
              image, {layer("MaxPooling2D", "m", {{"pool_size", {3, 2}}, {"strides", nullptr}}),
                      layer("AveragePooling2D", "a", {{"pool_size", 2}, {"strides", 1}, {"padding", "same"}}),
                      layer("GlobalAveragePooling2D", "g", {{"keepdims", false}})})) ==
          "%1 = max_pool(%0) -> 9x14x3 \"m\": kernel 3x2, stride 3x2, padding 0,0,0,0\n"
          "%2 = average_pool(%1) -> 9x14x3 \"a\": kernel 2x2, stride 1x1, padding 0,0,1,1\n"
          "%3 = average_pool(%2) -> 1x1x3 \"g\": kernel 9x14, stride 1x1, padding 0,0,0,0\n"
          "%4 = reshape(%3) -> 1x1x3 \"g\"\n");
}

TEST_CASE("Batch normalization may come without scale or center", "[compiler][frontend]") {
    const bool scale = GENERATE(true, false);
    const bool center = GENERATE(true, false);
    const ir::Graph graph =
        sequential(image, {layer("BatchNormalization", "b",
                                 {{"axis", {3}}, {"epsilon", 0.5}, {"scale", scale}, {"center", center}})});
    const ir::NodeView view(graph, graph.nodes[0]);
    const auto values = [&](std::size_t constant) {
        const auto floats = view.constant(constant)->constant->values<float>();
        return std::vector<float>(floats.begin(), floats.end());
    };
    CHECK(view.node().real("epsilon") == 0.5);
    CHECK(values(0) == (scale ? std::vector<float>{1, 2, 3} : std::vector<float>{1, 1, 1}));
    CHECK(values(1) == (center ? std::vector<float>{1, 2, 3} : std::vector<float>{0, 0, 0}));
    CHECK(values(2) == std::vector<float>{1, 2, 3});
}

TEST_CASE("Activations are layers, arguments or classes of their own", "[compiler][frontend]") {
    const json keras3{{"class_name", "function"}, {"config", "tanh"}, {"module", "builtins"}};
    CHECK(nodes_of(sequential(
              {nullptr, 4},
              {layer("Activation", "a", {{"activation", "sigmoid"}}),
               layer("Activation", "b", {{"activation", keras3}}),
               layer("ReLU", "c", {{"max_value", 6.0}, {"negative_slope", 0.0}, {"threshold", 0.0}}),
               layer("LeakyReLU", "d", {{"alpha", 0.25}}), layer("LeakyReLU", "e", {{"negative_slope", 0.5}}),
               layer("Activation", "f", {{"activation", "linear"}}), layer("Softmax", "g", {{"axis", -1}}),
               layer("Activation", "h", {{"activation", "swish"}}),
               layer("Activation", "i", {{"activation", "hard_swish"}})})) ==
          "%1 = sigmoid(%0) -> 1x1x4 \"a\"\n"
          "%2 = tanh(%1) -> 1x1x4 \"b\"\n"
          "%3 = relu(%2) -> 1x1x4 \"c\": maximum 6\n"
          "%4 = leaky_relu(%3) -> 1x1x4 \"d\": alpha 0.25\n"
          "%5 = leaky_relu(%4) -> 1x1x4 \"e\": alpha 0.5\n"
          "%6 = softmax(%5) -> 1x1x4 \"g\"\n"
          "%7 = swish(%6) -> 1x1x4 \"h\"\n"
          "%8 = hard_swish(%7) -> 1x1x4 \"i\"\n");
}

TEST_CASE("Layers for training only become no nodes", "[compiler][frontend]") {
    const std::string name =
        GENERATE("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise",
                 "RandomBrightness", "RandomContrast", "RandomFlip", "RandomHeight", "RandomRotation",
                 "RandomTranslation", "RandomWidth", "RandomZoom", "SpatialDropout1D", "SpatialDropout2D");
    CAPTURE(name);
    CHECK(nodes_of(sequential({nullptr, 4},
                              {layer(name, "d", {{"rate", 0.4}}), layer("Dense", "e", {{"units", 1}})})) ==
          "%1 = dense(%0) -> 1x1x1 \"e\": units 1, bias yes\n");
}

TEST_CASE("The last layer names the output, also if it does nothing", "[compiler][frontend]") {
    const json dense = layer("Dense", "e", {{"units", 1}});
    const json last = GENERATE(layer("Dropout", "last", {{"rate", 0.4}}),
                               layer("Activation", "last", {{"activation", "linear"}}));
    const ir::Graph graph = sequential({nullptr, 4}, {dense, last});
    CHECK(graph.output().name == "last");
    // The layer that computes keeps its name.
    CHECK(graph.nodes.back().name == "e");
    // An input that leaves unchanged keeps its own.
    CHECK(sequential({nullptr, 4}, {last}).output().name != "last");
}

TEST_CASE("Shapes change as Keras changes them", "[compiler][frontend]") {
    CHECK(nodes_of(sequential({nullptr, 784}, {layer("Reshape", "image", {{"target_shape", {28, -1, 1}}}),
                                               layer("ZeroPadding2D", "p", {{"padding", {{0, 1}, {2, 3}}}}),
                                               layer("ZeroPadding2D", "q", {{"padding", {1, 0}}}),
                                               layer("Flatten", "f", {{"data_format", "channels_last"}})})) ==
          "%1 = reshape(%0) -> 28x28x1 \"image\"\n"
          "%2 = zero_padding(%1) -> 29x33x1 \"p\": padding 0,2,1,3\n"
          "%3 = zero_padding(%2) -> 31x33x1 \"q\": padding 1,0,1,0\n"
          "%4 = reshape(%3) -> 1x1x1023 \"f\"\n");
}

TEST_CASE("Rescaling is an affine function of every channel", "[compiler][frontend]") {
    const ir::Graph graph = sequential(image, {layer("Rescaling", "r", {{"scale", 0.25}, {"offset", -1.0}})});
    const operators::Affine affine = operators::affine_of({graph, graph.nodes[0]});
    CHECK(affine.scale == std::vector<float>(3, 0.25F));
    CHECK(affine.offset == std::vector<float>(3, -1.0F));
    const ir::Graph listed = sequential(image, {layer("Rescaling", "r", {{"scale", {1.0, 2.0, 3.0}}})});
    CHECK(operators::affine_of({listed, listed.nodes[0]}).scale == std::vector<float>{1, 2, 3});
    CHECK_THROWS_WITH(sequential(image, {layer("Rescaling", "r", {{"scale", {1.0, 2.0}}})}),
                      "layer \"r\": scale is [1.0, 2.0]; it must be a number, or 3, one for each channel");
}

TEST_CASE("Concatenations are along the channels, or another axis behind the batch", "[compiler][frontend]") {
    const auto text_of = [](const json& input_shape, const json& axis) {
        const auto called = [](json one, const std::vector<std::string>& inputs) {
            json tensors = json::array();
            for (const std::string& input : inputs) tensors.push_back({input, 0, 0, json::object()});
            one["name"] = one["config"]["name"];
            one["inbound_nodes"] = inputs.empty() ? json::array() : json::array({tensors});
            return one;
        };
        const json layers{
            called(layer("InputLayer", "in", {{"batch_shape", input_shape}}), {}),
            called(layer("Dense", "a", {{"units", 4}}), {"in"}),
            called(layer("Dense", "b", {{"units", 2}}), {"a"}),
            called(layer("Concatenate", "mixed", axis.is_null() ? json::object() : json{{"axis", axis}}),
                   {"b", "in", "a"})};
        const json model{{"class_name", "Functional"},
                         {"config",
                          {{"name", "f"},
                           {"layers", layers},
                           {"input_layers", json::array({json{"in", 0, 0}})},
                           {"output_layers", json::array({json{"mixed", 0, 0}})}}}};
        const std::string text = nodes_of(
            frontend::build_keras_graph(model.dump(), tests::CountingWeights(), operators::registry()));
        return text.substr(text.find("%3"));
    };
    CHECK(text_of(image, nullptr) == "%3 = concat(%2, %0, %1) -> 28x28x9 \"mixed\"\n");
    CHECK(text_of(image, -1) == text_of(image, nullptr));
    CHECK(text_of(image, 3) == text_of(image, nullptr));
    CHECK(text_of({nullptr, 5}, 1) == "%3 = concat(%2, %0, %1) -> 1x1x11 \"mixed\"\n");
    CHECK_THROWS_WITH(
        text_of(image, 1),
        "layer \"mixed\": it concatenates 1x28x28x2 and 1x28x28x3 along axis 1; the others must be "
        "the same");
    CHECK_THROWS_WITH(text_of(image, 0), "layer \"mixed\": axis is 0; it must be behind the batch");
}

TEST_CASE("A separable convolution is a depthwise one and one of 1x1", "[compiler][frontend]") {
    CHECK(nodes_of(sequential(image, {layer("SeparableConv2D", "s",
                                            {{"filters", 4},
                                             {"kernel_size", {3, 3}},
                                             {"strides", {2, 2}},
                                             {"padding", "same"},
                                             {"depth_multiplier", 2},
                                             {"activation", "relu"}})})) ==
          "%1 = depthwise_convolution(%0) -> 14x14x6 \"s\": kernel 3x3, stride 2x2, padding 0,0,1,1, "
          "multiplier 2, bias no\n"
          "%2 = convolution(%1) -> 14x14x4 \"s\": kernel 1x1, stride 1x1, padding 0,0,0,0, filters 4, bias "
          "yes\n"
          "%3 = relu(%2) -> 14x14x4 \"s\"\n");
}

TEST_CASE("Layers over sequences work on maps of height 1", "[compiler][frontend]") {
    const ir::Graph graph = sequential(
        {nullptr, 20, 3},
        {layer("Conv1D", "c", {{"filters", 4}, {"kernel_size", {3}}, {"strides", {2}}, {"padding", "same"}}),
         layer("Conv1D", "d", {{"filters", 4}, {"kernel_size", 3}, {"padding", "causal"}}),
         layer("BatchNormalization", "b", {{"axis", {2}}}),
         layer("DepthwiseConv1D", "e", {{"kernel_size", 2}, {"depth_multiplier", 2}}),
         layer("SeparableConv1D", "f", {{"filters", 5}, {"kernel_size", 2}}),
         layer("ZeroPadding1D", "z", {{"padding", {1, 2}}}),
         layer("MaxPooling1D", "m", {{"pool_size", {2}}, {"strides", nullptr}}),
         layer("AveragePooling1D", "a", {{"pool_size", 2}, {"strides", 1}, {"padding", "same"}}),
         layer("Dense", "g", {{"units", 6}, {"activation", "relu"}}),
         layer("GlobalAveragePooling1D", "h", json::object())});
    CHECK(
        nodes_of(graph) ==
        "%1 = convolution(%0) -> 1x10x4 \"c\": kernel 1x3, stride 1x2, padding 0,0,0,1, filters 4, bias yes\n"
        "%2 = reshape(%1) -> 1x10x4 \"c\"\n"
        "%3 = convolution(%2) -> 1x10x4 \"d\": kernel 1x3, stride 1x1, padding 0,2,0,0, filters 4, bias yes\n"
        "%4 = reshape(%3) -> 1x10x4 \"d\"\n"
        "%5 = batch_normalization(%4) -> 1x10x4 \"b\": epsilon 0.001\n"
        "%6 = depthwise_convolution(%5) -> 1x9x8 \"e\": kernel 1x2, stride 1x1, padding 0,0,0,0, multiplier "
        "2, bias yes\n"
        "%7 = reshape(%6) -> 1x9x8 \"e\"\n"
        "%8 = depthwise_convolution(%7) -> 1x8x8 \"f\": kernel 1x2, stride 1x1, padding 0,0,0,0, multiplier "
        "1, bias no\n"
        "%9 = convolution(%8) -> 1x8x5 \"f\": kernel 1x1, stride 1x1, padding 0,0,0,0, filters 5, bias yes\n"
        "%10 = reshape(%9) -> 1x8x5 \"f\"\n"
        "%11 = zero_padding(%10) -> 1x11x5 \"z\": padding 0,1,0,2\n"
        "%12 = reshape(%11) -> 1x11x5 \"z\"\n"
        "%13 = max_pool(%12) -> 1x5x5 \"m\": kernel 1x2, stride 1x2, padding 0,0,0,0\n"
        "%14 = reshape(%13) -> 1x5x5 \"m\"\n"
        "%15 = average_pool(%14) -> 1x5x5 \"a\": kernel 1x2, stride 1x1, padding 0,0,0,1\n"
        "%16 = reshape(%15) -> 1x5x5 \"a\"\n"
        "%17 = convolution(%16) -> 1x5x6 \"g\": kernel 1x1, stride 1x1, padding 0,0,0,0, filters 6, bias "
        "yes\n"
        "%18 = relu(%17) -> 1x5x6 \"g\"\n"
        "%19 = reshape(%18) -> 1x5x6 \"g\"\n"
        "%20 = average_pool(%19) -> 1x1x6 \"h\": kernel 1x5, stride 1x1, padding 0,0,0,0\n"
        "%21 = reshape(%20) -> 1x1x6 \"h\"\n");
    CHECK(graph.values[graph.nodes[1].output()].shape == ir::Shape{1, 10, 4});
    // Nothing of the reshapes is left, but for the result's own shape.
    const ir::Graph simple = passes::simplify(graph);
    for (std::size_t i = 0; i + 1 < simple.nodes.size(); ++i) CHECK(!simple.nodes[i].is("reshape"));
    CHECK(simple.nodes.back().is("reshape"));
    CHECK(simple.output().shape == ir::Shape{1, 6});
    // The normalization is part of a convolution.
    CHECK(std::ranges::none_of(simple.nodes, [](const ir::Node& node) { return node.name == "b"; }));
    const std::vector<float> input(20 * 3, 0.01F);
    const std::vector<float> expected = reference::execute(graph, input, 1);
    const std::vector<float> results = reference::execute(simple, input, 1);
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i] == Approx(expected[i]));
    CHECK_THROWS_WITH(sequential(image, {layer("Conv1D", "c", {{"filters", 4}, {"kernel_size", 3}})}),
                      "layer \"c\": its input is 28x28x3; it must be a sequence: [length, channels]");
    CHECK_THROWS_WITH(
        sequential({nullptr, 20, 3}, {layer("Conv1D", "c", {{"filters", 4}, {"kernel_size", {3, 3}}})}),
        "layer \"c\": kernel_size is [3, 3]; it must be n or [n], an integer from 1 to 4294967295");
}

TEST_CASE("A function may be a layer with keys of its own", "[compiler][frontend]") {
    const json leaky{{"module", "keras.layers"}, {"class_name", "LeakyReLU"}, {"config", {{"alpha", 0.125}}}};
    CHECK(nodes_of(sequential({nullptr, 4}, {layer("Dense", "d", {{"units", 2}, {"activation", leaky}}),
                                             layer("ELU", "e", {{"alpha", 0.5}})})) ==
          "%1 = dense(%0) -> 1x1x2 \"d\": units 2, bias yes\n"
          "%2 = leaky_relu(%1) -> 1x1x2 \"d\": alpha 0.125\n"
          "%3 = elu(%2) -> 1x1x2 \"e\": alpha 0.5\n");
    const json own{{"class_name", "function"}, {"config", "mine"}, {"registered_name", "mine"}};
    CHECK_THROWS_WITH(
        sequential({nullptr, 4}, {layer("Activation", "a", {{"activation", own}})}),
        Catch::StartsWith("layer \"a\": activation is an object; this function is not supported"));
}

TEST_CASE("Normalization comes with weights or with numbers", "[compiler][frontend]") {
    const auto affine = [](const json& config) {
        const ir::Graph graph = sequential({nullptr, 3}, {layer("Normalization", "n", config)});
        return operators::affine_of({graph, graph.nodes[0]});
    };
    // The weights are 1, 2, 3 for the mean and for the variance.
    const operators::Affine by_weights = affine({{"axis", {-1}}});
    CHECK(by_weights.scale == std::vector<float>{1.0F, 1.0F / std::sqrt(2.0F), 1.0F / std::sqrt(3.0F)});
    CHECK(by_weights.offset ==
          std::vector<float>{-1.0F, -2.0F * (1.0F / std::sqrt(2.0F)), -3.0F * (1.0F / std::sqrt(3.0F))});
    CHECK(affine({{"axis", nullptr}}).scale == std::vector<float>{1, 1, 1});
    CHECK(affine({{"axis", json::array()}}).scale == std::vector<float>{1, 1, 1});
    const operators::Affine by_numbers = affine({{"axis", {-1}}, {"mean", {0, 1, 2}}, {"variance", 4.0}});
    CHECK(by_numbers.scale == std::vector<float>{0.5F, 0.5F, 0.5F});
    CHECK(by_numbers.offset == std::vector<float>{0.0F, -0.5F, -1.0F});
    const operators::Affine inverse =
        affine({{"axis", -1}, {"mean", 3.0}, {"variance", 4.0}, {"invert", true}});
    CHECK(inverse.scale == std::vector<float>{2, 2, 2});
    CHECK(inverse.offset == std::vector<float>{3, 3, 3});
    CHECK(affine({{"axis", -1}, {"mean", 0.0}, {"variance", 0.0}}).scale ==
          std::vector<float>(3, 1.0F / 1e-7F));
    CHECK_THROWS_WITH(affine({{"axis", -1}, {"mean", {1, 2}}}),
                      "layer \"n\": mean is [1, 2]; it must be a number, or 3, one for each channel");
}

TEST_CASE("Sums, products and averages may have more than two inputs", "[compiler][frontend]") {
    const auto text_of = [](const char* class_name) {
        const json layers{
            {{"class_name", "InputLayer"},
             {"name", "in"},
             {"config", {{"batch_shape", {nullptr, 4}}}},
             {"inbound_nodes", json::array()}},
            {{"class_name", class_name},
             {"name", "l"},
             {"config", json::object()},
             {"inbound_nodes",
              json::array({json::array({json{"in", 0, 0}, json{"in", 0, 0}, json{"in", 0, 0}})})}}};
        const json model{{"class_name", "Functional"},
                         {"config",
                          {{"name", "f"},
                           {"layers", layers},
                           {"input_layers", json::array({json{"in", 0, 0}})},
                           {"output_layers", json::array({json{"l", 0, 0}})}}}};
        return frontend::build_keras_graph(model.dump(), tests::CountingWeights(), operators::registry());
    };
    CHECK(nodes_of(text_of("Multiply")) ==
          "%1 = multiply(%0, %0) -> 1x1x4 \"l\"\n%2 = multiply(%1, %0) -> 1x1x4 \"l\"\n");
    const ir::Graph average = text_of("Average");
    REQUIRE(average.nodes.size() == 3);
    CHECK(operators::affine_of({average, average.nodes[2]}).scale == std::vector<float>(4, 1.0F / 3.0F));
}

TEST_CASE("Permute is a transposition behind the batch", "[compiler][frontend]") {
    const ir::Graph graph = sequential({nullptr, 2, 3, 4}, {layer("Permute", "p", {{"dims", {3, 1, 2}}})});
    CHECK(graph.nodes[0].is("transpose"));
    CHECK(graph.nodes[0].integers("permutation") == std::vector<std::int64_t>{0, 3, 1, 2});
    CHECK(graph.output().shape == ir::Shape{1, 4, 2, 3});
    CHECK_THROWS_AS(sequential({nullptr, 2, 3, 4}, {layer("Permute", "p", {{"dims", {1, 1, 2}}})}),
                    ModelError);
    CHECK_THROWS_WITH(sequential({nullptr, 2, 3, 4}, {layer("Permute", "p", {{"dims", {0, 1, 2}}})}),
                      "layer \"p\": dims is [0, 1, 2]; it must be a list of axes, counted from 1");
}

TEST_CASE("Layers on channels first give what those on channels last give", "[compiler][frontend]") {
    const std::vector<std::pair<std::string, json>> layers{
        {"Conv2D", {{"filters", 4}, {"kernel_size", {3, 2}}, {"strides", {2, 1}}, {"padding", "same"}}},
        {"BatchNormalization", {{"axis", {1}}}},
        {"SpatialDropout2D", json::object()},
        {"Activation", {{"activation", "tanh"}}},
        {"MaxPooling2D", {{"pool_size", {2, 3}}}},
        {"DepthwiseConv2D", {{"kernel_size", {2, 2}}, {"depth_multiplier", 2}}}};
    std::vector<json> first;
    std::vector<json> last;
    for (const auto& [class_name, config] : layers) {
        const std::string name = "l" + std::to_string(first.size());
        json keys = config;
        const bool has_axis = keys.contains("axis");
        if (!has_axis) keys["data_format"] = "channels_first";
        first.push_back(layer(class_name, name, keys));
        keys[has_axis ? "axis" : "data_format"] = has_axis ? json(3) : json("channels_last");
        last.push_back(layer(class_name, name, keys));
    }
    const ir::Graph graph = sequential({nullptr, 3, 9, 8}, first);
    CHECK(graph.output().shape == ir::Shape{1, 8, 1, 1});
    std::vector<float> input(3 * 9 * 8);
    std::vector<float> turned;
    for (std::size_t i = 0; i < input.size(); ++i)
        input[i] = static_cast<float>(i * 37 % 101) / 4000.0F - 0.01F;
    for (std::size_t pixel = 0; pixel < 9 * 8; ++pixel) {
        for (std::size_t channel = 0; channel < 3; ++channel)
            turned.push_back(input[channel * 9 * 8 + pixel]);
    }
    const std::vector<float> results = reference::execute(graph, input, 1);
    const std::vector<float> expected = reference::execute(sequential({nullptr, 9, 8, 3}, last), turned, 1);
    CHECK(results == expected);
    CHECK(*std::ranges::max_element(results) > *std::ranges::min_element(results));

    // The axes of sequences stay what they are when graphs are simplified.
    const ir::Graph sequence = sequential({nullptr, 3, 9}, {layer("Conv1D", "c",
                                                                  {{"filters", 4},
                                                                   {"kernel_size", 3},
                                                                   {"activation", "relu"},
                                                                   {"data_format", "channels_first"}})});
    CHECK(sequence.output().shape == ir::Shape{1, 4, 7});
    const std::vector<float> few(input.begin(), input.begin() + 3 * 9);
    const ir::Graph simple = passes::simplify(sequence);
    CHECK(simple.output().shape.rank() == 3);
    CHECK(tests::run_in_file_order(simple, few) == reference::execute(sequence, few, 1));

    // A layer that does nothing gets no transpositions.
    CHECK(sequential({nullptr, 3, 9, 8}, {first[2]}).nodes.empty());
    // Pooling over all pixels gives a vector.
    const ir::Graph pooled = sequential(
        {nullptr, 3, 9, 8}, {layer("GlobalAveragePooling2D", "g", {{"data_format", "channels_first"}})});
    CHECK(pooled.nodes.size() == 3);
    CHECK(pooled.output().shape == ir::Shape{1, 3});
    // Flatten takes the pixels one after the other, whatever the order of the input.
    CHECK(
        nodes_of(sequential({nullptr, 3, 9, 8}, {layer("Flatten", "f", {{"data_format", "channels_first"}})}))
            .starts_with("%1 = transpose(%0) -> 9x8x3"));
}

TEST_CASE("Numbers stand for true and false", "[compiler][frontend]") {
    CHECK(nodes_of(sequential({nullptr, 4}, {layer("Dense", "d", {{"units", 2}, {"use_bias", 0}})})) ==
          "%1 = dense(%0) -> 1x1x2 \"d\": units 2, bias no\n");
}

TEST_CASE("Unsupported layers are refused with layer, key, value and rule", "[compiler][frontend]") {
    struct Refusal {
        std::string class_name;
        json config;
        std::string message;
    };
    const json plain{{"filters", 4}, {"kernel_size", {3, 3}}};
    const auto with = [&](const char* key, const json& value) {
        json config = plain;
        config[key] = value;
        return config;
    };
    const std::vector<Refusal> refusals{
        {"Conv2D", with("strides", {0, 2}),
         "strides is [0, 2]; each must be an integer from 1 to 4294967295"},
        {"Conv2D", with("strides", {1, 2, 3}), "strides is [1, 2, 3]; it must have 2 entries"},
        {"Conv2D", with("strides", {1.5, 2}),
         "strides is [1.5, 2]; each must be an integer from 1 to 4294967295"},
        {"Conv2D", with("filters", -3), "filters is -3; it must be an integer from 1 to 4294967295"},
        {"Conv2D", with("filters", 4294967296),
         "filters is 4294967296; it must be an integer from 1 to 4294967295"},
        {"Conv2D", with("filters", nullptr), "filters is absent; it must be an integer from 1 to 4294967295"},
        {"Conv2D", with("padding", "causal"), "padding is \"causal\"; it must be \"valid\" or \"same\""},
        {"Conv2D", with("data_format", "NCHW"),
         "data_format is \"NCHW\"; only \"channels_last\" is supported"},
        {"Conv2D", with("dilation_rate", {2, 0}),
         "dilation_rate is [2, 0]; each must be an integer from 1 to 4294967295"},
        {"Conv2D", with("groups", 3), "groups is 3; it must divide the 3 input channels and the 4 filters"},
        {"DepthwiseConv2D", with("groups", 3), "groups is 3; only 1 is supported"},
        {"Conv2D", with("use_bias", "yes"), "use_bias is \"yes\"; it must be true or false"},
        {"Conv2D", with("activation", "crelu"),
         "activation is \"crelu\"; this function is not supported: docs/operators.md lists those that are"},
        {"Conv2D", with("activation", 5), "activation is 5; it must be the name of a function"},
        {"Conv2D", with("kernel_size", {29, 3}),
         "the height of its kernel is 29; the padded input's is 28 and must not be smaller"},
        {"BatchNormalization", {{"axis", {2}}}, "axis is [2]; only the last axis is supported"},
        {"BatchNormalization", {{"epsilon", "small"}}, "epsilon is \"small\"; it must be a number"},
        {"ReLU", {{"threshold", 1.0}}, "threshold is 1.0; only 0 is supported"},
        {"ReLU", {{"max_value", -1.0}}, "max_value is -1.0; it must be at least 0"},
        {"Reshape",
         {{"target_shape", {-1, -1, 1}}},
         "target_shape is [-1, -1, 1]; each must be an integer from 1 to 4294967295, or -1 once"},
        {"Reshape",
         {{"target_shape", {28, 0, 84}}},
         "target_shape is [28, 0, 84]; each must be an integer from 1 to 4294967295, or -1 once"},
        {"Reshape",
         {{"target_shape", {28, 28, 4}}},
         "it reshapes 28x28x3 to 28x28x4; the number of elements must stay the same"},
        {"ZeroPadding2D",
         {{"padding", {-1, 0}}},
         "padding is [-1, 0]; it must be a, [a, b] or [[a, b], [c, d]], each an integer, at least 0"},
        {"Cropping2D",
         {{"cropping", 14}},
         "cropping is 14; it must be a, [a, b] or [[a, b], [c, d]] and leave an element of each axis"},
        {"Cropping2D",
         {{"cropping", {{0, 28}, {0, 0}}}},
         "cropping is a list; it must be a, [a, b] or [[a, b], [c, d]] and leave an element of each axis"},
        {"Add", json::object(), "it has 1 input; it must have at least 2"},
        {"Concatenate", json::object(), "it concatenates 1 input; it must have at least 2"},
    };
    for (const Refusal& refusal : refusals) {
        CHECK_THROWS_WITH(sequential(image, {layer(refusal.class_name, "x", refusal.config)}),
                          "layer \"x\": " + refusal.message);
    }
}

TEST_CASE("Every layer that has an order of axes refuses one that nobody knows", "[compiler][frontend]") {
    const json line{nullptr, 8, 3};
    const json filters{{"filters", 4}, {"kernel_size", 2}};
    const std::vector<std::tuple<std::string, json, json>> layers{
        {"Conv1D", line, filters},
        {"Conv2D", image, filters},
        {"Conv1DTranspose", line, filters},
        {"Conv2DTranspose", image, filters},
        {"DepthwiseConv2D", image, {{"kernel_size", 2}}},
        {"SeparableConv2D", image, filters},
        {"MaxPooling1D", line, {{"pool_size", 2}}},
        {"MaxPooling2D", image, {{"pool_size", 2}}},
        {"AveragePooling2D", image, {{"pool_size", 2}}},
        {"GlobalAveragePooling2D", image, json::object()},
        {"GlobalMaxPooling1D", line, json::object()},
        {"UpSampling2D", image, json::object()},
        {"Resizing", image, {{"height", 2}, {"width", 2}}},
        {"ZeroPadding2D", image, {{"padding", 1}}},
        {"Cropping2D", image, json::object()},
        {"Flatten", image, json::object()}};
    for (const auto& [class_name, shape, config] : layers) {
        CAPTURE(class_name);
        json wrong = config;
        wrong["data_format"] = "NCHW";
        CHECK_THROWS_WITH(sequential(shape, {layer(class_name, "x", wrong)}),
                          "layer \"x\": data_format is \"NCHW\"; only \"channels_last\" is supported");
        wrong["data_format"] = "channels_last";
        CHECK_NOTHROW(sequential(shape, {layer(class_name, "x", wrong)}));
    }
}

TEST_CASE("A key that a file leaves out has the value that Keras gives it", "[compiler][frontend]") {
    const std::vector<std::tuple<std::string, json, json>> layers{
        {"Conv2D",
         {{"filters", 4}, {"kernel_size", 3}},
         {{"strides", {1, 1}},
          {"padding", "valid"},
          {"dilation_rate", {1, 1}},
          {"groups", 1},
          {"use_bias", true},
          {"activation", "linear"}}},
        {"Conv2DTranspose",
         {{"filters", 4}, {"kernel_size", 3}},
         {{"strides", {1, 1}},
          {"padding", "valid"},
          {"dilation_rate", {1, 1}},
          {"use_bias", true},
          {"activation", "linear"}}},
        {"DepthwiseConv2D",
         {{"kernel_size", 3}},
         {{"strides", {1, 1}}, {"padding", "valid"}, {"depth_multiplier", 1}, {"use_bias", true}}},
        {"MaxPooling2D", {{"pool_size", {2, 2}}}, {{"strides", {2, 2}}, {"padding", "valid"}}},
        {"UpSampling2D", json::object(), {{"size", {2, 2}}, {"interpolation", "nearest"}}},
        {"Cropping2D", json::object(), {{"cropping", {{0, 0}, {0, 0}}}}},
        {"BatchNormalization",
         json::object(),
         {{"axis", -1}, {"epsilon", 0.001}, {"center", true}, {"scale", true}}},
        {"ReLU", json::object(), {{"max_value", nullptr}, {"negative_slope", 0.0}, {"threshold", 0.0}}}};
    for (const auto& [class_name, required, defaults] : layers) {
        json whole = required;
        whole.update(defaults);
        const std::string expected = tests::summary(sequential(image, {layer(class_name, "x", whole)}));
        for (const auto& [key, value] : defaults.items()) {
            CAPTURE(class_name, key);
            json part = whole;
            part.erase(key);
            CHECK(tests::summary(sequential(image, {layer(class_name, "x", part)})) == expected);
        }
    }
}

TEST_CASE("A ReLU has any maximum from 0 on", "[compiler][frontend]") {
    for (const float maximum : {0.0F, 0.25F, 1.0F, 6.0F}) {
        const ir::Graph graph = sequential({nullptr, 3}, {layer("ReLU", "r", {{"max_value", maximum}})});
        const std::vector<float> input{-1.0F, maximum / 2, 7.0F};
        CHECK(reference::execute(graph, input, 1) == std::vector<float>{0.0F, maximum / 2, maximum});
    }
}

TEST_CASE("An input of unknown or unusable shape is refused", "[compiler][frontend]") {
    for (const json& shape : {json{nullptr, nullptr, 28, 1}, json{nullptr}, json("flat"), json{nullptr, 0},
                              json{nullptr, 1, 2, 3, 4, 5}}) {
        INFO(shape);
        CHECK_THROWS_AS(sequential(shape, {layer("Flatten", "f", json::object())}), ModelError);
    }
}
