// The networks of a TFLite file with several: --signature, and the key signature of run files.
#include <tflite_generated.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

using namespace systole;

namespace {

namespace format = frontend::tflite;

/// Two networks: the first, "decode", of 3 numbers, and "encode" of 5.
std::string two_networks(const tests::Folder& folder) {
    tests::TfliteFile file;
    const auto add = [&](const std::string& name, std::int32_t elements) {
        const auto x = file.tensor(name + "_x", format::TensorType::FLOAT32, {1, elements});
        const auto y = file.tensor(name + "_y", format::TensorType::FLOAT32, {1, elements});
        file.node(format::BuiltinOperator::TANH, {x}, {y});
    };
    add("decode", 3);
    file.next_network({0}, {1}, "decode");
    add("encode", 5);
    file.signature("decode", 0, "z", 0, "y", 1);
    file.signature("encode", 1, "x", 0, "z", 1);
    const std::vector<std::uint8_t> bytes = file.finish({0}, {1});
    return folder.file("net.tflite", std::string(bytes.begin(), bytes.end()));
}

}  // namespace

TEST_CASE("The option --signature chooses a network of a TFLite file", "[system][tflite]") {
    const tests::Folder folder;
    const std::string model = two_networks(folder);
    const std::string out = (folder / "out").string();
    const auto run = [&](const std::string& command) {
        return tests::sim(command + " --machine tpu_v1 --quiet --random-input 1 --limit 1 --outputs " + out);
    };
    CHECK(run("run " + model).err ==
          "sim: " + model +
              ": it has 2 networks; --signature must name one of them: \"decode\", \"encode\"\n");
    CHECK(run("run " + model + " --signature encode").exit_code == 0);
    CHECK(tests::text_in(folder / "out/z.npy").find("(1, 5)") != std::string::npos);
    CHECK(run("run " + model + " --signature decode").exit_code == 0);
    CHECK(tests::text_in(folder / "out/y.npy").find("(1, 3)") != std::string::npos);
    const std::string file = folder.file(
        "run.json", R"({"schema": "sim.run/1", "model": ")" + model + R"(", "signature": "encode"})");
    CHECK(run("run " + file).exit_code == 0);
    // Another model drops the key.
    CHECK(run("run " + file + " --model models/mnist_cnn/mnist_cnn.h5").exit_code == 0);
}

TEST_CASE("Wrong signatures end in one line", "[wrong_input][tflite]") {
    const tests::Folder folder;
    const auto message = [&](const std::string& model, const std::string& name) {
        const tests::Outcome outcome =
            tests::sim("run " + model + " --machine tpu_v1 --timing-only --signature " + name);
        CHECK(outcome.exit_code == 2);
        return outcome.err;
    };
    const std::string model = two_networks(folder);
    CHECK(message(model, "code") ==
          "sim: " + model + ": signature is \"code\"; the file has \"decode\", \"encode\"\n");
    CHECK(message("models/mnist_cnn/mnist_cnn.h5", "serve")
              .find("mnist_cnn.h5: signature is \"serve\"; only TFLite files have signatures\n") !=
          std::string::npos);
}
