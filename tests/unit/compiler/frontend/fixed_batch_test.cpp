// Files whose batch is fixed above 1.
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::TensorProto;
using tests::Extents;
using tests::OnnxModel;
using tests::with_attribute;

namespace {

std::vector<float> counted(std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 11) - 4.0F;
    return numbers;
}

/// A network on images [batch, 2, 3, 3]: what `add` adds, behind a maximum of 2x2 windows.
OnnxModel pooled_images(std::int64_t batch, const std::function<void(OnnxModel&)>& add) {
    OnnxModel model;
    model.input("x", {batch, 2, 3, 3}).output("y");
    with_attribute(model.node("MaxPool", {"x"}, {"p"}), "kernel_shape", Extents{2, 2});
    add(model);
    return model;
}

OnnxModel& shape_constant(OnnxModel& model, const std::string& name, const Extents& numbers) {
    return model.raw(name, TensorProto::INT64, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

std::string refusal(const std::function<void(OnnxModel&)>& add) {
    try {
        static_cast<void>(pooled_images(4, add).read());
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

/// Checks that the network of a fixed batch of 4 is the one of an open batch.
void check_as_open(const std::function<void(OnnxModel&)>& add, const std::function<void(OnnxModel&)>& open) {
    const ir::Graph graph = pooled_images(4, add).read();
    const ir::Graph expected = pooled_images(-1, open).read();
    CHECK(graph.batch == 1);
    CHECK(graph.input().shape == ir::Shape{1, 2, 3, 3});
    CHECK(graph.output().shape == expected.output().shape);
    constexpr std::uint32_t images = 4;
    const std::vector<float> input = counted(images * 18U);
    CHECK(reference::execute(graph, input, images) == reference::execute(expected, input, images));
}
void check_as_open(const std::function<void(OnnxModel&)>& add) {
    check_as_open(add, add);
}

}  // namespace

TEST_CASE("A fixed batch of images is as many inferences", "[compiler][frontend]") {
    SECTION("activations, a transposition and a sum with a constant") {
        check_as_open([](OnnxModel& model) {
            model.floats("c", {2, 1, 1}, {10, 20});
            model.node("Relu", {"p"}, {"r"});
            model.node("Add", {"r", "c"}, {"s"});
            with_attribute(model.node("Transpose", {"s"}, {"y"}), "perm", {0, 2, 3, 1});
        });
    }
    SECTION("a reshape with the batch as a number, then a product") {
        const auto add = [](const Extents& shape) {
            return [shape](OnnxModel& model) {
                shape_constant(model, "shape", shape).floats("w", {8, 2}, counted(16));
                model.node("Reshape", {"p", "shape"}, {"f"});
                model.node("MatMul", {"f", "w"}, {"y"});
            };
        };
        for (const Extents& shape : {Extents{4, -1}, {4, 8}, {-1, 8}, {0, 8}, {0, -1}}) {
            check_as_open(add(shape), add({0, -1}));
        }
    }
    SECTION("products of several rows of each image") {
        check_as_open([](OnnxModel& model) {
            model.floats("w", {2, 3}, counted(6));
            model.node("MatMul", {"p", "w"}, {"y"});
        });
    }
    SECTION("a shape that is computed from the input's") {
        check_as_open([](OnnxModel& model) {
            shape_constant(model, "first", {0});
            shape_constant(model, "rest", {-1});
            model.node("Shape", {"x"}, {"s"});
            model.node("Gather", {"s", "first"}, {"n"});
            with_attribute(model.node("Concat", {"n", "rest"}, {"shape"}), "axis", std::int64_t{0});
            model.node("Reshape", {"p", "shape"}, {"y"});
        });
    }
    SECTION("reductions, slices and concatenations of other axes") {
        check_as_open([](OnnxModel& model) {
            with_attribute(model.node("ReduceMean", {"p"}, {"m"}), "axes", {2, 3});
            with_attribute(model.node("Concat", {"p", "m2"}, {"c"}), "axis", std::int64_t{1});
            shape_constant(model, "starts", {1});
            shape_constant(model, "ends", {2});
            shape_constant(model, "axes", {1});
            model.node("Slice", {"c", "starts", "ends", "axes"}, {"y"});
            model.node("Add", {"p", "m"}, {"m2"});
        });
    }
}

TEST_CASE("Nodes that mix the images of a fixed batch are refused", "[compiler][frontend]") {
    const auto check = [](const std::string& node, const std::function<void(OnnxModel&)>& add) {
        const std::string message = refusal(add);
        INFO(message);
        CHECK(message.find('\n') == std::string::npos);
        CHECK(message.find("its batch is fixed at 4") == 0);
        CHECK(message.find("node \"" + node + "\"") != std::string::npos);
        CHECK(message.find("not supported") != std::string::npos);
    };
    check("n_y", [](OnnxModel& model) {
        with_attribute(model.node("ReduceMean", {"p"}, {"y"}), "axes", {0, 2});
    });
    check("n_y", [](OnnxModel& model) {
        with_attribute(model.node("Softmax", {"p"}, {"y"}), "axis", std::int64_t{0});
    });
    check("n_y", [](OnnxModel& model) {
        with_attribute(model.node("Transpose", {"p"}, {"y"}), "perm", {1, 0, 2, 3});
    });
    check("n_y", [](OnnxModel& model) {
        with_attribute(model.node("Concat", {"p", "p"}, {"y"}), "axis", std::int64_t{0});
    });
    // The first extent is not the batch, even if it is 4.
    check("n_y", [](OnnxModel& model) {
        shape_constant(model, "shape", {2, -1});
        model.node("Reshape", {"p", "shape"}, {"y"});
    });
    check("n_y", [](OnnxModel& model) {
        shape_constant(model, "shape", {1, 4, 8});
        model.node("Reshape", {"p", "shape"}, {"y"});
    });
    check("n_t", [](OnnxModel& model) {
        with_attribute(model.node("Transpose", {"r"}, {"t"}), "perm", {1, 0});
        model.node("Reshape", {"p", "rows"}, {"r"});
        shape_constant(model, "rows", {4, 8});
        model.node("Relu", {"t"}, {"y"});
    });
    // Another constant for each image.
    check("n_y", [](OnnxModel& model) {
        model.floats("c", {4, 1, 1, 1}, {1, 2, 3, 4});
        model.node("Add", {"p", "c"}, {"y"});
    });
    check("n_y", [](OnnxModel& model) {
        shape_constant(model, "starts", {1});
        shape_constant(model, "ends", {4});
        shape_constant(model, "axes", {0});
        model.node("Slice", {"p", "starts", "ends", "axes"}, {"y"});
    });
    check("n_y", [](OnnxModel& model) {
        model.floats("scale", {1}, {0.5F});
        model.node("DynamicQuantizeLinear", {"p"}, {"q", "s", "z"});
        with_attribute(model.node("Cast", {"q"}, {"y"}), "to", std::int64_t{TensorProto::FLOAT});
        model.graph().mutable_node(1)->set_name("n_y");
    });
}

TEST_CASE("A tensor with a first extent above 1 stays whole where no node works on images",
          "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {4, 3}).output("y");
    with_attribute(model.node("Softmax", {"x"}, {"y"}), "axis", std::int64_t{0});
    CHECK(model.read().input().shape == ir::Shape{4, 3});
}

TEST_CASE("Inputs of several batches are no batch", "[compiler][frontend]") {
    OnnxModel model = pooled_images(4, [](OnnxModel& each) {
        each.input("b", {2, 3});
        each.node("Relu", {"p"}, {"y"});
    });
    CHECK_THROWS_WITH(model.read(),
                      Catch::Contains("its input is 4x2x3x3") && Catch::Contains("not supported"));
}
