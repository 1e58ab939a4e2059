// Predictions are the classes of a vector of two or more numbers: an image has none, wherever it is computed
// and however it lies in memory.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/sim/view/figures/cases.h"

using namespace systole;

namespace {

std::vector<float> some_weights(std::size_t count) {
    std::vector<float> weights(count);
    for (std::size_t i = 0; i < count; ++i) weights[i] = 0.01F * static_cast<float>(i * i % 11) - 0.05F;
    return weights;
}

/// Six numbers, then ten, in another shape.
std::string dense_as(const tests::Extents& shape) {
    tests::OnnxModel model;
    model.input("x", {1, 6}).output("y");
    model.floats("w", {6, 10}, some_weights(60));
    model.raw("shape", ::onnx::TensorProto::INT64, {static_cast<std::int64_t>(shape.size())}, shape);
    model.node("MatMul", {"x", "w"}, {"a"});
    model.node("Reshape", {"a", "shape"}, {"y"});
    return model.bytes();
}

/// An image of the chip or the host, as it is or as a vector.
std::string image(const std::string& op, bool is_vector) {
    tests::OnnxModel model;
    model.input("x", {1, 2, 3, 4}).output("y");
    const bool is_transposed = op == "ConvTranspose";
    model.floats("w", is_transposed ? tests::Extents{2, 5, 2, 2} : tests::Extents{5, 2, 2, 2},
                 some_weights(40));
    model.node(op, {"x", "w"}, {is_vector ? "a" : "y"});
    if (is_vector) model.node("Flatten", {"a"}, {"y"});
    return model.bytes();
}

std::string two_vectors() {
    tests::OnnxModel model;
    model.input("x", {1, 6}).output("y").output("z");
    model.floats("w", {6, 10}, some_weights(60)).floats("v", {6, 4}, some_weights(24));
    model.node("MatMul", {"x", "w"}, {"y"});
    model.node("MatMul", {"x", "v"}, {"z"});
    return model.bytes();
}

struct Output {
    std::string what;
    std::string onnx;
    bool has_classes = false;
};

}  // namespace

TEST_CASE("Only an output that is a vector has predictions", "[figures]") {
    const std::vector<Output> outputs{
        {"a vector", dense_as({1, 10}), true},
        {"lines of five", dense_as({1, 2, 5}), false},
        {"two channels", dense_as({1, 2, 5, 1}), false},
        {"five axes", dense_as({1, 5, 1, 2, 1}), false},
        {"an image of the chip", image("Conv", false), false},
        {"an image of the chip as a vector", image("Conv", true), true},
        {"an image of the host", image("ConvTranspose", false), false},
        {"an image of the host as a vector", image("ConvTranspose", true), true},
        {"two vectors", two_vectors(), false},
    };
    for (const Output& output : outputs) {
        CAPTURE(output.what);
        constexpr std::size_t inferences = 3;
        const figures::Finished finished = figures::finish(
            {.name = output.what,
             .machine = figures::cells_machine(),
             .onnx = output.onnx,
             .run = {{"batch", 2}, {"limit", inferences}, {"random_input", 7}, {"float_reference", true}}});
        const figures::Json report = finished.facts().report();
        CHECK(report.at("predictions").size() == (output.has_classes ? inferences : 0));
        CHECK(report.at("float_reference").at("agreements").is_null() == !output.has_classes);
        CHECK(report.at("accuracy").is_null());
    }
}
