#include <catch2/catch.hpp>

#include "compiler/ir/model_error.h"
#include "compiler/operators/batch_normalization/affine.h"
#include "compiler/operators/operator.h"
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

TEST_CASE("Pooling takes its stride from the window if none is given", "[compiler][frontend]") {
    CHECK(nodes_of(sequential(
              image, {layer("MaxPooling2D", "m", {{"pool_size", {3, 2}}, {"strides", nullptr}}),
                      layer("AveragePooling2D", "a", {{"pool_size", 2}, {"strides", 1}, {"padding", "same"}}),
                      layer("GlobalAveragePooling2D", "g", {{"keepdims", false}})})) ==
          "%1 = max_pool(%0) -> 9x14x3 \"m\": kernel 3x2, stride 3x2, padding 0,0,0,0\n"
          "%2 = average_pool(%1) -> 9x14x3 \"a\": kernel 2x2, stride 1x1, padding 0,0,1,1\n"
          "%3 = average_pool(%2) -> 1x1x3 \"g\": kernel 9x14, stride 1x1, padding 0,0,0,0\n");
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
    CHECK(
        nodes_of(sequential(
            {nullptr, 4},
            {layer("Activation", "a", {{"activation", "sigmoid"}}),
             layer("Activation", "b", {{"activation", keras3}}),
             layer("ReLU", "c", {{"max_value", 6.0}, {"negative_slope", 0.0}, {"threshold", 0.0}}),
             layer("LeakyReLU", "d", {{"alpha", 0.25}}), layer("LeakyReLU", "e", {{"negative_slope", 0.5}}),
             layer("Activation", "f", {{"activation", "linear"}}), layer("Softmax", "g", {{"axis", -1}})})) ==
        "%1 = sigmoid(%0) -> 1x1x4 \"a\"\n"
        "%2 = tanh(%1) -> 1x1x4 \"b\"\n"
        "%3 = relu(%2) -> 1x1x4 \"c\": maximum 6\n"
        "%4 = leaky_relu(%3) -> 1x1x4 \"d\": alpha 0.25\n"
        "%5 = leaky_relu(%4) -> 1x1x4 \"e\": alpha 0.5\n"
        "%6 = softmax(%5) -> 1x1x4 \"g\"\n");
}

TEST_CASE("Layers for training only become no nodes", "[compiler][frontend]") {
    CHECK(nodes_of(sequential(
              {nullptr, 4}, {layer("Dropout", "d", {{"rate", 0.4}}), layer("Dense", "e", {{"units", 1}})})) ==
          "%1 = dense(%0) -> 1x1x1 \"e\": units 1, bias yes\n");
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
}

TEST_CASE("Concatenations are along the channels", "[compiler][frontend]") {
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
    CHECK_THROWS_WITH(text_of(image, 1), "layer \"mixed\": axis is 1; only the last axis is supported");
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
        {"Conv2D", with("data_format", "channels_first"),
         "data_format is \"channels_first\"; only \"channels_last\" is supported"},
        {"Conv2D", with("dilation_rate", {2, 2}), "dilation_rate is [2, 2]; only 1 is supported"},
        {"Conv2D", with("groups", 3), "groups is 3; only 1 is supported"},
        {"Conv2D", with("use_bias", "yes"), "use_bias is \"yes\"; it must be true or false"},
        {"Conv2D", with("activation", "crelu"),
         "activation is \"crelu\"; this function is not supported: docs/operators.md lists those that are"},
        {"Conv2D", with("kernel_size", {29, 3}),
         "the height of its kernel is 29; the padded input's is 28 and must not be smaller"},
        {"BatchNormalization", {{"axis", {1}}}, "axis is [1]; only the last axis is supported"},
        {"BatchNormalization", {{"epsilon", "small"}}, "epsilon is \"small\"; it must be a number"},
        {"ReLU", {{"threshold", 1.0}}, "threshold is 1.0; only 0 is supported"},
        {"ReLU", {{"max_value", -1.0}}, "max_value is -1.0; it must be at least 0"},
        {"Reshape",
         {{"target_shape", {-1, -1, 1}}},
         "target_shape is [-1, -1, 1]; each must be an integer from 1 to 4294967295, or -1 once"},
        {"Reshape", {{"target_shape", {28, 84}}}, "target_shape is [28, 84]; it must have 1 or 3 dimensions"},
        {"Reshape",
         {{"target_shape", {28, 28, 4}}},
         "it reshapes 28x28x3 to 28x28x4; the number of elements must stay the same"},
        {"ZeroPadding2D",
         {{"padding", {-1, 0}}},
         "padding is [-1, 0]; it must be a, [a, b] or [[a, b], [c, d]], each an integer, at least 0"},
        {"Add", json::object(), "it has 1 input; it must have at least 2"},
        {"Concatenate", json::object(), "it concatenates 1 input; it must have at least 2"},
    };
    for (const Refusal& refusal : refusals) {
        CHECK_THROWS_WITH(sequential(image, {layer(refusal.class_name, "x", refusal.config)}),
                          "layer \"x\": " + refusal.message);
    }
}

TEST_CASE("An input of unknown or unusable shape is refused", "[compiler][frontend]") {
    for (const json& shape : {json{nullptr, nullptr, 28, 1}, json{nullptr, 28, 28}, json{nullptr},
                              json("flat"), json{nullptr, 0}, json{nullptr, 1, 2, 3, 4}}) {
        INFO(shape);
        CHECK_THROWS_AS(sequential(shape, {layer("Flatten", "f", json::object())}), ModelError);
    }
}
