// ONNX files that are wrong: one line on stderr, exit code 2.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;

TEST_CASE("Wrong ONNX files end in one line", "[wrong_input][onnx]") {
    const tests::Folder folder;
    const auto check = [&](const std::string& bytes, const std::vector<std::string>& words) {
        const std::string path = folder.file("wrong.onnx", bytes);
        const tests::Outcome outcome = tests::sim("compile --model " + path + " --machine tpu_v1 --output " +
                                                  (folder / "out.tpu").string());
        INFO(outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
        CHECK(outcome.err.starts_with("sim: "));
        CHECK(outcome.err.find(path) != std::string::npos);
        for (const std::string& word : words) {
            INFO(word);
            CHECK(outcome.err.find(word) != std::string::npos);
        }
    };
    const auto product = [] {
        tests::OnnxModel model;
        model.input("x", {1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).output("y");
        model.node("MatMul", {"x", "w"}, {"y"});
        return model;
    };
    tests::OnnxModel model = product();
    const std::string right = model.bytes();
    check(right.substr(0, right.size() / 2), {"damaged"});
    model.graph().mutable_node(0)->set_op_type("Einsum");
    check(model.bytes(), {"n_y", "Einsum"});

    model = product();
    model.node("MatMul", {"b", "w"}, {"a"});
    model.node("MatMul", {"a", "w"}, {"b"});
    check(model.bytes(), {"n_a", "depend on its own results"});

    model = product();
    model.graph().mutable_node(0)->set_input(0, "nowhere");
    check(model.bytes(), {"n_y", "\"nowhere\"", "nothing makes"});

    model = product();
    model.graph().mutable_initializer(0)->set_dims(0, std::int64_t{1} << 40);
    check(model.bytes(), {"\"w\"", "1099511627776"});

    model = product();
    auto& tensor = *model.graph().mutable_initializer(0);
    tensor.clear_float_data();
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto& place = *tensor.add_external_data();
    place.set_key("location");
    place.set_value("../../etc/passwd");
    check(model.bytes(), {"\"w\"", "inside the model's folder"});

    model = tests::OnnxModel();
    model.input("x", {1, 1, 4, 4}).floats("w", {1, 1, 2, 2}, {1, 2, 3, 4}).output("y");
    tests::with_attribute(model.node("Conv", {"x", "w"}, {"y"}), "dilations", {0, 0});
    check(model.bytes(), {"n_y", "Conv", "dilations is [0, 0]"});
}

namespace {

using ::onnx::TensorProto;

/// A network that is refused, and the line that says why.
struct WrongNetwork {
    std::string name;
    std::function<void(tests::OnnxModel&)> build;
    std::string message;
};

void add_values(tests::OnnxModel& model) {
    model.input("x", {1, 3}).output("y");
}

}  // namespace

TEST_CASE("Messages about ONNX files name node and operator, or input", "[wrong_input][onnx]") {
    const std::vector<WrongNetwork> networks{
        {"an unknown operator set",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.node("Relu", {"x"}, {"y"});
             model.proto().mutable_opset_import(0)->set_version(99);
         },
         "its operator set is 99; the newest that is known is 25"},
        {"an operator set of another domain",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.node("QLinearAdd", {"x"}, {"y"}).set_domain("com.microsoft");
             model.import_set("com.microsoft", 3);
         },
         R"(its operator set of the domain "com.microsoft" is 3; it must be 1)"},
        {"a function that calls itself",
         [](tests::OnnxModel& model) {
             add_values(model);
             auto& function = *model.proto().add_functions();
             function.set_domain("pkg");
             function.set_name("F");
             function.add_input("a");
             function.add_output("b");
             function.add_opset_import()->set_version(13);
             auto& inner = *function.add_node();
             inner.set_domain("pkg");
             inner.set_op_type("F");
             inner.add_input("a");
             inner.add_output("b");
             model.node("F", {"x"}, {"y"}).set_domain("pkg");
         },
         R"(node "n_y" ("F"): node "b" ("F"): function "pkg.F" calls itself)"},
        {"a convolution of a constant",
         [](tests::OnnxModel& model) {
             model.input("x", {1, 1, 2, 2}).output("y");
             model.floats("a", {1, 1, 2, 2}, {1, 2, 3, 4}).floats("w", {1, 1, 1, 1}, {1});
             model.node("Conv", {"a", "w"}, {"c"});
             model.node("Add", {"x", "c"}, {"y"});
         },
         R"(node "n_c" ("Conv"): its input 0 is a constant; it must be computed from the network's inputs)"},
        {"a product of two constants of integers",
         [](tests::OnnxModel& model) {
             model.input("x", {1, 1}).output("y");
             model.raw<std::uint8_t>("a", ::onnx::TensorProto::UINT8, {1, 1}, {1});
             model.node("MatMulInteger", {"a", "a"}, {"c"});
             model.node("Add", {"x", "c"}, {"y"});
         },
         R"(node "n_c" ("MatMulInteger"): its inputs 0 and 1 are constants; one must be computed from the network's )"
         "inputs"},
        {"an input with an extent of 0",
         [](tests::OnnxModel& model) {
             model.input("x", {1, 0, 3}).output("y");
             model.node("Relu", {"x"}, {"y"});
         },
         R"(input "x": its dimension 1 is 0, which is no size; the input's shape must be given with )"
         "--input-shape"},
        {"an index beyond the end",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.raw<std::int64_t>("i", TensorProto::INT64, {1}, {5});
             tests::with_attribute(model.node("Gather", {"x", "i"}, {"y"}), "axis", std::int64_t{1});
         },
         R"(node "n_y" ("Gather"): an index along axis 1 of 1x3 is 5; it must be from -3 to 2)"},
        {"weights without elements",
         [](tests::OnnxModel& model) {
             model.input("x", {1, 1, 2, 2}).floats("w", {0, 1, 1, 1}, {}).output("y");
             model.node("Conv", {"x", "w"}, {"y"});
         },
         R"(node "n_y" ("Conv"): its input 1 (weights) is absent or has no elements; it must be given)"},
        {"an input without a shape",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
             model.node("Relu", {"x"}, {"y"});
         },
         R"(input "x": its shape is not known; it must be given with --input-shape)"},
        {"int64 and real numbers",
         [](tests::OnnxModel& model) {
             model.input("x", {1, 3}, TensorProto::INT64).floats("a", {3}, {1, 2, 3}).output("y");
             model.node("Add", {"x", "a"}, {"y"});
         },
         R"(node "n_y" ("Add"): its inputs and its results must be of one type, scale and zero point; they are )"
         "int32 and float32 (the file's int64 are int32 here)"},
        {"a convolution of int64",
         [](tests::OnnxModel& model) {
             model.input("x", {1, 1, 2, 2}, TensorProto::INT64).output("y");
             model.raw<std::int64_t>("w", TensorProto::INT64, {1, 1, 1, 1}, {1});
             model.node("Conv", {"x", "w"}, {"y"});
         },
         R"(node "n_y" ("Conv"): convolution works on float32, uint8, int8, int16, not on int32 (the file's )"
         "int64 are int32 here)"},
        {"a tensor without a name",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.floats("a", {1}, {1}).floats("", {1}, {1});
             model.node("Relu", {"x"}, {"y"});
         },
         "its initializer 1 has no name; it must have one"},
        {"an input without a name",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.input("", {1, 3});
             model.node("Relu", {"x"}, {"y"});
         },
         "its input 1 has no name; it must have one"},
        {"an output without a name",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.output("");
             model.node("Relu", {"x"}, {"y"});
         },
         "its output 1 has no name; it must have one"},
        {"weights of a type of 8 bits",
         [](tests::OnnxModel& model) {
             add_values(model);
             model.tensor("f", static_cast<TensorProto::DataType>(20), {1}).set_raw_data("a");
             model.node("Relu", {"x"}, {"y"});
         },
         R"(tensor "f": its type is FLOAT8E5M2FNUZ; it must be of integers of 8 to 64 bits, bool, float16, )"
         "bfloat16, float or double"},
    };
    const tests::Folder folder;
    for (const WrongNetwork& network : networks) {
        INFO(network.name);
        tests::OnnxModel model;
        network.build(model);
        const std::string path = folder.file("wrong.onnx", model.bytes());
        const tests::Outcome outcome =
            tests::sim("run --machine tpu_v1 --random-input 1 --quiet --model " + path);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.err == "sim: " + path + ": " + network.message + "\n");
    }
}
