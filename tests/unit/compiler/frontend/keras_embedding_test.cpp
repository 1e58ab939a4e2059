// Embeddings of Keras networks: their inputs of integers, and masks that later layers would use.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/unit/compiler/frontend/keras_graph.h"

using namespace systole;
using nlohmann::json;
using tests::layer;

namespace {

json embedding(bool mask_zero = false) {
    return layer("Embedding", "e", {{"input_dim", 4}, {"output_dim", 3}, {"mask_zero", mask_zero}});
}

std::string refusal_behind(const std::vector<json>& layers) {
    std::vector<json> all{embedding(true)};
    all.insert(all.end(), layers.begin(), layers.end());
    try {
        tests::sequential({nullptr, 5}, all);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("An input that an Embedding reads is one of integers", "[compiler][frontend]") {
    const ir::Graph graph =
        tests::sequential({nullptr, 2}, {embedding(), layer("Flatten", "f", json::object())});
    REQUIRE(graph.inputs.size() == 1);
    CHECK(graph.input().type == DataType::Int32);
    CHECK(graph.nodes.front().is("gather"));
    const std::vector<float> indices{3, 0};
    // Weights count from 1.
    CHECK(reference::execute(graph, indices, 1) == std::vector<float>{10, 11, 12, 1, 2, 3});
}

TEST_CASE("Real numbers that other layers read too are cut by an Embedding", "[compiler][frontend]") {
    const auto called = [](json one, const std::vector<std::string>& inputs) {
        one["name"] = one["config"]["name"];
        json tensors = json::array();
        for (const std::string& input : inputs) tensors.push_back({input, 0, 0, json::object()});
        one["inbound_nodes"] = inputs.empty() ? json::array() : json::array({tensors});
        return one;
    };
    const json layers{called(layer("InputLayer", "in", {{"batch_shape", {nullptr, 1}}}), {}),
                      called(embedding(), {"in"}), called(layer("Flatten", "f", json::object()), {"e"}),
                      called(layer("Concatenate", "both", json::object()), {"f", "in"})};
    const json model{{"class_name", "Functional"},
                     {"config",
                      {{"name", "m"},
                       {"layers", layers},
                       {"input_layers", json::array({json{"in", 0, 0}})},
                       {"output_layers", json::array({json{"both", 0, 0}})}}}};
    const ir::Graph graph =
        frontend::build_keras_graph(model.dump(), tests::CountingWeights(), operators::registry());
    CHECK(graph.input().type == DataType::Float32);
    const std::vector<float> numbers{1.75F};
    CHECK(reference::execute(graph, numbers, 1) == std::vector<float>{4, 5, 6, 1.75F});
}

TEST_CASE("An embedding that masks steps is refused where a later layer would leave them out",
          "[compiler][frontend]") {
    const json dense = layer("Dense", "d", {{"units", 2}});
    const json pool = layer("GlobalAveragePooling1D", "p", json::object());
    const std::string refusal =
        "it would leave out the steps that layer \"e\" masks; masks are not supported";
    CHECK(refusal_behind({}) == "none");
    CHECK(refusal_behind({dense}) == "none");
    CHECK(refusal_behind({layer("Flatten", "f", json::object()), dense}) == "none");
    CHECK(refusal_behind({pool}) == "layer \"p\": " + refusal);
    CHECK(refusal_behind({dense, layer("Dropout", "o", {{"rate", 0.5}}), pool}) == "layer \"p\": " + refusal);
    CHECK(refusal_behind({layer("Softmax", "s", json::object())}) == "layer \"s\": " + refusal);
    // The mask ends at a layer that does not know masks.
    CHECK(refusal_behind({layer("Cropping1D", "c", {{"cropping", {1, 1}}}), pool}) == "none");
}
