#include "compiler/frontend/keras/model_config.h"

#include <catch2/catch.hpp>
#include <utility>

#include "compiler/ir/model_error.h"

using namespace systole;
using frontend::KerasModelConfig;
using frontend::parse_model_config;
using nlohmann::json;
using namespace nlohmann::literals;

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

/// "in() a(in,) -> a": the calls in order, and the model's outputs.
std::string names(const KerasModelConfig& model) {
    std::string text;
    const auto result = [&](const frontend::KerasResult& one) {
        return model.calls[one.call].name + (one.index == 0 ? "" : ":" + std::to_string(one.index));
    };
    for (const auto& call : model.calls) {
        text += call.name + "(";
        for (const auto& input : call.inputs) text += result(input) + ",";
        text += ") ";
    }
    text += "->";
    for (const auto& output : model.outputs) text += " " + result(output);
    return text;
}

/// As Keras 2 writes the calls of a layer: each reads results of layers, [name, call, result].
json called_often(const std::string& class_name, const std::string& name, const json& calls) {
    json layer = described(class_name, name);
    layer["inbound_nodes"] = json::array();
    for (const json& call : calls) {
        json tensors = json::array();
        for (json result : call) {
            result.push_back(json::object());
            tensors.push_back(result);
        }
        layer["inbound_nodes"].push_back(tensors);
    }
    return layer;
}

std::string refusal_of(const json& model) {
    try {
        parse_model_config(model.dump());
    } catch (const ModelError& refused) {
        return refused.what();
    }
    return "no error";
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
          "in() a(in,) b(a,) sum(b,a,) -> sum");
}

TEST_CASE("A Sequential model is a chain, its input given in one of eight ways", "[compiler][frontend]") {
    const json dense = described("Dense", "d");
    const json shape{nullptr, 7};
    json with_input = described("InputLayer", "in");
    with_input["config"]["batch_shape"] = shape;
    const json without_shape = described("InputLayer", "in");
    json first_layer = dense;
    first_layer["config"]["batch_input_shape"] = shape;
    json built = dense;
    built["build_config"] = {{"input_shape", shape}};
    // The first layer is a model, of which Keras 1 writes the layers alone.
    json nested{{"class_name", "Sequential"},
                {"name", "m"},
                {"config", {{"name", "m"}, {"layers", json::array({first_layer})}}}};
    json nested_list = nested;
    nested_list["config"] = json::array({first_layer});
    const std::vector<std::pair<json, std::string>> models{
        {{{"name", "s"}, {"layers", json::array({nested})}}, "m_input() m/d(m_input,) -> m/d"},
        {{{"name", "s"}, {"layers", json::array({nested_list})}}, "m_input() m/d(m_input,) -> m/d"},
        {{{"name", "s"}, {"layers", {with_input, dense}}}, "in() d(in,) -> d"},
        {{{"name", "s"}, {"layers", {first_layer}}}, "d_input() d(d_input,) -> d"},
        {{{"name", "s"}, {"layers", {dense}}, {"build_input_shape", shape}}, "d_input() d(d_input,) -> d"},
        {{{"name", "s"}, {"layers", {built}}}, "d_input() d(d_input,) -> d"},
        {json::array({first_layer}), "d_input() d(d_input,) -> d"},
        {{{"name", "s"}, {"layers", {without_shape, first_layer}}}, "in() d(in,) -> d"},
    };
    for (const auto& [config, expected] : models) {
        const KerasModelConfig model =
            parse_model_config(json{{"class_name", "Sequential"}, {"config", config}}.dump());
        CHECK(names(model) == expected);
        const frontend::KerasLayer& input = model.layers[model.calls[0].layer];
        CHECK(input.class_name == "InputLayer");
        CHECK(input.config["batch_shape"] == shape);
    }
    CHECK_THROWS_WITH(
        parse_model_config(json{{"class_name", "Sequential"}, {"config", {{"layers", {dense}}}}}.dump()),
        "layer \"d\": it has no \"batch_input_shape\"; the first layer must have one");
}

TEST_CASE("A configuration that is no object stays as it is, whatever class has it", "[compiler][frontend]") {
    json in = described("InputLayer", "in");
    in["config"]["batch_shape"] = {nullptr, 7};
    for (const char* const class_name : {"Dense", "Merge", "Convolution2D", "BatchNormalization"}) {
        for (const json& config : {json(5), json("text"), json(nullptr), json::array({1, 2}), json(true)}) {
            CAPTURE(class_name, config.dump());
            json broken = described(class_name, "l");
            broken["config"] = config;
            const json model{{"class_name", "Sequential"},
                             {"config", {{"name", "s"}, {"layers", {in, broken}}}}};
            CHECK(parse_model_config(model.dump()).layers[1].config == config);
        }
    }
}

TEST_CASE("Functional models that are no graph are refused", "[compiler][frontend]") {
    const json in = called2("InputLayer", "in", {});
    const json input = json::array({{"in", 0, 0}});
    const json output = json::array({{"a", 0, 0}});
    const auto error = [&](const json& layers, const json& inputs, const json& outputs) {
        return refusal_of(functional(layers, inputs, outputs));
    };
    CHECK(error({in, called2("ReLU", "a", {"in"})}, input, output) == "no error");
    CHECK(error({in, called2("ReLU", "a", {"out"})}, input, output) ==
          "layer \"a\" names layer \"out\"; there is none of that name");
    CHECK(error({in, called2("Add", "a", {"in", "b"}), called2("ReLU", "b", {"a"})}, input, output) ==
          "layer \"a\": it depends on its own result");
    CHECK(error({in, called2("ReLU", "a", {"a"})}, input, output) ==
          "layer \"a\": it depends on its own result");
    CHECK(error({in, called2("ReLU", "a", {"in"}), called2("ReLU", "b", {"in"})}, input, output) ==
          "layer \"b\": it does not lead to an output of the model");
    CHECK(error({in, called2("InputLayer", "in2", {}), called2("Add", "a", {"in", "in2"})}, input, output) ==
          "layer \"in2\": it has no inputs and is not an input of the model");
    CHECK(error({in, in, called2("ReLU", "a", {"in"})}, input, output) ==
          "layer \"in\": two layers have this name");
    CHECK(error({in, called2("ReLU", "a", {"in"})}, json::array({{"in", 0, 0}, {"in", 0, 0}}), output) ==
          "model_config: input_layers has layer \"in\" twice");
    CHECK(error({in, called2("ReLU", "a", {"in"})}, output, output) ==
          "model_config: input_layers has layer \"a\"; it must be an InputLayer");
    CHECK(error({in, called2("ReLU", "a", {"in"})}, json::array(), output) ==
          "model_config: input_layers is empty");
    json shared = called2("ReLU", "a", {"in"});
    shared["inbound_nodes"].push_back(shared["inbound_nodes"][0]);
    CHECK(error({in, shared}, input, output) == "layer \"a\": it does not lead to an output of the model");
    CHECK(error({in, called_often("ReLU", "a", R"([[["in", 1, 0]]])"_json)}, input, output) ==
          "layer \"a\" reads call 1 of layer \"in\"; the file has 1 call of it");
    CHECK(error({in, called_often("ReLU", "a", R"([[["in", -1, 0]]])"_json)}, input, output) ==
          "layer \"a\" reads a list; it must read a result of a layer");
    json with_argument = called2("ReLU", "a", {"in"});
    with_argument["inbound_nodes"][0][0][3]["mask"] = json::array({"in", 0, 0});
    CHECK(error({in, with_argument}, input, output) ==
          "layer \"a\" is called with \"mask\"; only inputs are supported");
    with_argument["inbound_nodes"][0][0][3] = {{"training", false}, {"mask", nullptr}};
    CHECK(error({in, with_argument}, input, output) == "no error");
    json nested = called2("Functional", "a", {"in"});
    nested["config"]["layers"] = json::array();
    CHECK(error({in, nested}, input, output) ==
          "layer \"a\": layers is []; it must be a list of at least one");
}

TEST_CASE("Models have inputs and outputs in their own order", "[compiler][frontend]") {
    const json layers{called2("InputLayer", "a", {}), called2("InputLayer", "b", {}),
                      called2("ReLU", "c", {"a"}), called2("Add", "d", {"c", "b"})};
    const json lists[] = {json::array({{"b", 0, 0}, {"a", 0, 0}}),
                          json{{"first", {"b", 0, 0}}, {"second", {"a", 0, 0}}}};
    for (const json& inputs : lists) {
        CHECK(names(parse_model_config(
                  functional(layers, inputs, json::array({{"d", 0, 0}, {"c", 0, 0}})).dump())) ==
              "b() a() c(a,) d(c,b,) -> d c");
    }
}

TEST_CASE("A layer may be called several times", "[compiler][frontend]") {
    const json layers{called2("InputLayer", "in", {}),
                      called_often("Dense", "d", R"([[["in", 0, 0]], [["r", 0, 0]]])"_json),
                      called2("ReLU", "r", {"d"}),
                      called_often("Add", "sum", R"([[["d", 1, 0], ["r", 0, 0]]])"_json)};
    const KerasModelConfig model = parse_model_config(
        functional(layers, json::array({{"in", 0, 0}}), json::array({{"sum", 0, 0}})).dump());
    CHECK(names(model) == "in() d(in,) r(d,) d (call 2)(r,) sum(d (call 2),r,) -> sum");
    CHECK(model.calls[1].layer == model.calls[3].layer);
}

TEST_CASE("Models may be layers of models", "[compiler][frontend]") {
    // Keras counts the calls of some nested models from 1.
    const int first = GENERATE(0, 1);
    json inner = functional({called2("InputLayer", "x", {}), called2("InputLayer", "y", {}),
                             called2("Dense", "d", {"x"}), called2("Add", "a", {"d", "y"})},
                            json::array({{"x", 0, 0}, {"y", 0, 0}}), json::array({{"a", 0, 0}, {"d", 0, 0}}));
    json sequential{
        {"class_name", "Sequential"},
        {"config", {{"name", "s"}, {"layers", {described("ReLU", "r"), described("ReLU", "q")}}}}};
    inner["name"] = "m";
    sequential["name"] = "s";
    json calls = R"([[["in", 0, 0], ["in", 0, 0]], [["m", 0, 1], ["s", 0, 0]]])"_json;
    calls[1][0][1] = first;
    calls[1][1][1] = first;
    inner["inbound_nodes"] = called_often("", "", calls)["inbound_nodes"];
    sequential["inbound_nodes"] =
        called_often("", "", json::array({json::array({json{"m", first, 0}})}))["inbound_nodes"];
    const json layers{called2("InputLayer", "in", {}), inner, sequential};
    const KerasModelConfig model = parse_model_config(
        functional(layers, json::array({{"in", 0, 0}}), json::array({{"m", first + 1, 0}})).dump());
    CHECK(names(model) ==
          "in() m/d(in,) m/a(m/d,in,) s/r(m/a,) s/q(s/r,) m/d (call 2)(m/d,) m/a (call 2)(m/d (call 2),s/q,) "
          "-> m/a (call 2)");
    const frontend::KerasLayer& dense = model.layers[model.calls[1].layer];
    REQUIRE(dense.steps.size() == 2);
    CHECK(dense.steps[0].name == "m");
    CHECK(dense.steps[0].class_name == "Functional");
    CHECK(dense.steps[1].name == "d");

    inner["inbound_nodes"][1][0][2] = 2;
    CHECK(refusal_of(functional({layers[0], inner, layers[2]}, json::array({{"in", 0, 0}}),
                                json::array({{"m", first + 1, 0}}))) ==
          "layer \"m\": result 2 is read; it has 2 outputs");
    inner["inbound_nodes"][0].erase(1);
    CHECK(refusal_of(functional({layers[0], inner, layers[2]}, json::array({{"in", 0, 0}}),
                                json::array({{"m", first + 1, 0}}))) ==
          "layer \"m\": it is called with 1 tensor; it has 2 inputs");
}

TEST_CASE("A small file cannot describe endless work", "[compiler][frontend]") {
    // Each model calls the one in it ten times.
    json model = called2("ReLU", "r", {"in"});
    std::string inner = "r";
    for (int depth = 0; depth < 10; ++depth) {
        json calls = json::array();
        for (int i = 0; i < 10; ++i) {
            calls.push_back(json::array({json{i == 0 ? "in" : inner, i == 0 ? 0 : i - 1, 0}}));
        }
        json repeated = model;
        repeated["inbound_nodes"] = called_often("", "", calls)["inbound_nodes"];
        const std::string name = "m" + std::to_string(depth);
        model = functional({called2("InputLayer", "in", {}), repeated}, json::array({{"in", 0, 0}}),
                           json::array({{inner, 9, 0}}));
        model["name"] = name;
        inner = name;
    }
    CHECK(refusal_of(model) == "model_config: its layers are called more than 200000 times");
}

TEST_CASE("Layers are numbered by class, as files of Keras 3 keep their weights", "[compiler][frontend]") {
    json in = described("InputLayer", "in");
    in["config"]["batch_shape"] = {nullptr, 7};
    const json layers{in, described("Dense", "z"), described("ReLU", "b"), described("Dense", "a")};
    const KerasModelConfig model =
        parse_model_config(json{{"class_name", "Sequential"}, {"config", {{"layers", layers}}}}.dump());
    std::string text;
    for (const auto& layer : model.layers) {
        const frontend::LayerStep& step = layer.steps.at(0);
        text += step.name + " " + step.class_name + " " + std::to_string(step.position) + "/" +
                std::to_string(step.count) + ", ";
    }
    CHECK(text == "in InputLayer 0/1, z Dense 0/2, b ReLU 0/1, a Dense 1/2, ");
}

TEST_CASE("A class that somebody else registered is not Keras' own", "[compiler][frontend]") {
    json dense = described("Dense", "d");
    dense["registered_name"] = "mine>Dense";
    json add = described("Add", "a");
    add["module"] = "keras.src.ops.numpy";
    json in = described("InputLayer", "in");
    in["config"]["batch_shape"] = {nullptr, 7};
    const json layers{in, dense, add};
    const KerasModelConfig model =
        parse_model_config(json{{"class_name", "Sequential"}, {"config", {{"layers", layers}}}}.dump());
    CHECK(model.layers[1].class_name == "mine>Dense");
    CHECK(model.layers[2].class_name == "ops.Add");
}

TEST_CASE("Layers of Keras 1 get the names of Keras 2", "[compiler][frontend]") {
    const auto modern = [](const std::string& class_name, json config) {
        config["name"] = "l";
        json in = described("InputLayer", "in");
        in["config"]["batch_shape"] = {nullptr, 7};
        const json layers{in, {{"class_name", class_name}, {"config", config}}};
        const json model{{"class_name", "Sequential"}, {"config", {{"layers", layers}}}};
        const KerasModelConfig read = parse_model_config(model.dump());
        json result = read.layers[1].config;
        result.erase("name");
        result["class"] = read.layers[1].class_name;
        return result;
    };
    CHECK(modern("Convolution2D", {{"nb_filter", 4},
                                   {"nb_row", 3},
                                   {"nb_col", 5},
                                   {"subsample", {1, 2}},
                                   {"border_mode", "same"},
                                   {"dim_ordering", "tf"},
                                   {"bias", false}}) == json{{"class", "Conv2D"},
                                                             {"filters", 4},
                                                             {"kernel_size", {3, 5}},
                                                             {"strides", {1, 2}},
                                                             {"padding", "same"},
                                                             {"data_format", "channels_last"},
                                                             {"use_bias", false}});
    CHECK(modern("Convolution1D", {{"nb_filter", 4}, {"filter_length", 3}, {"subsample_length", 2}}) ==
          json{{"class", "Conv1D"}, {"filters", 4}, {"kernel_size", 3}, {"strides", 2}});
    CHECK(modern("AtrousConvolution2D", {{"atrous_rate", {2, 2}}}) ==
          json{{"class", "Conv2D"}, {"dilation_rate", {2, 2}}});
    CHECK(modern("Dense", {{"output_dim", 7}, {"bias", true}}) ==
          json{{"class", "Dense"}, {"units", 7}, {"use_bias", true}});
    CHECK(modern("MaxPooling1D", {{"pool_length", 2}, {"stride", 3}, {"border_mode", "valid"}}) ==
          json{{"class", "MaxPooling1D"}, {"pool_size", 2}, {"strides", 3}, {"padding", "valid"}});
    CHECK(modern("MaxPooling2D", {{"dim_ordering", "th"}}) ==
          json{{"class", "MaxPooling2D"}, {"data_format", "channels_first"}});
    CHECK(modern("MaxPooling2D", {{"dim_ordering", "default"}}) == json{{"class", "MaxPooling2D"}});
    CHECK(modern("Merge", {{"mode", "concat"}, {"concat_axis", -1}}) ==
          json{{"class", "Concatenate"}, {"axis", -1}});
    CHECK(modern("Merge", {{"mode", "sum"}}) == json{{"class", "Add"}});
    CHECK_THROWS_WITH(modern("Merge", {{"mode", "cos"}}),
                      "layer \"l\": mode is \"cos\"; it must be \"sum\", \"mul\", \"concat\", \"ave\" or "
                      "\"max\"");
    CHECK_THROWS_WITH(modern("Merge", {{"layers", json::array()}}),
                      "layer \"l\": it merges models that are not layers of the model itself; that is not "
                      "supported");
    CHECK_THROWS_WITH(modern("BatchNormalization", {{"mode", 1}}),
                      "layer \"l\": mode is 1; it must be 0 or 2");
}

TEST_CASE("Functions in models become the layers that do the same", "[compiler][frontend]") {
    const auto layer_of = [](const json& function) {
        json layer = function;
        layer["name"] = "f";
        const json layers{called2("InputLayer", "in", {}), layer};
        const KerasModelConfig model = parse_model_config(
            functional(layers, json::array({{"in", 0, 0}}), json::array({{"f", 0, 0}})).dump());
        const frontend::KerasLayer& read = model.layers[1];
        json result{{"class", read.class_name}, {"inputs", model.calls[1].inputs.size()}};
        for (const char* const key : {"scale", "offset", "activation"}) {
            if (read.config.contains(key)) result[key] = read.config[key];
        }
        return result;
    };
    const auto keras2 = [&](const std::string& function, const std::string& call) {
        return layer_of({{"class_name", "TFOpLambda"},
                         {"config", {{"name", "f"}, {"function", function}}},
                         {"inbound_nodes", json::parse(call)}});
    };
    CHECK(keras2("math.truediv", R"([["in", 0, 0, {"y": 4, "name": null}]])") ==
          json{{"class", "Rescaling"}, {"inputs", 1}, {"scale", 0.25}});
    CHECK(keras2("math.subtract", R"([["in", 0, 0, {"y": [1, 2.5]}]])") ==
          json{{"class", "Rescaling"}, {"inputs", 1}, {"offset", {-1.0, -2.5}}});
    CHECK(keras2("__operators__.add", R"([["in", 0, 0, {"y": ["in", 0, 0]}]])") ==
          json{{"class", "Add"}, {"inputs", 2}});
    CHECK(keras2("nn.relu6", R"([["in", 0, 0, {"name": null}]])") ==
          json{{"class", "Activation"}, {"inputs", 1}, {"activation", "relu6"}});
    CHECK(keras2("image.resize", R"([["in", 0, 0, {"name": null}]])") ==
          json{{"class", "tf.image.resize"}, {"inputs", 1}});
    CHECK_THROWS_WITH(keras2("nn.softmax", R"([["in", 0, 0, {"axis": 1}]])"),
                      "layer \"f\": tf.nn.softmax is called with \"axis\", 1; that is not supported");
    CHECK_THROWS_WITH(keras2("math.truediv", R"([["in", 0, 0, {"y": "x"}]])"),
                      "layer \"f\": it is called with \"x\"; only tensors and numbers are supported");

    const json tensor{{"class_name", "__keras_tensor__"}, {"config", {{"keras_history", {"in", 0, 0}}}}};
    const auto keras3 = [&](const std::string& class_name, const json& arguments) {
        return layer_of(
            {{"module", "keras.src.ops.numpy"},
             {"class_name", class_name},
             {"config", {{"name", "f"}}},
             {"inbound_nodes", json::array({{{"args", arguments}, {"kwargs", json::object()}}})}});
    };
    CHECK(keras3("Multiply", json::array({tensor, 0.5})) ==
          json{{"class", "Rescaling"}, {"inputs", 1}, {"scale", 0.5}});
    CHECK(keras3("Add", json::array({tensor, tensor})) == json{{"class", "Add"}, {"inputs", 2}});
    CHECK_THROWS_WITH(keras3("Subtract", json::array({1.0, tensor})),
                      "layer \"f\": ops.Subtract is called with \"0\", 1.0; that is not supported");
}

TEST_CASE("Values that Keras wraps are read as they are", "[compiler][frontend]") {
    json dense = described("Conv2D", "d");
    dense["config"]["kernel_size"] = {{"class_name", "__tuple__"}, {"items", {3, 3}}};
    dense["config"]["scale"] = {{"class_name", "__numpy__"},
                                {"config", {{"value", 0.5}, {"dtype", "float32"}}}};
    dense["config"]["batch_input_shape"] = {{"class_name", "TensorShape"}, {"items", {nullptr, 7}}};
    const KerasModelConfig model = parse_model_config(
        json{{"class_name", "Sequential"}, {"config", {{"layers", json::array({dense})}}}}.dump());
    const json& config = model.layers[0].config;
    CHECK(config["kernel_size"] == json{3, 3});
    CHECK(config["scale"] == 0.5);
    CHECK(config["batch_input_shape"] == json{nullptr, 7});
}

TEST_CASE("A long chain is ordered", "[compiler][frontend]") {
    json layers{called2("InputLayer", "l0", {})};
    constexpr int length = 3000;
    for (int i = 1; i <= length; ++i) {
        layers.push_back(called2("ReLU", "l" + std::to_string(i), {"l" + std::to_string(i - 1)}));
    }
    const json model =
        functional(layers, json::array({{"l0", 0, 0}}), json::array({{"l" + std::to_string(length), 0, 0}}));
    CHECK(parse_model_config(model.dump()).calls.size() == length + 1);
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
        "model_config: layer 0: its name is \"a\\x0ab\"; it must be printable");
    const std::string name(200, 'a');
    json long_named = described("InputLayer", name);
    long_named["config"]["batch_shape"] = {nullptr, 4};
    CHECK(
        parse_model_config(json{{"class_name", "Sequential"}, {"config", {{"layers", {long_named}}}}}.dump())
            .layers.at(0)
            .name == name);
}
