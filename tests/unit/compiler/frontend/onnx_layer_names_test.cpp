// The names of the layers of ONNX files.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/layer_names.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using frontend::onnx_file::scope_of_name;
using tests::OnnxModel;

namespace {

using Texts = std::vector<std::string>;

/// The names of the nodes that are left of a model, each once, in their order.
Texts layers_of(OnnxModel& model) {
    Texts names;
    for (const ir::Node& node : model.read().nodes) {
        if (std::ranges::find(names, node.name) == names.end()) names.push_back(node.name);
    }
    return names;
}

/// A product with a bias behind it, as files write linear layers on sequences.
OnnxModel linear(const std::string& weight, const std::string& bias) {
    OnnxModel model;
    model.input("x", {1, 2, 2}).floats(weight, {2, 2}, {1, 2, 3, 4}).floats(bias, {2}, {1, 2});
    model.node("MatMul", {"x", weight}, {"product"});
    model.node("Add", {bias, "product"}, {"y"});
    model.output("y");
    return model;
}

}  // namespace

TEST_CASE("The scope of a name is what stands before its last part, with a letter in it",
          "[frontend][onnx]") {
    CHECK(scope_of_name("layer.0.query.weight") == "layer.0.query");
    CHECK(scope_of_name("/layer.0/query/MatMul") == "/layer.0/query");
    CHECK(scope_of_name("/MatMul").empty());
    CHECK(scope_of_name("MatMul_12").empty());
    CHECK(scope_of_name("0.weight").empty());
    CHECK(scope_of_name("onnx::MatMul_123").empty());
    CHECK(scope_of_name("").empty());
}

TEST_CASE("A node with a name that says nothing has the scope of its weights", "[frontend][onnx]") {
    OnnxModel model = linear("layer.0.query.weight", "layer.0.query.bias");
    // The second reader of a scope keeps its own name behind it.
    CHECK(layers_of(model) == Texts{"layer.0.query", "layer.0.query/n_y"});
    model = linear("layer.0.query.weight", "layer.0.query.bias");
    model.graph().mutable_node(0)->clear_name();
    model.graph().mutable_node(1)->clear_name();
    CHECK(layers_of(model) == Texts{"layer.0.query", "layer.0.query/y"});
}

TEST_CASE("A product whose weights have no scope has that of the bias behind it", "[frontend][onnx]") {
    OnnxModel model = linear("onnx::MatMul_12", "layer.0.query.bias");
    CHECK(layers_of(model) == Texts{"layer.0.query", "layer.0.query/n_y"});
    OnnxModel nameless = linear("onnx::MatMul_12", "bias");
    CHECK(layers_of(nameless) == Texts{"n_product", "n_y"});
}

TEST_CASE("A node whose own name has a scope keeps it", "[frontend][onnx]") {
    OnnxModel model = linear("layer.0.query.weight", "layer.0.query.bias");
    model.graph().mutable_node(0)->set_name("/layer.0/query/MatMul");
    model.graph().mutable_node(1)->set_name("/layer.0/query/Add");
    CHECK(layers_of(model) == Texts{"/layer.0/query/MatMul", "/layer.0/query/Add"});
}

TEST_CASE("Weights that go through other nodes first keep the scope of their name", "[frontend][onnx]") {
    OnnxModel model;
    model.input("x", {1, 2}).floats("layer.0.query.weight", {2, 2}, {1, 2, 3, 4});
    model.node("Transpose", {"layer.0.query.weight"}, {"turned"});
    model.node("MatMul", {"x", "turned"}, {"y"});
    model.output("y");
    const Texts layers = layers_of(model);
    CHECK(std::ranges::find(layers, "layer.0.query") != layers.end());
}

TEST_CASE("A normalization written as nodes is named by its last one", "[frontend][onnx]") {
    OnnxModel model;
    model.input("x", {1, 2}).floats("norm.one.weight", {2}, {1, 2}).floats("norm.one.bias", {2}, {3, 4});
    model.node("Mul", {"x", "norm.one.weight"}, {"scaled"});
    model.node("Add", {"scaled", "norm.one.bias"}, {"y"});
    model.output("y");
    CHECK(layers_of(model) == Texts{"norm.one/n_scaled", "norm.one"});
}

TEST_CASE("Shapes, scales and activations name no layer, and names stay different", "[frontend][onnx]") {
    OnnxModel model;
    model.input("x", {1, 4}).floats("block.0.weight", {2, 2}, {1, 2, 3, 4});
    model.raw<std::int64_t>("block.0.shape", ::onnx::TensorProto::INT64, {2}, {2, 2});
    model.node("Reshape", {"x", "block.0.shape"}, {"two"});
    model.node("MatMul", {"two", "block.0.weight"}, {"first"});
    model.node("MatMul", {"first", "block.0.weight"}, {"second"});  // a layer that is called twice
    model.node("Relu", {"second"}, {"block.0"});                    // a result with the name of the scope
    model.graph().mutable_node(3)->clear_name();
    model.output("block.0");
    const Texts layers = layers_of(model);
    CHECK(layers == Texts{"n_two", "block.0/n_first", "block.0/n_second", "block.0"});
}
