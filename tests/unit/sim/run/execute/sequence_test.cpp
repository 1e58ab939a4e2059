// Which first inputs of networks are sequences.
#include "sim/run/execute/sequence.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::TensorProto;
using run::SequenceFacts;
using tests::OnnxModel;

namespace {

std::optional<SequenceFacts> sequence_of(OnnxModel& model) {
    return run::sequence_of(model.read());
}

SequenceFacts tokens(std::uint64_t length) {
    return {.length = length, .unit = "token"};
}
SequenceFacts steps(std::uint64_t length) {
    return {.length = length, .unit = "step"};
}

std::vector<float> numbers(std::size_t count) {
    return std::vector<float>(count, 0.5F);
}

/// Looks up `indices` of 1 x 5 in a table.
OnnxModel embedding(const tests::Extents& shape = {1, 5}) {
    OnnxModel model;
    model.input("indices", shape, TensorProto::INT64).floats("table", {7, 3}, numbers(21));
    model.node("Gather", {"table", "indices"}, {"rows"});
    model.node("Relu", {"rows"}, {"y"});
    model.output("y");
    return model;
}

/// A recurrence of hidden size 2 over an input of this shape, [steps][batch][2].
OnnxModel recurrence(const std::string& op, std::int64_t gates, const tests::Extents& shape) {
    OnnxModel model(14);
    const auto size = static_cast<std::size_t>(gates * 4);
    model.input("x", shape)
        .floats("w", {1, 2 * gates, 2}, numbers(size))
        .floats("r", {1, 2 * gates, 2}, numbers(size));
    ::onnx::NodeProto& node = model.node(op, {"x", "w", "r"}, {"y"});
    tests::attribute(node, "hidden_size", ::onnx::AttributeProto::INT).set_i(2);
    model.output("y");
    return model;
}

}  // namespace

TEST_CASE("Indices that look up rows of a table are tokens", "[run][sequence]") {
    OnnxModel model = embedding();
    CHECK(sequence_of(model) == tokens(5));
    // One index is a sequence of one.
    model = embedding({1, 1});
    CHECK(sequence_of(model) == tokens(1));
}

TEST_CASE("Indices of another form, or of values that are no weights, are no tokens", "[run][sequence]") {
    OnnxModel model = embedding({1, 2, 5});
    CHECK(sequence_of(model) == std::nullopt);
    // The first input is what is looked up, not where.
    OnnxModel values;
    values.input("x", {1, 5}).raw<std::int64_t>("places", TensorProto::INT64, {2}, {0, 3});
    auto& gather = values.node("Gather", {"x", "places"}, {"y"});
    tests::attribute(gather, "axis", ::onnx::AttributeProto::INT).set_i(1);
    values.output("y");
    CHECK(sequence_of(values) == std::nullopt);
}

TEST_CASE("An input that a recurrence takes one after the other has steps", "[run][sequence]") {
    for (const auto& [op, gates] :
         std::vector<std::pair<std::string, std::int64_t>>{{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}}) {
        INFO(op);
        OnnxModel model = recurrence(op, gates, {6, 1, 2});
        CHECK(sequence_of(model) == steps(6));
    }
}

TEST_CASE("The shape of an input alone makes no sequence", "[run][sequence]") {
    // [1, 6, 2] and [1, 6] go through products; an image through a convolution.
    for (const tests::Extents& shape : {tests::Extents{1, 6, 2}, tests::Extents{1, 2}}) {
        OnnxModel model;
        model.input("x", shape).floats("w", {2, 2}, numbers(4));
        model.node("MatMul", {"x", "w"}, {"y"});
        model.output("y");
        CHECK(sequence_of(model) == std::nullopt);
    }
    OnnxModel image;
    image.input("x", {1, 1, 4, 4}).floats("w", {1, 1, 3, 3}, numbers(9));
    image.node("Conv", {"x", "w"}, {"y"});
    image.output("y");
    CHECK(sequence_of(image) == std::nullopt);
}

TEST_CASE("An input of which only some steps are read one by one has no steps", "[run][sequence]") {
    OnnxModel model;
    model.input("x", {1, 3, 2}).raw<std::int64_t>("zero", TensorProto::INT64, {1}, {0});
    model.raw<std::int64_t>("one", TensorProto::INT64, {1}, {1})
        .raw<std::int64_t>("two", TensorProto::INT64, {1}, {2});
    model.node("Slice", {"x", "zero", "one", "one"}, {"a"});
    model.node("Slice", {"x", "one", "two", "one"}, {"b"});
    model.node("Add", {"a", "b"}, {"y"});
    model.output("y");
    CHECK(sequence_of(model) == std::nullopt);
}
