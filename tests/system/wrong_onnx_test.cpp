// ONNX files that are wrong: one line on stderr, exit code 2.
#include <algorithm>
#include <catch2/catch.hpp>
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
