// Inputs whose sizes a file leaves open: --input-shape, and the key input_shape of run files.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/input/formats.h"
#include "tests/support/files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;

namespace {

/// A convolution of an image of any size.
std::string convolution_of_any_size(const tests::Folder& folder) {
    tests::OnnxModel model;
    model.input("x", {-1, 1, -1, -1}).floats("w", {1, 1, 2, 2}, {1, 2, 3, 4}).output("y");
    model.node("Conv", {"x", "w"}, {"y"});
    return folder.file("any_size.onnx", model.bytes());
}

/// The sum of an image of any size and one of a fixed size.
std::string sum_with_any_size(const tests::Folder& folder) {
    tests::OnnxModel model;
    model.input("a=b", {1, 1, -1, 4}).input("c", {1, 1, 3, 4}).output("y");
    model.node("Add", {"a=b", "c"}, {"y"});
    return folder.file("sum.onnx", model.bytes());
}

}  // namespace

TEST_CASE("Sizes that an ONNX file leaves open are given with --input-shape", "[system][onnx]") {
    const tests::Folder folder;
    const std::string model = convolution_of_any_size(folder);
    const std::string run = "run " + model +
                            " --machine tpu_v1 --quiet --random-input 1 --limit 1 --outputs " +
                            (folder / "out").string() + " --input-shape ";
    const auto shape_of_output = [&](const std::string& shape) {
        const tests::Outcome outcome = tests::sim(run + shape);
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        const std::string text = tests::text_in(folder / "out/y.npy");
        const std::vector<std::uint8_t> bytes(text.begin(), text.end());
        input::ByteStream stream(bytes, "y.npy");
        return input::read_npy_array(stream).shape;
    };
    CHECK(shape_of_output("1,1,4,6") == std::vector<std::uint32_t>{1, 1, 3, 5});
    CHECK(shape_of_output("x=1,1,7,3") == std::vector<std::uint32_t>{1, 1, 6, 2});

    tests::OnnxModel shapeless;
    shapeless.input("x", {1, 4}).output("y");
    shapeless.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    shapeless.node("Relu", {"x"}, {"y"});
    const std::string relu = "run " + folder.file("shapeless.onnx", shapeless.bytes()) +
                             " --machine tpu_v1 --quiet --random-input 1 --input-shape 1,5";
    CHECK(tests::sim(relu).exit_code == 0);

    const std::string sum = "run " + sum_with_any_size(folder) + " --machine tpu_v1 --quiet --random-input 1";
    CHECK(tests::sim(sum + " --input-shape a=b=1,1,3,4").exit_code == 0);
    CHECK(tests::sim(sum + " --input-shape a=b=1,1,3,4 --input-shape c=1,1,3,4").exit_code == 0);
}

TEST_CASE("A run file has shapes of inputs, which another model drops", "[system][onnx]") {
    const tests::Folder folder;
    const std::string model = convolution_of_any_size(folder);
    const std::string file =
        folder.file("run.json", R"({"schema": "sim.run/1", "machine": "tpu_v1", "model": ")" + model +
                                    R"(", "random_input": 1, "input_shape": ["1,1,4,4"]})");
    CHECK(tests::sim("run " + file + " --quiet").exit_code == 0);
    CHECK(tests::sim("run " + file + " --quiet --model models/mnist_cnn/mnist_cnn.h5").exit_code == 0);
}

TEST_CASE("Wrong shapes of inputs end in one line", "[wrong_input][onnx]") {
    const tests::Folder folder;
    const std::string model = convolution_of_any_size(folder);
    const auto message = [&](const std::string& file, const std::string& options) {
        const tests::Outcome outcome =
            tests::sim("run " + file + " --machine tpu_v1 --timing-only" + options);
        CHECK(outcome.exit_code == 2);
        return outcome.err;
    };
    CHECK(message(model, "") == "sim: " + model +
                                    ": input \"x\": its dimension 2 is nameless, without a size; the input's "
                                    "shape must be given with --input-shape\n");
    for (const std::string wrong : {"1,,4", "=1,1,4,4", "x=", "1,1,4,4,", "1,1,4,4294967296", "1,1,1,1,1,4,4",
                                    "x=1,1,4,4 --input-shape x=1,1,4,4"}) {
        INFO(wrong);
        CHECK(message(model, " --input-shape " + wrong).find("input_shape is ") != std::string::npos);
    }
    CHECK(message(model, " --input-shape 1,2,4,4") ==
          "sim: " + model + ": input \"x\": its dimension 1 is given as 2; in the file it is 1\n");
    CHECK(message(model, " --input-shape 1,1,0,4") ==
          "sim: " + model + ": its inputs have no elements; at least one must have some\n");
    CHECK(message(model, " --input-shape z=1,1,4,4").find("\"z\"") != std::string::npos);
    CHECK(message("models/mnist_cnn/mnist_cnn.h5", " --input-shape 1,28,28,1")
              .find("mnist_cnn.h5: input \"image_input\": its shape is given as 1x28x28x1; in the file it is "
                    "?x784\n") != std::string::npos);
    CHECK(
        message("--model models/isca17/mlp0.json", " --input-shape 1,2000")
            .find("mlp0.json: the shape of its input is given; only Keras, ONNX and TFLite files leave sizes "
                  "open\n") != std::string::npos);
    CHECK(message(sum_with_any_size(folder), " --input-shape a=b=1,1,3,4 --input-shape 1,1,3,4")
              .find("the shape needs the name of one, as in --input-shape a=b=...\n") != std::string::npos);
}
