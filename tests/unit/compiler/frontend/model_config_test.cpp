#include "compiler/frontend/keras/model_config.h"

#include <catch2/catch.hpp>
#include <utility>

#include "compiler/ir/model_error.h"

using namespace systole;
using frontend::KerasModelConfig;
using frontend::parse_model_config;
using nlohmann::json;

namespace {

json described(const std::string& class_name, const std::string& name) {
    return {{"class_name", class_name}, {"name", name}, {"config", {{"name", name}}}};
}

/// As Keras 2 writes it.
json called2(const std::string& class_name, const std::string& name, const std::vector<std::string>& inputs) {
    json layer = described(class_name, name);
    layer["inbound_nodes"] = json::array();
    json tensors = json::array();
    for (const std::string& input : inputs) tensors.push_back({input, 0, 0, json::object()});
    if (!inputs.empty()) layer["inbound_nodes"].push_back(tensors);
    return layer;
}

/// As Keras 3 writes it: one tensor by itself, several in a list.
json called3(const std::string& class_name, const std::string& name, const std::vector<std::string>& inputs) {
    json layer = described(class_name, name);
    layer["inbound_nodes"] = json::array();
    json tensors = json::array();
    for (const std::string& input : inputs) {
        tensors.push_back({{"class_name", "__keras_tensor__"},
                           {"config", {{"shape", {nullptr, 4}}, {"keras_history", {input, 0, 0}}}}});
    }
    if (inputs.size() == 1)
        layer["inbound_nodes"].push_back({{"args", tensors}, {"kwargs", {{"mask", nullptr}}}});
    if (inputs.size() > 1) {
        layer["inbound_nodes"].push_back({{"args", json::array({tensors})}, {"kwargs", json::object()}});
    }
    return layer;
}

json functional(const json& layers, const json& input, const json& output) {
    return {
        {"class_name", "Functional"},
        {"config", {{"name", "f"}, {"layers", layers}, {"input_layers", input}, {"output_layers", output}}}};
}

std::string names(const KerasModelConfig& model) {
    std::string text;
    for (const auto& layer : model.layers) {
        text += layer.name + "(";
        for (const std::size_t input : layer.inputs) text += model.layers[input].name + ",";
        text += ") ";
    }
    return text;
}

}  // namespace

TEST_CASE("Layers of a functional model come after what they read", "[compiler][frontend]") {
    const bool keras3 = GENERATE(false, true);
    const auto called = keras3 ? called3 : called2;
    // Listed in the opposite order.
    const json layers{called("Add", "sum", {"b", "a"}), called("ReLU", "b", {"a"}),
                      called("ReLU", "a", {"in"}), called("InputLayer", "in", {})};
    const json input = keras3 ? json{"in", 0, 0} : json::array({{"in", 0, 0}});
    const json output = json::array({{"sum", 0, 0}});
    CHECK(names(parse_model_config(functional(layers, input, output).dump())) ==
          "in() a(in,) b(a,) sum(b,a,) ");
}

TEST_CASE("A Sequential model is a chain, its input given in one of four ways", "[compiler][frontend]") {
    const json dense = described("Dense", "d");
    const json shape{nullptr, 7};
    json with_input = described("InputLayer", "in");
    with_input["config"]["batch_shape"] = shape;
    json first_layer = dense;
    first_layer["config"]["batch_input_shape"] = shape;
    const std::vector<std::pair<json, std::string>> models{
        {{{"name", "s"}, {"layers", {with_input, dense}}}, "in() d(in,) "},
        {{{"name", "s"}, {"layers", {first_layer}}}, "d_input() d(d_input,) "},
        {{{"name", "s"}, {"layers", {dense}}, {"build_input_shape", shape}}, "d_input() d(d_input,) "},
        {json::array({first_layer}), "d_input() d(d_input,) "},
    };
    for (const auto& [config, expected] : models) {
        const KerasModelConfig model =
            parse_model_config(json{{"class_name", "Sequential"}, {"config", config}}.dump());
        CHECK(names(model) == expected);
        CHECK(model.layers[0].class_name == "InputLayer");
        CHECK(model.layers[0].config["batch_shape"] == shape);
    }
    CHECK_THROWS_WITH(
        parse_model_config(json{{"class_name", "Sequential"}, {"config", {{"layers", {dense}}}}}.dump()),
        "layer \"d\": it has no \"batch_input_shape\"; the first layer must have one");
}

TEST_CASE("Functional models beyond a graph of one input and one output are refused",
          "[compiler][frontend]") {
    const json in = called2("InputLayer", "in", {});
    const json input = json::array({{"in", 0, 0}});
    const json output = json::array({{"a", 0, 0}});
    const auto error = [&](const json& layers, const json& inputs, const json& outputs) -> std::string {
        try {
            parse_model_config(functional(layers, inputs, outputs).dump());
        } catch (const ModelError& refused) {
            return refused.what();
        }
        return "no error";
    };
    CHECK(error({in, called2("ReLU", "a", {"in"})}, input, output) == "no error");
    CHECK(error({in, called2("ReLU", "a", {"out"})}, input, output) ==
          "layer \"a\" names layer \"out\"; there is none of that name");
    CHECK(error({in, called2("Add", "a", {"in", "b"}), called2("ReLU", "b", {"a"})}, input, output) ==
          "layer \"a\": it depends on its own result");
    CHECK(error({in, called2("ReLU", "a", {"a"})}, input, output) ==
          "layer \"a\": it depends on its own result");
    CHECK(error({in, called2("ReLU", "a", {"in"}), called2("ReLU", "b", {"in"})}, input, output) ==
          "layer \"b\": it does not lead to the output of the model");
    CHECK(error({in, called2("InputLayer", "in2", {}), called2("Add", "a", {"in", "in2"})}, input, output) ==
          "layer \"in2\": it has no inputs and is not the model's input");
    CHECK(error({in, in, called2("ReLU", "a", {"in"})}, input, output) ==
          "layer \"in\": two layers have this name");
    CHECK(error({in, called2("ReLU", "a", {"in"})}, json::array({{"in", 0, 0}, {"in", 0, 0}}), output) ==
          "model_config: input_layers has 2 entries; models must have exactly 1");
    json shared = called2("ReLU", "a", {"in"});
    shared["inbound_nodes"].push_back(shared["inbound_nodes"][0]);
    CHECK(error({in, shared}, input, output) ==
          "layer \"a\" is applied 2 times; sharing a layer is not supported");
    json nested = called2("Functional", "a", {"in"});
    nested["config"]["layers"] = json::array();
    CHECK(error({in, nested}, input, output) ==
          "layer \"a\" is a model of its own (\"Functional\"); nested models are not supported");
}

TEST_CASE("A long chain is ordered", "[compiler][frontend]") {
    json layers{called2("InputLayer", "l0", {})};
    constexpr int length = 3000;
    for (int i = 1; i <= length; ++i) {
        layers.push_back(called2("ReLU", "l" + std::to_string(i), {"l" + std::to_string(i - 1)}));
    }
    const json model =
        functional(layers, json::array({{"l0", 0, 0}}), json::array({{"l" + std::to_string(length), 0, 0}}));
    CHECK(parse_model_config(model.dump()).layers.size() == length + 1);
}

TEST_CASE("Text that is no model is refused", "[compiler][frontend]") {
    CHECK_THROWS_WITH(parse_model_config(""),
                      Catch::StartsWith("model_config is not JSON: parse error at line 1"));
    CHECK_THROWS_WITH(parse_model_config("1e999"),
                      "model_config is not JSON: number overflow parsing '1e999'");
    CHECK_THROWS_WITH(parse_model_config("[]"), "model_config is []; it must be an object");
    CHECK_THROWS_WITH(parse_model_config("{}"), "model_config has no \"class_name\"");
    CHECK_THROWS_WITH(parse_model_config(std::string(65, '[') + std::string(65, ']')),
                      "model_config is nested more than 64 deep");
    CHECK_THROWS_WITH(parse_model_config(std::string(64, '[') + std::string(64, ']')),
                      "model_config is a list; it must be an object");
    CHECK_THROWS_AS(parse_model_config(std::string(1000000, '[')), ModelError);
    CHECK_THROWS_WITH(
        parse_model_config(R"({"class_name": "Graph", "config": {}})"),
        "model_config: class_name is \"Graph\"; only Sequential and Functional models can be read");
    CHECK_THROWS_WITH(parse_model_config(R"({"class_name": "Sequential", "config": {"layers": []}})"),
                      "model_config: layers is []; it must be a list of at least one");
    CHECK_THROWS_WITH(
        parse_model_config(
            R"({"class_name": "Sequential", "config": [{"class_name": "ReLU", "config": {"name": "a\nb"}}]})"),
        "model_config: layer 0: its name is \"a\\x0ab\"; it must be short and printable");
}
