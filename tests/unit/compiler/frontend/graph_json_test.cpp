#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/unit/compiler/frontend/keras_graph.h"

using namespace systole;
using frontend::WeightValues;
using nlohmann::json;

namespace {

/// A network with a chain of layers; layers may have further keys besides name and inputs.
json chain(const json& shape, const std::vector<json>& layers) {
    json list = json::array();
    std::string last = "input";
    for (std::size_t i = 0; i < layers.size(); ++i) {
        json layer = layers[i];
        layer.emplace("name", fmt::format("l{}", i + 1));
        layer.emplace("inputs", json::array({last}));
        last = layer["name"].get<std::string>();
        list.push_back(layer);
    }
    return {{"schema", "sim.graph/1"},  {"name", "net"},  {"input", {{"shape", shape}}},
            {"weights", {{"seed", 1}}}, {"layers", list}, {"output", last}};
}

ir::Graph build(const json& network, WeightValues values = WeightValues::Read) {
    return frontend::build_json_graph(network.dump(), values);
}

std::string nodes_of(const json& network) {
    return tests::nodes_of(build(network));
}

std::string error_of(const std::string& text) {
    try {
        frontend::build_json_graph(text, WeightValues::Read);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

std::string error_of(const json& network) {
    return error_of(network.dump());
}

/// The error of a network with this single layer.
std::string layer_error(json layer, const json& shape = {8, 8, 3}) {
    return error_of(chain(shape, {std::move(layer)}));
}

/// The weights of a layer, the input counted as number 0; none where they are not known.
std::vector<float> dense_weights(const ir::Graph& graph, std::size_t layer) {
    const ir::NodeView view(graph, graph.nodes.at(layer - 1));
    const auto weights = view.constant(0)->constant->values<float>();
    return {weights.begin(), weights.end()};
}

json dense(std::uint32_t units) {
    return {{"op", "dense"}, {"units", units}};
}

}  // namespace

TEST_CASE("Every operator of a graph file becomes its node", "[compiler][frontend]") {
    CHECK(
        nodes_of(
            chain({7, 9, 2},
                  {{{"op", "convolution"}, {"filters", 4}, {"kernel", {3, 5}}, {"activation", "relu"}},
                   {{"op", "convolution"}, {"filters", 3}, {"kernel", 3}, {"stride", 2}, {"padding", "same"}},
                   {{"op", "depthwise_convolution"},
                    {"multiplier", 2},
                    {"kernel", 2},
                    {"padding", {0, 1, 1, 0}},
                    {"bias", false}}})) ==
        "%1 = convolution(%0) -> 5x5x4 \"l1\": kernel 3x5, stride 1x1, padding 0,0,0,0, filters 4, bias yes\n"
        "%2 = relu(%1) -> 5x5x4 \"l1\"\n"
        "%3 = convolution(%2) -> 3x3x3 \"l2\": kernel 3x3, stride 2x2, padding 1,1,1,1, filters 3, bias yes\n"
        "%4 = depthwise_convolution(%3) -> 3x3x6 \"l3\": kernel 2x2, stride 1x1, padding 0,1,1,0, multiplier "
        "2, bias no\n");
    CHECK(nodes_of(
              chain({8, 8, 2}, {{{"op", "max_pool"}, {"kernel", 2}},
                                {{"op", "average_pool"}, {"kernel", 3}, {"stride", 1}, {"padding", "same"}},
                                {{"op", "zero_padding"}, {"padding", {1, 0, 0, 2}}},
                                {{"op", "batch_normalization"}, {"epsilon", 0.5}},
                                {{"op", "global_max_pool"}},
                                {{"op", "reshape"}, {"shape", {1, 2, 1}}},
                                {{"op", "global_average_pool"}},
                                {{"op", "flatten"}},
                                dense(3),
                                {{"op", "softmax"}}})) ==
          "%1 = max_pool(%0) -> 4x4x2 \"l1\": kernel 2x2, stride 2x2, padding 0,0,0,0\n"
          "%2 = average_pool(%1) -> 4x4x2 \"l2\": kernel 3x3, stride 1x1, padding 1,1,1,1\n"
          "%3 = zero_padding(%2) -> 5x6x2 \"l3\": padding 1,0,0,2\n"
          "%4 = batch_normalization(%3) -> 5x6x2 \"l4\": epsilon 0.5\n"
          "%5 = max_pool(%4) -> 1x1x2 \"l5\": kernel 5x6, stride 1x1, padding 0,0,0,0\n"
          "%6 = reshape(%5) -> 1x2x1 \"l6\"\n"
          "%7 = average_pool(%6) -> 1x1x1 \"l7\": kernel 1x2, stride 1x1, padding 0,0,0,0\n"
          "%8 = reshape(%7) -> 1x1x1 \"l8\"\n"
          "%9 = dense(%8) -> 1x1x3 \"l9\": units 3, bias yes\n"
          "%10 = softmax(%9) -> 1x1x3 \"l10\"\n");
    CHECK(nodes_of(chain({5}, {{{"op", "linear"}},
                               {{"op", "relu"}, {"maximum", 6}},
                               {{"op", "leaky_relu"}, {"alpha", 0.5}},
                               {{"op", "elu"}, {"alpha", 2}},
                               {{"op", "selu"}},
                               {{"op", "sigmoid"}},
                               {{"op", "tanh"}},
                               {{"op", "swish"}},
                               {{"op", "softplus"}}})) ==
          "%1 = identity(%0) -> 1x1x5 \"l1\"\n"
          "%2 = relu(%1) -> 1x1x5 \"l2\": maximum 6\n"
          "%3 = leaky_relu(%2) -> 1x1x5 \"l3\": alpha 0.5\n"
          "%4 = elu(%3) -> 1x1x5 \"l4\": alpha 2\n"
          "%5 = selu(%4) -> 1x1x5 \"l5\": alpha 1.6732632\n"
          "%6 = sigmoid(%5) -> 1x1x5 \"l6\"\n"
          "%7 = tanh(%6) -> 1x1x5 \"l7\"\n"
          "%8 = swish(%7) -> 1x1x5 \"l8\"\n"
          "%9 = softplus(%8) -> 1x1x5 \"l9\"\n");
}

TEST_CASE("A graph file resizes images by half pixels or to the nearest one", "[compiler][frontend]") {
    const auto resized = [](const json& keys) {
        json layer = keys;
        layer["op"] = "resize";
        const ir::Graph graph = build(chain({4, 6, 2}, {layer}));
        const ir::Node& node = graph.nodes.back();
        CHECK(node.is("resize"));
        CHECK(graph.values[node.output()].shape == ir::Shape{1, 8, 9, 2});
        return node.text("mode") + " " + node.text("coordinates");
    };
    CHECK(resized({{"size", {8, 9}}}) == "linear half_pixel");
    CHECK(resized({{"size", {8, 9}}, {"interpolation", "bilinear"}}) == "linear half_pixel");
    CHECK(resized({{"size", {8, 9}}, {"interpolation", "nearest"}}) == "nearest asymmetric");
    CHECK(layer_error({{"op", "resize"}}) ==
          "layer \"l1\": size is absent; it must be an integer from 1 to 4294967295");
    CHECK(layer_error({{"op", "resize"}, {"size", {8, 9}}, {"interpolation", "cubic"}}) ==
          "layer \"l1\": interpolation is \"cubic\"; it must be nearest or bilinear");
    CHECK(layer_error({{"op", "resize"}, {"size", {8, 9}}}, {8}) ==
          "layer \"l1\": its input must be an image");
}

TEST_CASE("Layers of a graph file read any layers before them", "[compiler][frontend]") {
    CHECK(nodes_of(chain({12},
                         {{{"name", "a"}, {"op", "slice"}, {"inputs", {"input"}}, {"first", 4}, {"count", 3}},
                          {{"name", "b"}, {"op", "slice"}, {"inputs", {"input"}}, {"first", 0}, {"count", 3}},
                          {{"name", "c"}, {"op", "add"}, {"inputs", {"a", "b"}}, {"activation", "relu"}},
                          {{"name", "d"}, {"op", "multiply"}, {"inputs", {"c", "a"}}},
                          {{"name", "e"}, {"op", "concat"}, {"inputs", {"d", "b", "d"}}},
                          {{"name", "f"}, {"op", "dense"}, {"inputs", {"e", "c"}}, {"units", 2}}})) ==
          "%1 = slice(%0) -> 1x1x3 \"a\": first 4, count 3\n"
          "%2 = slice(%0) -> 1x1x3 \"b\": first 0, count 3\n"
          "%3 = add(%1, %2) -> 1x1x3 \"c\"\n"
          "%4 = relu(%3) -> 1x1x3 \"c\"\n"
          "%5 = multiply(%4, %1) -> 1x1x3 \"d\"\n"
          "%6 = concat(%5, %2, %5) -> 1x1x9 \"e\"\n"
          "%7 = dense(%6, %4) -> 1x1x2 \"f\": units 2, bias yes\n");
}

TEST_CASE("The operators that messages name are those that are built", "[compiler][frontend]") {
    for (const std::string& name : operators::registry().layer_names(ir::Format::GraphJson)) {
        CHECK(operators::registry().find_layer(ir::Format::GraphJson, name) != nullptr);
    }
    CHECK(operators::registry().find_layer(ir::Format::GraphJson, "lstm") == nullptr);
}

TEST_CASE("Activations have 8 bits unless layer, input or network say otherwise", "[compiler][frontend]") {
    json network = chain({4}, {dense(3), dense(3), {{"op", "sigmoid"}}});
    const auto bits = [](const ir::Graph& graph) {
        std::vector<int> found;
        for (const ir::Value& value : graph.values) {
            if (!value.constant) found.push_back(value.stored_as == DataType::Int16 ? 16 : 8);
        }
        return found;
    };
    CHECK(bits(build(network)) == std::vector{8, 8, 8, 8});
    network["layers"][1]["activation_bits"] = 16;
    CHECK(bits(build(network)) == std::vector{8, 8, 16, 8});
    network["activation_bits"] = 16;
    network["layers"][2]["activation_bits"] = 8;
    CHECK(bits(build(network)) == std::vector{16, 16, 16, 8});
    network["input"]["activation_bits"] = 8;
    CHECK(bits(build(network)) == std::vector{8, 16, 16, 8});
}

TEST_CASE("Weights follow from seed and layer name alone", "[compiler][frontend]") {
    json network = chain({40}, {dense(30), dense(30), dense(30)});
    const ir::Graph first = build(network);
    const std::vector<float> weights = dense_weights(first, 1);
    CHECK(dense_weights(build(network), 1) == weights);
    CHECK(dense_weights(first, 2) != dense_weights(first, 3));

    network["layers"][1]["weights"] = {{"seed", 2}};
    const ir::Graph reseeded = build(network);
    CHECK(dense_weights(reseeded, 1) == weights);
    CHECK(dense_weights(reseeded, 2) != dense_weights(first, 2));
    CHECK(dense_weights(reseeded, 3) == dense_weights(first, 3));

    network["weights"]["seed"] = 2;
    CHECK(dense_weights(build(network), 1) != weights);
    CHECK(dense_weights(build(network), 2) == dense_weights(reseeded, 2));
    // Where a layer stands does not matter, nor what other layers there are.
    json alone = chain({40}, {dense(30)});
    CHECK(dense_weights(build(alone), 1) == weights);
}

TEST_CASE("Activations keep their size through many layers", "[compiler][frontend]") {
    const std::string activation = GENERATE("relu", "linear");
    json layer = dense(200);
    layer["activation"] = activation;
    const ir::Graph graph = build(chain({200}, std::vector<json>(30, layer)));
    constexpr std::uint32_t batch = 20;
    std::vector<float> input(200 * batch);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i * 37 % 101) / 100.0F;
    const auto size = [](const std::vector<float>& values) {
        return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
                         static_cast<double>(values.size()));
    };
    const double ratio = size(reference::execute(graph, input, batch)) / size(input);
    CHECK(ratio > 0.2);
    CHECK(ratio < 5.0);
}

TEST_CASE("Without values a network has the same shapes and work", "[compiler][frontend]") {
    const json network =
        chain({9, 9, 4}, {{{"op", "convolution"}, {"filters", 8}, {"kernel", 3}},
                          {{"op", "depthwise_convolution"}, {"kernel", 3}, {"multiplier", 2}},
                          {{"op", "batch_normalization"}},
                          dense(5)});
    const ir::Graph full = build(network);
    const ir::Graph bare = build(network, WeightValues::Skipped);
    CHECK(full.has_weights);
    CHECK_FALSE(bare.has_weights);
    CHECK(ir::macs(bare) == ir::macs(full));
    REQUIRE(bare.values.size() == full.values.size());
    for (std::size_t i = 0; i < full.values.size(); ++i) CHECK(bare.values[i].shape == full.values[i].shape);
    CHECK(dense_weights(full, 4).size() == 5 * 5 * 16 * 5);
    for (const std::size_t layer : {1U, 2U, 4U}) {
        const ir::NodeView view(bare, bare.nodes[layer - 1]);
        CHECK_FALSE(view.constant(0)->constant->is_known());
        CHECK(view.constant(0)->constant->bytes().empty());
    }
    CHECK_THROWS_AS(reference::execute(bare, std::vector<float>(9 * 9 * 4), 1), std::logic_error);
}

TEST_CASE("A layer without values may be larger than memory", "[compiler][frontend]") {
    const json network = chain({100'000}, {dense(150'000)});  // 60 GB in float
    CHECK(ir::macs(build(network, WeightValues::Skipped)) == 15'000'000'000);
    CHECK(error_of(network) ==
          "layer \"l1\": the network has more than 1073741824 weights; a run that computes may "
          "have no more");
}

TEST_CASE("Graph files that are wrong are refused with place, value and rule", "[compiler][frontend]") {
    CHECK(error_of(std::string("{")).starts_with("it is not JSON: parse error at line 1, column 2"));
    CHECK(error_of(std::string("[]")) == "it is []; it must be an object");
    CHECK(error_of(std::string(R"({"name": 1, "name": 2})")) ==
          "it has the key name twice; each key must be given once");
    const json good = chain({8, 8, 3}, {dense(2)});
    const auto with = [&](const char* pointer, const json& value) {
        json wrong = good;
        wrong[json::json_pointer(pointer)] = value;
        return error_of(wrong);
    };
    CHECK(with("/schema", "sim.run/1") ==
          "schema is \"sim.run/1\"; it must be \"sim.graph/1\" for a network");
    CHECK(with("/name", "") == "name is \"\"; it must be a text in quotes, short and printable");
    CHECK(with("/input", 3) == "input is 3; it must be an object");
    CHECK(with("/input/shape", {1, 2}) ==
          "input: shape is [1, 2]; it must be [n] or [height, width, channels], each an integer from 1 to "
          "4294967295");
    CHECK(with("/input/shape", {0}).find("input: shape is [0]; it must be") == 0);
    CHECK(with("/input/shape", {-1}).find("input: shape is [-1]; it must be") == 0);
    CHECK(with("/input/shape", {1.5}).find("input: shape is [1.5]; it must be") == 0);
    CHECK(
        with("/input/shape", {100'000, 100'000, 3}).find("layer \"input\": its result is 100000x100000x3") ==
        0);
    CHECK(with("/input/size", 1) ==
          "input: \"size\" is 1; it is not a known key; there are shape, activation_bits");
    CHECK(with("/weights/seed", -1) == "weights: seed is -1; it must be an integer from 0 to 2^64 - 1");
    CHECK(with("/weights", {{"sead", 1}}).find("weights: seed is absent") == 0);
    CHECK(with("/activation_bits", 4) == "activation_bits is 4; it must be 8 or 16");
    CHECK(with("/layers", json::array()) == "layers is []; it must be a list of at least one");
    CHECK(with("/layers/0", 7) == "layers[0] is 7; it must be an object");
    CHECK(with("/output", "x") == "output is \"x\"; it must be the last layer, \"l1\"");
    CHECK(with("/inputs", 1) == "\"inputs\" is 1; it is not a known key; did you mean \"input\"?");
    CHECK(with("/layers/0/name", 3) == "layers[0]: name is 3; it must be text");
    CHECK(with("/layers/0/name", "a\nb").find("layers[0]: name is \"a\\x0ab\"; it must be") == 0);
    CHECK(with("/layers/0/op", "lstm").find("layer \"l1\": op is \"lstm\"; ") == 0);
    CHECK(with("/layers/0/inputs", json::array()) ==
          "layer \"l1\": inputs is []; it must be a list of at least one name");
    CHECK(with("/layers/0/inputs", {"l1"}) ==
          "layer \"l1\": inputs has \"l1\"; each must be \"input\" or the name of a layer before");
    CHECK(with("/layers/0/inputs", {3}).find("layer \"l1\": inputs has 3; each must be") == 0);
    CHECK(with("/layers/0/units", 0) ==
          "layer \"l1\": units is 0; it must be an integer from 1 to 4294967295");
    CHECK(with("/layers/0/unit", 1) ==
          "layer \"l1\": \"unit\" is 1; it is not a known key; did you mean \"units\"?");
    CHECK(with("/layers/0/activation", "rellu")
              .find("layer \"l1\": activation is \"rellu\"; there is no such name; did you mean \"relu\"?") ==
          0);
    CHECK(with("/layers/0/activation", "qqqqqqqqqqqqqqq").find("it must be one of abs, ") !=
          std::string::npos);
    CHECK(with("/layers/0/bias", 1) == "layer \"l1\": bias is 1; it must be true or false");
    CHECK(with("/layers/0/activation_bits", 12) == "layer \"l1\": activation_bits is 12; it must be 8 or 16");
    CHECK(with("/layers/0/weights", 12).find("layer \"l1\": weights is 12; it must be an object") == 0);
    CHECK(with("/layers/0/weights", {{"seed", 1}, {"seeds", 1}})
              .find("layer \"l1\": weights: \"seeds\" is 1;") == 0);

    CHECK(layer_error({{"op", "convolution"}, {"filters", 1}}) ==
          "layer \"l1\": kernel is absent; it must be an integer from 1 to 4294967295");
    CHECK(layer_error({{"op", "convolution"}, {"filters", 1}, {"kernel", 9}}).find("layer \"l1\": ") == 0);
    CHECK(layer_error({{"op", "convolution"}, {"filters", 1}, {"kernel", 3}, {"padding", "full"}}) ==
          "layer \"l1\": padding is \"full\"; it must be \"valid\", \"same\" or [top, left, bottom, right]");
    CHECK(layer_error({{"op", "convolution"}, {"filters", 1}, {"kernel", 3}, {"padding", {1, 1}}}) ==
          "layer \"l1\": padding is [1, 1]; it must be [top, left, bottom, right], each an integer, at least "
          "0");
    CHECK(layer_error({{"op", "max_pool"}, {"kernel", 2}, {"units", 1}})
              .find("layer \"l1\": \"units\" is 1;") == 0);
    CHECK(layer_error({{"op", "max_pool"}, {"kernel", 2}, {"weights", {{"seed", 1}}}})
              .find("layer \"l1\": \"weights\" is an object;") == 0);
    CHECK(layer_error({{"op", "max_pool"}, {"kernel", 2}, {"inputs", {"input", "input"}}}) ==
          "layer \"l1\": it has 2 inputs; it must have exactly 1");
    CHECK(layer_error({{"op", "leaky_relu"}}) == "layer \"l1\": alpha is absent; it must be given");
    CHECK(layer_error({{"op", "relu"}, {"maximum", -1}}) ==
          "layer \"l1\": maximum is -1; it must be at least 0");
    CHECK(
        layer_error({{"op", "slice"}, {"first", -1}, {"count", 1}}, {8}).find("layer \"l1\": first is -1;") ==
        0);
    CHECK(layer_error({{"op", "slice"}, {"first", 8}, {"count", 1}}, {8})
              .find("layer \"l1\": it takes 1 elem") == 0);
    CHECK(layer_error({{"op", "add"}}).find("layer \"l1\": ") == 0);
    CHECK(layer_error({{"op", "batch_normalization"}, {"epsilon", -1}})
              .find("layer \"l1\": epsilon is -1; it must be at least 0") == 0);
    CHECK(
        layer_error({{"op", "reshape"}, {"shape", {5}}}).find("layer \"l1\": it reshapes 8x8x3 to 1x1x5;") ==
        0);

    CHECK(error_of(chain({4}, {dense(2), {{"name", "l1"}, {"op", "relu"}, {"inputs", {"l1"}}}})) ==
          "layer \"l1\": name is \"l1\"; the name is taken");
    CHECK(error_of(chain({4}, {{{"name", "input"}, {"op", "relu"}, {"inputs", {"input"}}}})) ==
          "layer \"input\": name is \"input\"; the name is taken");
    CHECK(error_of(chain({4}, {dense(2), {{"name", "x"}, {"op", "relu"}, {"inputs", {"input"}}}})) ==
          "layer \"l1\": nothing reads its result, and it is not the output");
}

TEST_CASE("Graph files are recognized by their contents", "[compiler][frontend]") {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("systole_graph_{}.json", getpid());
    const auto read = [&](const std::string& text) -> std::string {
        std::ofstream(path, std::ios::binary) << text;
        try {
            return tests::summary(frontend::read_network(path));
        } catch (const ModelError& error) {
            return error.what();
        }
    };
    const json network = chain({4}, {dense(2)});
    CHECK(read("\n  " + network.dump(2)) == tests::summary(build(network)));
    CHECK(read("{}") == path.string() + ": schema is absent; it must be \"sim.graph/1\" for a network");
    CHECK(read("[]") == path.string() + ": it is []; it must be an object");
    CHECK(read("# a graph\n{}") == path.string() + ": it has a comment in line 1; JSON has none");
    CHECK(read("schema: sim.graph/1").find(path.string() + ": it is not JSON: parse error at line 1") == 0);
    std::filesystem::remove(path);
}
