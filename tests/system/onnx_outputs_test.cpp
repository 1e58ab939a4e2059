// Outputs of ONNX networks as files: constants beside what the network computes, and names of any length.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "sim/run/input/formats.h"
#include "tests/support/files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;

namespace {

input::Array array_in(const std::filesystem::path& path) {
    const std::string text = tests::text_in(path);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    input::ByteStream stream(bytes, path.string());
    return input::read_npy_array(stream);
}

std::vector<float> reals_in(const std::filesystem::path& path) {
    return std::get<std::vector<float>>(array_in(path).values);
}

}  // namespace

TEST_CASE("Outputs of an ONNX network that are constants are written as they are in the file",
          "[system][onnx]") {
    const tests::Folder folder;
    tests::OnnxModel model;
    model.input("x", {1, 1, 4, 4}).floats("c", {1, 3}, {1.5F, -2, 3});
    for (const char* const output : {"shape", "y", "same"}) model.output(output);
    model.node("Relu", {"x"}, {"y"});
    model.node("Shape", {"y"}, {"shape"});
    model.node("Identity", {"c"}, {"same"});
    const std::string path = folder.file("constants.onnx", model.bytes());
    const tests::Outcome outcome =
        tests::sim("run --machine tpu_v1 --model " + path + " --random-input 5 --outputs " +
                   (folder / "out").string() + " --float-outputs " + (folder / "float").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    // In the order of the file.
    const std::size_t first = outcome.out.find("Output \"shape\"");
    const std::size_t second = outcome.out.find("Output \"y\"");
    const std::size_t third = outcome.out.find("Output \"same\"");
    CHECK(first < second);
    CHECK(second < third);
    CHECK(third != std::string::npos);
    for (const char* const kind : {"out", "float"}) {
        INFO(kind);
        const std::filesystem::path written = folder / kind;
        CHECK(array_in(written / "same.npy").shape == std::vector<std::uint32_t>{1, 3});
        CHECK(reals_in(written / "same.npy") == std::vector<float>{1.5F, -2, 3});
        CHECK(reals_in(written / "shape.npy") == std::vector<float>{1, 1, 4, 4});
        CHECK(array_in(written / "y.npy").shape == std::vector<std::uint32_t>{1, 1, 4, 4});
        const input::Array stored = array_in(written / "shape.raw.npy");
        CHECK(std::get<std::vector<std::int32_t>>(stored.values) == std::vector<std::int32_t>{1, 1, 4, 4});
    }
}

TEST_CASE("An output of an ONNX network may have a name that is too long for a file", "[system][onnx]") {
    const tests::Folder folder;
    const std::string name(300, 'y');
    tests::OnnxModel model;
    model.input("x", {1, 1, 4, 4}).output(name);
    model.node("Relu", {"x"}, {name});
    const std::string path = folder.file("long.onnx", model.bytes());
    const tests::Outcome outcome = tests::sim("run --machine tpu_v1 --quiet --model " + path +
                                              " --random-input 1 --outputs " + (folder / "out").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const auto names = nlohmann::json::parse(tests::text_in(folder / "out/names.json"));
    REQUIRE(names.size() == 2);
    for (const auto& [file, output] : names.items()) {
        CHECK(output == name);
        CHECK(std::filesystem::exists(folder / "out" / file));
    }
}
