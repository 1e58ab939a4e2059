// The release of TensorFlow that a TFLite file was made for: --tflite-runtime, and the key tflite_runtime.
#include <tflite_generated.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

using namespace systole;

namespace {

namespace format = frontend::tflite;

/// One unit, which multiplies an int8 number by 3 / 7.
std::string three_sevenths(const tests::Folder& folder) {
    tests::TfliteFile file;
    const tests::TensorScale one{{1.0F}, {0}};
    const auto x = file.tensor("x", format::TensorType::INT8, {1, 1}, one);
    const auto w =
        file.constant<std::int8_t>("w", format::TensorType::INT8, {1, 1}, {3}, {{1.0F / 7.0F}, {0}});
    const auto y = file.tensor("y", format::TensorType::INT8, {1, 1}, one);
    file.node(format::BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
              format::BuiltinOptions::FullyConnectedOptions,
              format::CreateFullyConnectedOptions(file.builder()));
    const std::vector<std::uint8_t> bytes = file.finish({x}, {y});
    return folder.file("net.tflite", std::string(bytes.begin(), bytes.end()));
}

}  // namespace

TEST_CASE("The option --tflite-runtime chooses the bits of a release", "[system][tflite]") {
    const tests::Folder folder;
    const std::string model = three_sevenths(folder);
    const std::string input = folder.file("x.npy", tests::npy("|i1", "(1, 1)", std::string(1, 1)));
    const auto answer = [&](const std::string& command) {
        const tests::Outcome outcome = tests::sim(command + " --machine tpu_v1 --quiet --input " + input +
                                                  " --outputs " + (folder / "out").string());
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return static_cast<int>(tests::text_in(folder / "out/y.raw.npy").back());
    };
    // 3 / 7 becomes 0 at once, and 2 / 4 and then 1 in two steps.
    CHECK(answer("run " + model) == 0);
    CHECK(answer("run " + model + " --tflite-runtime newest") == 0);
    CHECK(answer("run " + model + " --tflite-runtime 2.21") == 0);
    CHECK(answer("run " + model + " --tflite-runtime 2.19") == 1);
    const std::string file = folder.file(
        "run.json", R"({"schema": "sim.run/1", "model": ")" + model + R"(", "tflite_runtime": "2.19"})");
    CHECK(answer("run " + file) == 1);
    CHECK(answer("run " + file + " --tflite-runtime 2.21") == 0);
    CHECK(answer("run " + file + " --model " + model) == 0);  // another model drops the key
}

TEST_CASE("Graphs and programs keep the bits of the release they were made for", "[system][tflite]") {
    const tests::Folder folder;
    const std::string model = three_sevenths(folder);
    for (const auto& [release, has_rule] : {std::pair{"2.19", false}, std::pair{"2.21", true}}) {
        const tests::Outcome dumped =
            tests::sim("compile " + model + " --machine tpu_v1 --dump-after all " + "--tflite-runtime " +
                       release + " -o " + (folder / "net.tpu").string());
        INFO(dumped.err);
        REQUIRE(dumped.exit_code == 0);
        CHECK((dumped.out.find("real_multiplier 1") != std::string::npos) == has_rule);
    }
}

TEST_CASE("A release goes with a TFLite file", "[system][tflite]") {
    const tests::Folder folder;
    const auto error_of = [](const std::string& command) {
        const tests::Outcome outcome = tests::sim(command + " --machine tpu_v1 --timing-only");
        CHECK(outcome.exit_code == 2);
        return outcome.err;
    };
    CHECK(error_of("run models/mnist_cnn/mnist_cnn.h5 --tflite-runtime 2.19")
              .find("mnist_cnn.h5: tflite_runtime is 2.19; only TFLite files have a runtime") !=
          std::string::npos);
    const std::string model = three_sevenths(folder);
    CHECK(error_of("run " + model + " --tflite-runtime 2.18").find("2.18") != std::string::npos);
    CHECK(tests::sim("run " + model + " --machine tpu_v1 --timing-only --tflite-runtime 2.19").exit_code ==
          0);
}
