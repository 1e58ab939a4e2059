// Images and arrays in, arrays out: what a user compares with another runtime.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "sim/run/input/formats.h"
#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::npy;
using tests::repeated;
using Json = nlohmann::ordered_json;

namespace {

input::Array array_in(const std::filesystem::path& path) {
    const std::string text = tests::text_in(path);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    INFO(path.string());
    REQUIRE_FALSE(bytes.empty());
    input::ByteStream stream(bytes, path.string());
    return input::read_npy_array(stream);
}

/// A graph file of a network that takes 2 x 2 images of 3 channels and gives the mean of each channel's
/// pixels, which tells which pixel came where.
std::string mean_network(const tests::Folder& folder) {
    const Json pool{{"name", "means"}, {"op", "global_average_pool"}, {"inputs", Json::array({"input"})}};
    return folder.file("means.json", Json{{"schema", "sim.graph/1"},
                                          {"name", "means"},
                                          {"input", {{"shape", {2, 2, 3}}}},
                                          {"weights", {{"seed", 1}}},
                                          {"layers", Json::array({pool})},
                                          {"output", "means"}}
                                         .dump());
}

/// A 24-bit BMP file of 4 x 4 pixels in one colour.
std::string bmp_of(unsigned char red, unsigned char green, unsigned char blue) {
    std::string file("BM\x66\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x04\0\0\0\x04\0\0\0\x01\0\x18\0", 30);
    file += std::string(24, '\0');
    for (int i = 0; i < 16; ++i) {
        for (const unsigned char color : {blue, green, red}) file += static_cast<char>(color);
    }
    return file;
}

std::vector<float> floats_in(const std::filesystem::path& path) {
    return std::get<std::vector<float>>(array_in(path).values);
}

}  // namespace

TEST_CASE("A run writes its outputs, and those of the network in float, as NumPy arrays", "[system]") {
    const tests::Folder folder;
    const std::string chip = (folder / "chip").string();
    const std::string real = (folder / "float/here").string();
    const tests::Outcome outcome =
        tests::sim("run mnist_cnn --limit 20 --show summary --outputs " + chip + " --float-outputs " + real);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(chip)) files.push_back(entry.path());
    REQUIRE(files.size() == 1);  // the host computes a softmax, so the output is stored nowhere on the chip
    const std::string name = files.front().stem().string();
    CHECK_THAT(outcome.out, Catch::Contains("\" in " + files.front().string() + ": float32 (20, 10)\n"));
    CHECK_THAT(outcome.out, Catch::Contains("\" in " + real + "/" + name + ".npy: float32 (20, 10)\n"));
    const input::Array array = array_in(files.front());
    CHECK(array.shape == std::vector<std::uint32_t>{20, 10});
    const auto& probabilities = std::get<std::vector<float>>(array.values);
    const std::vector<float> in_float = floats_in(std::filesystem::path(real) / (name + ".npy"));
    REQUIRE(in_float.size() == probabilities.size());
    const Json report = tests::report_of("mnist_cnn --limit 20");
    for (std::size_t i = 0; i < 20; ++i) {
        const auto row = std::span(probabilities).subspan(i * 10, 10);
        const auto best = std::max_element(row.begin(), row.end()) - row.begin();
        CHECK(report.at("predictions").at(i) == best);
        float sum = 0.0F;
        for (std::size_t k = 0; k < 10; ++k) {
            sum += row[k];
            CHECK(std::abs(row[k] - in_float[i * 10 + k]) < 0.2F);
        }
        CHECK(sum == Approx(1.0));
    }
    CHECK(probabilities != in_float);
}

TEST_CASE("What the chip stores is the output, but for scale and zero point", "[system]") {
    const tests::Folder folder;
    const std::string model = mean_network(folder);
    const std::string image =
        folder.file("i.npy", npy("|u1", "(2, 2, 3)", std::string(4, '\x0c') + std::string(8, '\x48')));
    const std::string run = "run --machine tpu_v1 --model " + model + " --input " + image + " --outputs ";
    const tests::Outcome outcome = tests::sim(run + (folder / "out").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const std::vector<float> real = floats_in(folder / "out/means.npy");
    const input::Array raw = array_in(folder / "out/means.raw.npy");
    CHECK(array_in(folder / "out/means.npy").shape == raw.shape);
    CHECK(raw.shape.front() == 1);
    const auto& stored = std::get<std::vector<std::uint8_t>>(raw.values);
    REQUIRE(stored.size() == 3);
    // The means of the channels are (12 + 12 + 72 + 72) / 4 and so on, and a step of the output is less than
    // one.
    const std::vector<double> means{(12 + 12 + 72 + 72) / 4.0, (12 + 3 * 72) / 4.0, (12 + 3 * 72) / 4.0};
    for (std::size_t i = 0; i < 3; ++i) CHECK(real[i] * 255.0 == Approx(means[i]).margin(1.0));
    CHECK(stored[1] == stored[2]);
    CHECK(stored[0] < stored[1]);
}

TEST_CASE("Images of several formats are resized, normalized and reversed as asked", "[system]") {
    const tests::Folder folder;
    const std::string model = mean_network(folder);
    folder.file("images/one", bmp_of(200, 100, 50));
    folder.file("images/two", bmp_of(0, 255, 10));
    const auto outputs = [&](const std::string& options) {
        const tests::Outcome outcome = tests::sim(
            "run --machine tpu_v1 --quiet --model " + model + " --input " + (folder / "images").string() +
            " --float-outputs " + (folder / "float").string() + " " + options);
        INFO(options << ": " << outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return floats_in(folder / "float/means.npy");
    };
    const auto check = [&](const std::string& options, const std::vector<double>& expected) {
        INFO(options);
        const std::vector<float> given = outputs(options);
        REQUIRE(given.size() == expected.size());
        for (std::size_t i = 0; i < given.size(); ++i) CHECK(given[i] == Approx(expected[i]).margin(1e-5));
    };
    check("--resize 2", {200 / 255.0, 100 / 255.0, 50 / 255.0, 0, 1, 10 / 255.0});
    check("--crop 2 --preset raw", {200, 100, 50, 0, 255, 10});
    check("--resize 3x5 --crop 2x2 --preset imagenet-tf",
          {200 / 127.5 - 1, 100 / 127.5 - 1, 50 / 127.5 - 1, -1, 1, 10 / 127.5 - 1});
    check("--crop 2 --preset imagenet-caffe",
          {50 - 103.939, 100 - 116.779, 200 - 123.68, 10 - 103.939, 255 - 116.779, -123.68});
    check("--crop 2 --preset imagenet-torch",
          {(200 / 255.0 - 0.485) / 0.229, (100 / 255.0 - 0.456) / 0.224, (50 / 255.0 - 0.406) / 0.225,
           -0.485 / 0.229, (1 - 0.456) / 0.224, (10 / 255.0 - 0.406) / 0.225});
    check("--crop 2 --mean 1 --std 2,4,8 --input-scale 1 --channels bgr",
          {49 / 2.0, 99 / 4.0, 199 / 8.0, 9 / 2.0, 254 / 4.0, -1 / 8.0});
}

TEST_CASE("Arrays of images have the order that the layout declares", "[system]") {
    const tests::Folder folder;
    const std::string model = mean_network(folder);
    std::string pixels;
    for (int i = 0; i < 12; ++i) pixels += static_cast<char>(10 * i);
    const std::string hwc = folder.file("hwc.npy", npy("|u1", "(1, 2, 2, 3)", pixels));
    const std::string chw = folder.file("chw.npy", npy("|u1", "(3, 2, 2)", pixels));
    const auto output = [&](const std::string& options) {
        const tests::Outcome outcome =
            tests::sim("run --machine tpu_v1 --quiet --preset raw --model " + model + " --float-outputs " +
                       folder.path().string() + " --input " + options);
        INFO(options << ": " << outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return floats_in(folder / "means.npy");
    };
    CHECK(output(hwc) == std::vector{45.0F, 55.0F, 65.0F});
    CHECK(output("input=" + hwc) == std::vector{45.0F, 55.0F, 65.0F});
    CHECK(output(hwc + " --layout hwc") == std::vector{45.0F, 55.0F, 65.0F});
    CHECK(output(chw + " --layout chw") == std::vector{15.0F, 55.0F, 95.0F});
}

TEST_CASE("Names of classes show the best five of the first images", "[system]") {
    const tests::Folder folder;
    const std::string names =
        folder.file("names.txt", "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    const Json report = tests::report_of("mnist_cnn --limit 3 --label-names " + names);
    const Json& best = report.at("best_classes");
    REQUIRE(best.size() == 3);
    const std::vector<std::string> words{"zero", "one", "two",   "three", "four",
                                         "five", "six", "seven", "eight", "nine"};
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(best.at(i).size() == 5);
        CHECK(best.at(i).at(0).at("class") == report.at("predictions").at(i));
        double before = 1.0;
        for (const Json& one : best.at(i)) {
            CHECK(one.at("name") == words.at(one.at("class").get<std::size_t>()));
            CHECK(one.at("probability") <= before);
            before = one.at("probability");
        }
    }
    const tests::Outcome text = tests::sim("run mnist_cnn --limit 3 --show summary --label-names " + names);
    CHECK_THAT(text.out,
               Catch::Contains("image 2") && Catch::Contains(best[0][0]["name"].get<std::string>()));
}
