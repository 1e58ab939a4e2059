// Inputs of ONNX files without elements: caches before the first step of a decoder.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using tests::Extents;
using tests::OnnxModel;

namespace {

/// A cache of so many tokens, `past`, beside one new token.
OnnxModel decoder() {
    OnnxModel model;
    model.input("past", {1, 2, -1, 4}).input("new", {1, 2, 1, 4});
    return model;
}

void concat(OnnxModel& model, const std::vector<std::string>& inputs, const std::string& result, int axis) {
    auto& node = model.node("Concat", inputs, {result});
    tests::attribute(node, "axis", ::onnx::AttributeProto::INT).set_i(axis);
}

ir::Graph read(OnnxModel& model, const ir::Shape& past) {
    return frontend::build_onnx_graph(model.bytes(), {}, operators::registry(), {.given = {{"past", past}}});
}

std::string refusal(OnnxModel& model, const ir::Shape& past) {
    try {
        static_cast<void>(read(model, past));
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("What is appended to nothing is the whole of it", "[compiler][frontend][onnx]") {
    for (const bool is_behind : {true, false}) {
        OnnxModel model = decoder();
        std::vector<std::string> inputs{"past", "new"};
        if (!is_behind) std::swap(inputs[0], inputs[1]);
        concat(model, inputs, "present", -2);
        model.node("Neg", {"present"}, {"y"});
        model.output("y").output("present");
        const ir::Graph graph = read(model, {1, 2, 0, 4});
        CHECK(ir::to_text(graph) ==
              "graph \"g\"\ninputs %0\noutputs %1, %2\n%0 float32 1x2x1x4 \"new\"\n%1 float32 1x2x1x4 \"y\"\n"
              "%2 float32 1x2x1x4 \"present\"\n%1 = negative(%0) \"n_y\"\n%2 = identity(%0) \"present\"\n");
        CHECK(read(model, {1, 2, 3, 4}).inputs.size() == 2);
    }
}

TEST_CASE("The shape of an input without elements is known", "[compiler][frontend][onnx]") {
    OnnxModel model = decoder();
    model.node("Shape", {"past"}, {"shape"});
    model.raw<std::int64_t>("two", ::onnx::TensorProto::INT64, {1}, {2});
    model.node("Gather", {"shape", "two"}, {"length"});
    auto& cast = model.node("Cast", {"length"}, {"position"});
    tests::attribute(cast, "to", ::onnx::AttributeProto::INT).set_i(::onnx::TensorProto::FLOAT);
    concat(model, {"past", "new"}, "present", 2);
    model.node("Add", {"present", "position"}, {"y"});
    model.output("y");
    for (const std::uint32_t tokens : {0U, 5U}) {
        const ir::Graph graph = read(model, {1, 2, tokens, 4});
        const ir::Node& add = graph.nodes.back();
        REQUIRE(add.is("add"));
        const ir::Value& position = graph.values[add.inputs[1]];
        REQUIRE(position.constant);
        CHECK(position.constant->values<float>()[0] == static_cast<float>(tokens));
    }
}

TEST_CASE("An input without elements may only be appended to", "[compiler][frontend][onnx]") {
    const auto wrong = [](const auto& add_node) {
        OnnxModel model = decoder();
        concat(model, {"past", "new"}, "present", 2);
        add_node(model);
        return refusal(model.output("present").output("y"), {1, 2, 0, 4});
    };
    CHECK(wrong([](OnnxModel& model) { model.node("Neg", {"past"}, {"y"}); }) ==
          "node \"n_y\" (\"Neg\"): its result is 1x2x0x4; each extent must be at least 1");
    CHECK(wrong([](OnnxModel& model) { model.node("Transpose", {"past"}, {"y"}); }) ==
          "node \"n_y\" (\"Transpose\"): its result is 4x0x2x1; each extent must be at least 1");
    // The sum of nothing would have elements.
    CHECK(
        wrong([](OnnxModel& model) { model.node("ReduceSum", {"past"}, {"y"}); }) ==
        "layer \"n_y\" reads \"past\", whose shape is 1x2x0x4; without elements, it may only be appended to");
    // Nothing to append.
    CHECK_THAT(wrong([](OnnxModel& model) {
                   concat(model, {"past", "past"}, "y", 2);
               }),
               Catch::Contains("it has no inputs with elements; it must have at least 1"));
    OnnxModel same = decoder();
    concat(same, {"past", "new"}, "present", 2);
    CHECK(refusal(same.output("present").output("past"), {1, 2, 0, 4}) ==
          "output \"past\" is 1x2x0x4; it must have elements");
    OnnxModel alone;
    alone.input("past", {1, 2, -1, 4});
    concat(alone, {"past", "past"}, "present", 2);
    CHECK(refusal(alone.output("present"), {1, 2, 0, 4}) ==
          "its inputs have no elements; at least one must have some");
    // What is appended is as long along all other axes.
    for (const int axis : {1, 3}) {
        OnnxModel model = decoder();
        concat(model, {"past", "new"}, "present", axis);
        CHECK_THAT(refusal(model.output("present"), {1, 2, 0, 4}),
                   Catch::EndsWith(
                       "its inputs are 1x2x0x4 and 1x2x1x4; they must be alike along all axes but axis " +
                       std::to_string(axis)));
    }
}

TEST_CASE("The first size of an input is at least 1, and all of them have a number of elements",
          "[compiler][frontend][onnx]") {
    OnnxModel model;
    model.input("past", {-1, 3}).input("new", {1, 3});
    concat(model, {"past", "new"}, "present", 0);
    model.output("present");
    CHECK(refusal(model, {0, 3}) ==
          "input \"past\": its shape is given as 0x3; its first dimension must be at least 1");
    OnnxModel vector;
    vector.input("past", {-1}).input("new", {3});
    concat(vector, {"past", "new"}, "present", 0);
    CHECK(refusal(vector.output("present"), {0}) ==
          "input \"past\": its shape is given as 0; its first dimension must be at least 1");
    OnnxModel large;
    large.input("past", {1, -1, -1, -1}).input("new", {1, 2, 2, 2});
    concat(large, {"past", "new"}, "present", 1);
    CHECK_THAT(refusal(large.output("present"), {1, 4000000000, 4000000000, 4000000000}),
               Catch::Contains("4000000000x4000000000x4000000000; a tensor has at most 268435456 elements"));
}
