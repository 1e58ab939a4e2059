// Programs of JAX (tests/golden/hlo) as users run them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"

using namespace systole::tests;

namespace {

std::string program(const std::string& name) {
    return (project / "tests/golden/hlo" / (name + ".hlo")).string();
}

std::string bytes_of(const std::vector<float>& numbers) {
    std::string bytes(numbers.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

/// The numbers of a file that NumPy reads.
std::vector<float> floats_in(const std::string& path) {
    constexpr std::size_t header = 128;
    const std::string file = text_in(path);
    REQUIRE(file.size() >= header);
    std::vector<float> numbers((file.size() - header) / sizeof(float));
    std::memcpy(numbers.data(), file.data() + header, numbers.size() * sizeof(float));
    return numbers;
}

/// Small whole numbers, of which products and sums are exact.
std::vector<float> whole_numbers(std::size_t count, int first) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(static_cast<float>((static_cast<int>(7 * i) + first) % 5 - 2));
    return numbers;
}

TEST_CASE("A program for eight devices runs on eight cores, with whole arrays in and out", "[system][hlo]") {
    const Folder folder;
    const std::vector<float> w = whole_numbers(12, 1);
    const std::vector<float> x = whole_numbers(64, 2);
    const std::vector<float> y = whole_numbers(48, 3);
    const std::string out = (folder / "out").string();
    const std::string inputs = " --input w=" + folder.file("w.npy", npy("<f4", "(4, 3)", bytes_of(w))) +
                               " x=" + folder.file("x.npy", npy("<f4", "(16, 4)", bytes_of(x))) +
                               " y=" + folder.file("y.npy", npy("<f4", "(3, 16)", bytes_of(y)));
    const Outcome outcome =
        sim("run " + program("data_parallel") + " --machine tpu_v2_8" + inputs + " --outputs " + out);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    std::vector<float> error(48);
    std::vector<float> next = w;
    for (std::size_t row = 0; row < 16; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
            float sum = 0;
            for (std::size_t k = 0; k < 4; ++k) sum += x[row * 4 + k] * w[k * 3 + column];
            error[row * 3 + column] = sum - y[column * 16 + row];
        }
    }
    for (std::size_t k = 0; k < 4; ++k) {
        for (std::size_t column = 0; column < 3; ++column) {
            float sum = 0;
            for (std::size_t row = 0; row < 16; ++row) sum += x[row * 4 + k] * error[row * 3 + column];
            const float step = 0.1F * sum;
            next[k * 3 + column] = w[k * 3 + column] - step;
        }
    }
    CHECK(floats_in(out + "/output_0.npy") == next);
    CHECK(floats_in(out + "/output_1.npy") == error);
}

TEST_CASE("Programs go to machines with tensor cores that have a core for each device", "[system][hlo]") {
    const auto refusal = [](const std::string& arguments) {
        const Outcome outcome = sim("run " + arguments + " --random-input 1");
        CHECK(outcome.exit_code != 0);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    const std::string parallel = program("data_parallel");
    CHECK(refusal(parallel + " --machine tpu_v2_1core") ==
          "sim: " + parallel +
              ": it is a program for 8 devices; machine tpu_v2_1core has 1 core, and there must be one for "
              "each\n");
    const std::string products = program("products");
    CHECK_THAT(
        refusal(products + " --machine tpu_v1"),
        Catch::Contains("which only networks for machines that compute in floats have; tpu_v1 is none"));
    CHECK_THAT(refusal(program("control") + " --machine tpu_v2_1core"),
               Catch::Contains("(while): how often its body runs depends on data; loops are compiled whose "
                               "condition depends on constants alone"));
}

TEST_CASE("A program shows its layers by the program's scopes", "[system][hlo]") {
    const Outcome outcome =
        sim("run " + program("cnn_forward") + " --machine tpu_v2_1core --random-input 1 --all");
    REQUIRE(outcome.exit_code == 0);
    for (const char* const layer : {"conv1", "pool1", "conv2", "pool2", "dense1", "dense2"})
        CHECK_THAT(outcome.out, Catch::Contains(layer));
}

}  // namespace
