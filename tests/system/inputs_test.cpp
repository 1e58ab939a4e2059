// Inputs that are right: their scale and shape, and settings that change what a run file says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/sim/run/input/made_images.h"
#include "tests/unit/sim/run/input/made_png.h"

using namespace systole;
using tests::npy;
using tests::repeated;
using Json = nlohmann::ordered_json;

TEST_CASE("Pixels of another scale than the network expects are run with a warning", "[system]") {
    const tests::Folder folder;
    constexpr std::size_t pixels = 784;
    const std::string program = (folder / "digits.tpu").string();
    REQUIRE(tests::sim("compile mnist_cnn --limit 2 -o " + program).exit_code == 0);
    const auto floats = [&](const std::string& name, float value) {
        return folder.file(name, npy("<f4", "(2, 784)", repeated(value, 2 * pixels)));
    };
    const auto bytes = [&](const std::string& name, char value) {
        return folder.file(name, npy("|u1", "(2, 28, 28)", std::string(2 * pixels, value)));
    };
    const auto warning = [](const std::string& arguments) {
        const tests::Outcome outcome = tests::sim("run mnist_cnn --baseline k80 --show summary " + arguments);
        INFO(outcome.err);
        CHECK(outcome.exit_code == 0);
        CHECK(outcome.out.find("mnist_cnn on tpu_v1: 2 inferences") == 0);
        return outcome.err;
    };
    const std::string large = floats("large.npy", 255.0F);
    const std::string small = bytes("small.npy", 1);
    CHECK(warning("--input " + large) == "sim: warning: " + large +
                                             ": the largest value is 255; the network expects pixels up to "
                                             "1, and floats are taken as they are "
                                             "(--input-scale is for 8-bit pixels)\n");
    CHECK(warning("--input " + small) ==
          "sim: warning: " + small +
              ": the largest 8-bit pixel is 1, which stands for 0.003922; the network expects up to 1 "
              "(--input-scale is 0.003922)\n");
    CHECK(
        warning("--input-scale 1 --input " + floats("fraction.npy", 1.0F)).find("expects pixels up to 255") !=
        std::string::npos);
    CHECK(warning("--program " + program + " --input " + large).find("the largest value is 255") !=
          std::string::npos);
    CHECK(warning("--timing-only --input " + large).empty());
    CHECK(tests::sim("compile mnist_cnn --quiet -o " + program + " --input " + large).err ==
          warning("--input " + large));
    CHECK(warning("--input " + floats("right.npy", 0.5F)).empty());
    CHECK(warning("--input " + bytes("black.npy", 0)).empty());
    CHECK(warning("--input " + bytes("right8.npy", 100)).empty());
}

TEST_CASE("Pictures that are to be shown turned are run as they are stored, with a warning", "[system]") {
    const tests::Folder folder;
    const auto picture = [&](const std::string& name, std::uint8_t orientation) {
        const auto bytes = input::tests::bytes_of({.width = 28,
                                                   .height = 28,
                                                   .rows = std::vector<std::uint8_t>(std::size_t{28} * 29),
                                                   .exif = input::tests::made_exif(orientation, false)});
        folder.file(name, {bytes.begin(), bytes.end()});
    };
    picture("a/1.png", 1);
    picture("a/2.png", 6);
    picture("a/3.png", 8);
    const auto err = [&](const std::string& options) {
        const tests::Outcome outcome = tests::sim("run mnist_cnn --set labels=null --quiet --input " +
                                                  (folder / "a").string() + options);
        CHECK(outcome.exit_code == 0);
        return outcome.err;
    };
    const std::string warning = err("/2.png");
    CHECK(warning.find("/a/2.png: the EXIF orientation is not applied") != std::string::npos);
    CHECK(std::count(warning.begin(), warning.end(), '\n') == 1);
    CHECK(err("/1.png").empty());
    CHECK(err("").find("/a: the EXIF orientations of 2 images are not applied") != std::string::npos);
}

/// A classifier of 2x2 pixels: pixel / 255 - 0.5 in front of a product, or the product alone.
std::string classifier(bool scales) {
    tests::OnnxModel model;
    model.input("x", {1, 4}).output("y");
    model.floats("d", {}, {255.0F}).floats("m", {}, {0.5F});
    model.floats("w", {4, 2}, {1, -1, 1, -1, 1, -1, 1, -1});
    std::string last = "x";
    if (scales) {
        model.node("Div", {"x", "d"}, {"a"});
        model.node("Sub", {"a", "m"}, {"b"});
        last = "b";
    }
    model.node("MatMul", {last, "w"}, {"y"});
    return model.bytes();
}

TEST_CASE("Pixels are scaled once, by the network or before it", "[system]") {
    const tests::Folder folder;
    const std::string own = folder.file("own.onnx", classifier(true));
    const std::string plain = folder.file("plain.onnx", classifier(false));
    const std::string dark_and_light =
        std::string(4, 10) + std::string(4, char(200)) + std::string(4, char(255));
    const std::string bytes = folder.file("x.npy", npy("|u1", "(3, 4)", dark_and_light));
    std::string values;
    for (const char pixel : dark_and_light) values += repeated(float(static_cast<unsigned char>(pixel)), 1);
    const std::string floats = folder.file("f.npy", npy("<f4", "(3, 4)", values));
    std::string fractions;
    for (const char pixel : dark_and_light) {
        fractions += repeated(float(static_cast<unsigned char>(pixel)) / 255.0F, 1);
    }
    const std::string small = folder.file("s.npy", npy("<f4", "(3, 4)", fractions));
    const auto run = [&](const std::string& arguments) {
        const tests::Outcome outcome = tests::sim("run --machine tpu_v1 --json --model " + arguments);
        INFO(arguments << outcome.err);
        CHECK(outcome.exit_code == 0);
        return outcome;
    };
    const Json predictions{1, 0, 0};
    // Right, without a word; the report names the layer.
    const tests::Outcome from_bytes = run(own + " --input " + bytes);
    CHECK(from_bytes.err.empty());
    CHECK(from_bytes.json().at("predictions") == predictions);
    CHECK(from_bytes.json().at("pixel_scaling") == Json{{{"input", "x"}, {"layer", "n_a"}}});
    const tests::Outcome from_floats = run(own + " --input " + floats);
    CHECK(from_floats.err.empty());
    CHECK(from_floats.json().at("predictions") == predictions);
    CHECK_FALSE(from_floats.json().contains("pixel_scaling"));
    const tests::Outcome raw = run(own + " --preset raw --input " + bytes);
    CHECK(raw.err.empty());
    CHECK(raw.json().at("predictions") == predictions);
    CHECK_THAT(tests::sim("run --machine tpu_v1 --show summary --model " + own + " --input " + bytes).out,
               Catch::Contains("0 to 255   the network scales them: n_a"));
    const tests::Outcome without = run(plain + " --input " + bytes);
    CHECK(without.err.empty());
    CHECK_FALSE(without.json().contains("pixel_scaling"));
    // Scaled or shifted twice, with a warning.
    for (const char* const option :
         {"--input-scale 0.00392157", "--preset imagenet-tf", "--mean 0.5 --std 0.5", "--mean 100",
          "--input-scale 1 --mean 100", "--mean 100 --std 2"}) {
        CHECK_THAT(
            run(own + " --input " + bytes + " " + option).err,
            Catch::Contains("layer \"n_a\" of the network, which expects 0 to 255, scales them again"));
    }
    CHECK_THAT(run(own + " --input " + small).err, Catch::Contains("the network expects pixels up to 255"));
    CHECK_THAT(run(plain + " --input " + floats).err, Catch::Contains("the network expects pixels up to 1"));
}

TEST_CASE("Made-up input and vectors fit each network that has as many values", "[system]") {
    const tests::Folder folder;
    const auto inferences = [](const std::string& arguments) {
        return tests::report_of("--machine tpu_v1 " + arguments).at("inferences");
    };
    const Json dense{{"name", "l1"}, {"op", "dense"}, {"inputs", Json::array({"input"})}, {"units", 4}};
    const auto net = [&](const std::string& name, const Json& shape) {
        return "--model " + folder.file(name, Json{{"schema", "sim.graph/1"},
                                                   {"name", "net"},
                                                   {"input", {{"shape", shape}}},
                                                   {"weights", {{"seed", 1}}},
                                                   {"layers", Json::array({dense})},
                                                   {"output", "l1"}}
                                                  .dump());
    };
    const std::string image = net("image.json", {4, 4, 1});
    const std::string vector = net("vector.json", Json::array({16}));
    const std::string keras = "--model models/mnist_cnn/mnist_cnn.h5";
    const std::string vectors =
        " --input " + folder.file("v.npy", npy("|u1", "(20, 16)", std::string(320, 'a')));
    const std::string images =
        " --input " + folder.file("i.npy", npy("|u1", "(5, 4, 4)", std::string(80, 'a')));
    const std::string one = " --input " + folder.file("o.npy", npy("|u1", "(4, 4)", std::string(16, 'a')));
    for (const std::string& model : {image, vector}) {
        CHECK(inferences(model + vectors) == 20);
        CHECK(inferences(model + images) == 5);
        CHECK(inferences(model + one) == 1);
        CHECK(inferences(model + vectors + " --limit 3") == 3);
        CHECK(inferences(model + " --random-input 1 --limit 2") == 2);
    }
    CHECK(inferences(keras + " --random-input 1 --limit 2") == 2);
    const std::string program = (folder / "net.tpu").string();
    REQUIRE(tests::sim("compile --machine tpu_v1 " + image + vectors + " -o " + program).exit_code == 0);
    CHECK(inferences("--program " + program + vectors) == 20);
    const std::string other_sides = folder.file("t.npy", npy("|u1", "(5, 2, 8)", std::string(80, 'a')));
    const tests::Outcome wrong = tests::sim("run --machine tpu_v1 " + image + " --input " + other_sides);
    CHECK(wrong.exit_code == 2);
    CHECK(wrong.err == "sim: " + other_sides +
                           ": the images are 2x8x1; net takes 4x4x1; --resize 4x4 scales "
                           "them, --resize 5 --crop 4 keeps their proportions\n");
}

TEST_CASE("A setting unsets a key, and chooses the model of the weight memory", "[system]") {
    const auto machine = [](const std::string& arguments) {
        return tests::report_of("mnist_cnn --limit 1 --timing-only " + arguments)
            .at("configuration")
            .at("machine");
    };
    const std::string to_dram = "--set machine.weight_memory.model=dram ";
    const auto memory = [&](const std::string& arguments) { return machine(arguments).at("weight_memory"); };
    const Json shipped_dram = memory("--machine tpu_v1_dram");
    CHECK(memory(to_dram).at("model") == "dram");
    CHECK(memory(to_dram).at("dram") == shipped_dram.at("dram"));
    CHECK(memory(to_dram + "--set machine.weight_memory.dram.channels=4").at("dram").at("channels") == 4);
    const Json back = memory("--machine tpu_v1_dram --set machine.weight_memory.model=bandwidth");
    CHECK(back.at("model") == "bandwidth");
    CHECK(back.at("bandwidth_gb_per_s") == 34.0);
    CHECK_FALSE(back.contains("dram"));
    CHECK(memory("--set machine.weight_memory.bandwidth_gb_per_s=null").at("bandwidth_gb_per_s") == 34.0);
    CHECK_FALSE(machine("--set machine.energy=null").contains("energy"));
    const Json unset =
        tests::report_of("mnist_cnn --limit 1 --timing-only --set batch=null --set labels=null");
    CHECK(unset.at("batch") == 1);
}
