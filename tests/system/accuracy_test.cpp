// What quantization costs, layer by layer, and what is said of input that is stored badly.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::npy;
using tests::Outcome;
using tests::sim;

namespace {

/// Two convolutions, without a part on the host: the output is the last tensor of the chip.
constexpr const char* network = R"({
    "schema": "sim.graph/1", "name": "net", "weights": {"seed": 1}, "input": {"shape": [4, 4, 2]},
    "layers": [
        {"name": "first", "op": "convolution", "inputs": ["input"], "filters": 6, "kernel": 3, "activation": "relu"},
        {"name": "last", "op": "convolution", "inputs": ["first"], "filters": 5, "kernel": 2}],
    "output": "last"})";
constexpr std::size_t values_per_image = 4 * 4 * 2;

std::string floats_file(const tests::Folder& folder, const std::string& name,
                        const std::vector<float>& values) {
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const std::size_t images = values.size() / values_per_image;
    return folder.file(name, npy("<f4", "(" + std::to_string(images) + ", 4, 4, 2)", bytes));
}

/// Images of numbers from -1 to 1, without 0.
std::vector<float> ordinary(std::size_t images) {
    std::vector<float> values;
    for (std::size_t i = 0; i < images * values_per_image; ++i) {
        values.push_back(std::sin(static_cast<float>(7 * i + 1)));
    }
    return values;
}

/// The float32 numbers of a .npy file that sim wrote.
std::vector<float> floats_of(const std::filesystem::path& file) {
    const std::string bytes = tests::text_in(file);
    constexpr std::size_t length_at = 8;
    const std::size_t header = 10 + static_cast<unsigned char>(bytes.at(length_at)) +
                               256U * static_cast<unsigned char>(bytes.at(length_at + 1));
    std::vector<float> values((bytes.size() - header) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + header, values.size() * sizeof(float));
    return values;
}

/// Signal to noise of what a run has written, in dB.
double decibels_of(const std::vector<float>& ours, const std::vector<float>& expected) {
    REQUIRE(ours.size() == expected.size());
    double signal = 0.0;
    double noise = 0.0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const double error = double{ours[i]} - expected[i];
        signal += double{expected[i]} * expected[i];
        noise += error * error;
    }
    return 10.0 * std::log10(signal / noise);
}

/// Runs with eight images and returns the rows: each is above 0 dB, and the last one is that of the output.
nlohmann::ordered_json checked_rows(const std::string& arguments) {
    const tests::Folder folder;
    const std::filesystem::path out = folder.path() / "out";
    const std::filesystem::path in_float = folder.path() / "float";
    const Outcome outcome = sim("run --json --set accuracy_by_layer=true --limit 8 " + arguments +
                                " --outputs " + out.string() + " --float-outputs " + in_float.string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const auto rows = outcome.json().at("accuracy_by_layer");
    for (const auto& row : rows) {
        CAPTURE(row.dump());
        if (!row["decibels"].is_null()) CHECK(row["decibels"].get<double>() > 0.0);
    }
    const auto last = rows.back();
    const std::string file = last["name"].get<std::string>() + ".npy";
    const std::vector<float> ours = floats_of(out / file);
    CHECK(last["numbers"] == ours.size());
    const double decibels = decibels_of(ours, floats_of(in_float / file));
    constexpr double most = 120.0;  // above it, the noise is that of rounding in float
    CHECK(last["decibels"].is_null() == (decibels >= most));
    if (!last["decibels"].is_null()) CHECK(last["decibels"].get<double>() == Approx(decibels).margin(0.01));
    return rows;
}

}  // namespace

TEST_CASE("The accuracy of the last layer is that of the network's output", "[system][accuracy]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.json", network);
    const std::string input = floats_file(folder, "x.npy", ordinary(3));
    const std::string out = (folder.path() / "out").string();
    const std::string in_float = (folder.path() / "float").string();
    const Outcome outcome = sim("run --machine tpu_v1 --json --set accuracy_by_layer=true --model " + model +
                                " --input " + input + " --outputs " + out + " --float-outputs " + in_float);
    REQUIRE(outcome.exit_code == 0);
    const auto layers = outcome.json().at("accuracy_by_layer");
    REQUIRE(layers.size() == 3);
    CHECK(layers[0]["kind"] == "input");
    CHECK(layers[0]["lost_decibels"].is_null());
    CHECK(layers[2]["name"] == "last");
    const std::vector<float> ours = floats_of(out + "/last.npy");
    const std::vector<float> expected = floats_of(in_float + "/last.npy");
    CHECK(layers[2]["decibels"].get<double>() == Approx(decibels_of(ours, expected)).epsilon(1e-3));
    CHECK(layers[2]["numbers"] == ours.size());
    const double worst = layers[1]["decibels"].get<double>();
    CHECK(layers[2]["lost_decibels"].get<double>() == Approx(worst - layers[2]["decibels"].get<double>()));
}

TEST_CASE("Values of one name have rows of their own: logits and the softmax of the host",
          "[system][accuracy]") {
    const auto rows = checked_rows("mnist_cnn --batch 8");
    const std::size_t count = rows.size();
    CHECK(rows[count - 1]["kind"] == "softmax");
    CHECK(rows[count - 2]["kind"] == "dense");
    CHECK(rows[count - 1]["name"] == rows[count - 2]["name"]);
}

TEST_CASE("Networks of others have a positive signal-to-noise ratio in each layer", "[system][accuracy]") {
    // Two values of a separable convolution, and logits with their probabilities, have one name.
    for (const auto& [file, input] :
         {std::pair("keras/oarriaga_mini_xception_fer.h5", "--random-input 1"),
          std::pair("keras/albany_mnist_keras3.keras", "--input {}/keras/albany_mnist_keras3.input.npy"),
          std::pair("keras/mlperf_streaming_ww.h5", "--input {}/keras/mlperf_streaming_ww.input.npy")}) {
        CAPTURE(file);
        const std::filesystem::path model = tests::foreign_data / file;
        if (!std::filesystem::exists(model)) {
            WARN("SKIPPED: " << model << " is not there");
            continue;
        }
        const auto rows = checked_rows("--machine tpu_v1 --batch 8 --model " + model.string() + " " +
                                       fmt::format(fmt::runtime(input), tests::foreign_data.string()));
        CHECK(rows.back()["kind"] == "softmax");
    }
}

TEST_CASE("Rounding in float counts as no noise", "[system][accuracy]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.json", network);
    // Numbers that the input's tensor holds but for the rounding of its scale.
    std::vector<float> values = ordinary(2);
    for (float& value : values) value = std::round(value * 127.0F) / 127.0F;
    values[0] = 1.0F;
    values[1] = -1.0F;
    const auto rows = [&](const std::vector<float>& given) {
        const Outcome outcome = sim(
            "run --machine tpu_v1 --json --set accuracy_by_layer=true --calibration-method minmax --model " +
            model + " --input " + floats_file(folder, "x.npy", given));
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return outcome.json().at("accuracy_by_layer");
    };
    const double most = 120.0;
    SECTION("pixels of a shipped network") {
        const auto digits = sim("run mnist_cnn --limit 2 --batch 2 --json --set accuracy_by_layer=true")
                                .json()
                                .at("accuracy_by_layer");
        CHECK(digits[0]["decibels"].is_null());
        CHECK(digits[1]["lost_decibels"].is_null());
    }
    SECTION("one number that is all of the signal") {
        values[7] = 3e36F;
        for (const auto& row : rows(values)) {
            CAPTURE(row.dump());
            if (!row["decibels"].is_null()) CHECK(row["decibels"].get<double>() <= most);
            if (!row["lost_decibels"].is_null()) CHECK(row["lost_decibels"].get<double>() <= most);
        }
    }
}

TEST_CASE("A product is compared with the product in float, not with the function of it",
          "[system][accuracy]") {
    // Bytes keep a layer of this size within some 40 dB; a value beside another one is within none.
    const tests::Folder folder;
    for (const std::string function : {"tanh", "sigmoid", "hard_swish", "relu"}) {
        CAPTURE(function);
        const std::string model = folder.file(
            function + ".json",
            R"({"schema": "sim.graph/1", "name": "net", "weights": {"seed": 3}, "input": {"shape": [30]}, "layers": [
                {"name": "h", "op": "dense", "inputs": ["input"], "units": 50, "activation": ")" +
                function +
                R"("}, {"name": "o", "op": "dense", "inputs": ["h"], "units": 5}], "output": "o"})");
        const auto layers = tests::report_of(
                                "--machine tpu_v1 --random-input 1 --batch 8 --limit 8 --set "
                                "accuracy_by_layer=true --model " +
                                model)
                                .at("accuracy_by_layer");
        REQUIRE(layers.size() >= 3);
        for (std::size_t i = 1; i < layers.size(); ++i) {
            CAPTURE(layers[i].dump());
            CHECK(layers[i]["decibels"].get<double>() > 30.0);
        }
    }
}

TEST_CASE("An error of --show accuracy names what was typed", "[system][accuracy]") {
    const auto refused = [](const std::string& arguments) {
        const Outcome outcome = sim("run " + arguments + " --show accuracy");
        CAPTURE(arguments, outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK_THAT(outcome.err, Catch::Contains("--show accuracy"));
    };
    refused("mnist_cnn --timing-only");
    refused("--machine tpu_v1 docs/micro_benchmarks/fifo_runs_dry.asm");
    const std::filesystem::path model = tests::foreign_data / "cases/qdq_int16_zero_point/net.onnx";
    if (std::filesystem::exists(model)) {
        refused("--machine tpu_v1 --random-input 1 --limit 1 --model " + model.string());
    } else {
        WARN("SKIPPED: " << model << " is not there");
    }
    // In a run file, it is the key.
    const Outcome key = sim("run mnist_cnn --timing-only --set accuracy_by_layer=true");
    CHECK_THAT(key.err, Catch::Contains("accuracy_by_layer is true"));
}

TEST_CASE("The option --show accuracy prints a line for each layer", "[system][accuracy]") {
    const Outcome outcome = sim("run mnist_cnn --limit 2 --batch 2 --show accuracy");
    REQUIRE(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, Catch::StartsWith("Accuracy"));
    CHECK_THAT(outcome.out, Catch::Contains("convolution"));
    CHECK_THAT(outcome.out, Catch::Contains("dense"));
}

TEST_CASE("A method of calibration is part of the run, and changes answers", "[system][accuracy]") {
    const tests::Folder folder;
    std::set<std::vector<float>> answers;
    for (const std::string method : {"minmax", "percentile", "mse"}) {
        const std::string out = (folder.path() / method).string();
        const Outcome outcome = sim("run mnist_cnn --limit 20 --batch 20 --json --outputs " + out +
                                    " --calibration-method " + method);
        REQUIRE(outcome.exit_code == 0);
        CHECK(outcome.json()["configuration"]["run"]["calibration_method"] == method);
        answers.insert(floats_of(out + "/dense_1.npy"));
    }
    CHECK(answers.size() == 3);
}

TEST_CASE("Input that is stored badly is not passed over in silence", "[system][accuracy]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.json", network);
    const auto run = [&](const std::vector<float>& values, const std::string& options = {}) {
        return sim("run --machine tpu_v1 --quiet --model " + model + " --input " +
                   floats_file(folder, "x.npy", values) + options);
    };
    CHECK(run(ordinary(2)).err.empty());

    std::vector<float> values = ordinary(2);
    SECTION("one number far larger than the others") {
        const float huge = GENERATE(3e38F, -3e38F, 1e6F);
        values[7] = huge;
        const Outcome outcome = run(values);
        INFO(outcome.err);
        // The network may overflow in float: that is an error, which names the layer.
        CHECK((outcome.exit_code == 0 || outcome.exit_code == 2));
        if (outcome.exit_code == 0) CHECK_THAT(outcome.err, Catch::Contains("become 0"));
        if (outcome.exit_code == 2) CHECK_THAT(outcome.err, Catch::Contains("results must be finite"));
    }
    SECTION("numbers too small for any scale") {
        for (float& value : values) value *= 1e-40F;
        const Outcome outcome = run(values);
        CHECK(outcome.exit_code == 0);
        CHECK_THAT(outcome.err, Catch::Contains("become 0"));
    }
    SECTION("a number that is none") {
        values[7] = GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
        CHECK(run(values).exit_code == 2);
        // Calibration does not see it.
        const std::string others = floats_file(folder, "others.npy", ordinary(1));
        const Outcome outcome = run(values, " --calibration " + others);
        CHECK(outcome.exit_code == 2);
        CHECK_THAT(outcome.err, Catch::Contains("value 7 is") && Catch::Contains("it must be finite"));
    }
    SECTION("numbers outside of what calibration saw") {
        for (float& value : values) value *= 30.0F;
        const std::string others = floats_file(folder, "others.npy", ordinary(1));
        const Outcome outcome = run(values, " --calibration " + others);
        CHECK(outcome.exit_code == 0);
        CHECK_THAT(outcome.err, Catch::Contains("are outside of"));
    }
    SECTION("nothing but zeros to calibrate with") {
        const std::string zeros =
            floats_file(folder, "zeros.npy", std::vector<float>(values_per_image, 0.0F));
        const Outcome outcome = run(values, " --calibration " + zeros);
        CHECK(outcome.exit_code == 2);
        CHECK_THAT(outcome.err, Catch::Contains("each number is 0"));
    }
}
