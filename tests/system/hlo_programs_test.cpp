// Programs of JAX (tests/golden/hlo) as users run them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"
#include "tests/system/written_array.h"

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
    const std::string bytes = written_array(path).values;
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
    return numbers;
}

/// Small whole numbers, of which products and sums are exact.
std::vector<float> whole_numbers(std::size_t count, int first) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(static_cast<float>((static_cast<int>(7 * i) + first) % 5 - 2));
    return numbers;
}

/// The golden program data_parallel: a step of gradient descent, of eight devices with a part of x and y
/// each.
struct GradientStep {
    std::vector<float> w = whole_numbers(12, 1);  ///< (4, 3)
    std::vector<float> x;                         ///< (16, 4)
    std::vector<float> y;                         ///< (3, 16)

    /// The two outputs, one after the other: the next w, and the error.
    std::vector<float> outputs() const {
        std::vector<float> error(48);
        for (std::size_t row = 0; row < 16; ++row) {
            for (std::size_t column = 0; column < 3; ++column) {
                float sum = 0;
                for (std::size_t k = 0; k < 4; ++k) sum += x[row * 4 + k] * w[k * 3 + column];
                error[row * 3 + column] = sum - y[column * 16 + row];
            }
        }
        std::vector<float> next = w;
        for (std::size_t k = 0; k < 4; ++k) {
            for (std::size_t column = 0; column < 3; ++column) {
                float sum = 0;
                for (std::size_t row = 0; row < 16; ++row) sum += x[row * 4 + k] * error[row * 3 + column];
                const float change = 0.1F * sum;
                next[k * 3 + column] = w[k * 3 + column] - change;
            }
        }
        next.insert(next.end(), error.begin(), error.end());
        return next;
    }
};

/// Options for the inputs of several steps.
std::string input_options(const Folder& folder, const std::vector<GradientStep>& steps) {
    const std::string count = steps.size() == 1 ? "" : std::to_string(steps.size()) + ", ";
    std::string w;
    std::string x;
    std::string y;
    for (const GradientStep& step : steps) {
        w += bytes_of(step.w);
        x += bytes_of(step.x);
        y += bytes_of(step.y);
    }
    return " --input w=" + folder.file("w.npy", npy("<f4", "(" + count + "4, 3)", w)) +
           " x=" + folder.file("x.npy", npy("<f4", "(" + count + "16, 4)", x)) +
           " y=" + folder.file("y.npy", npy("<f4", "(" + count + "3, 16)", y));
}

/// The outputs of a run of data_parallel, as GradientStep::outputs of its steps.
std::vector<float> outputs_of(const std::string& arguments, const std::string& folder, std::size_t steps) {
    const Outcome outcome = sim("run " + arguments + " --machine tpu_v2_8 --quiet --outputs " + folder);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const std::vector<float> next = floats_in(folder + "/output_0.npy");
    const std::vector<float> error = floats_in(folder + "/output_1.npy");
    REQUIRE(next.size() == steps * 12);
    REQUIRE(error.size() == steps * 48);
    std::vector<float> outputs;
    for (std::size_t step = 0; step < steps; ++step) {
        const auto add = [&](const std::vector<float>& from, std::size_t size) {
            const auto first = from.begin() + static_cast<std::ptrdiff_t>(step * size);
            outputs.insert(outputs.end(), first, first + static_cast<std::ptrdiff_t>(size));
        };
        add(next, 12);
        add(error, 48);
    }
    return outputs;
}

TEST_CASE("A program for eight devices runs on eight cores, with whole arrays in and out", "[system][hlo]") {
    const Folder folder;
    const GradientStep first{.x = whole_numbers(64, 2), .y = whole_numbers(48, 3)};
    const GradientStep second{
        .w = whole_numbers(12, 3), .x = whole_numbers(64, 4), .y = whole_numbers(48, 2)};
    const std::string out = (folder / "out").string();
    CHECK(outputs_of(program("data_parallel") + input_options(folder, {first}), out, 1) == first.outputs());
    std::vector<float> both = first.outputs();
    const std::vector<float> then = second.outputs();
    both.insert(both.end(), then.begin(), then.end());
    const std::string two = program("data_parallel") + input_options(folder, {first, second});
    CHECK(outputs_of(two, out, 2) == both);
    CHECK(outputs_of(two + " --batch 8", out, 2) == both);
}

/// All files in a folder, by name.
std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.emplace(entry.path().filename(), text_in(entry.path()));
    return files;
}

TEST_CASE("A compiled program gives the files that its module gives", "[system][hlo]") {
    // Numbers without axes, constant outputs, state, and arrays of eight devices.
    const auto& [name, machine, steps] =
        GENERATE(table<std::string, std::string, std::string>({{"types", "tpu_v2_1core", "1"},
                                                               {"donated", "tpu_v2_1core", "2"},
                                                               {"data_parallel", "tpu_v2_8", "16"}}));
    CAPTURE(name);
    const Folder folder;
    const std::string options = " --machine " + machine + " --limit " + steps + " --quiet ";
    const std::string compiled = (folder / "p.tpu").string();
    REQUIRE(sim("compile " + program(name) + options + "-o " + compiled).exit_code == 0);
    const auto outputs_of = [&](const std::string& what) {
        const std::filesystem::path out = folder / "out";
        std::filesystem::remove_all(out);
        const Outcome outcome = sim("run " + what + options + "--random-input 1 --outputs " + out.string());
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return files_in(out);
    };
    const auto outputs = outputs_of(program(name));
    CHECK(outputs.size() > 1);
    CHECK(outputs_of(compiled) == outputs);
    CHECK(outputs_of(folder.file("p.asm", sim("disasm " + compiled).out)) == outputs);
}

TEST_CASE("A batch of a program for several devices is one step", "[system][hlo]") {
    const std::string parallel = program("data_parallel");
    const auto refusal = [&](const std::string& options) {
        const Outcome outcome = sim("run " + parallel + " --machine tpu_v2_8 " + options);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    const std::string message =
        "sim: " + parallel +
        ": batch is 16; it has 8 replicas, and a step has an inference for each replica: 8\n";
    CHECK(refusal("--batch 16 --limit 16 --random-input 1") == message);
    CHECK(refusal("--batch 16 --limit 16 --timing-only") == message);
    const Outcome outcome = sim("advise " + parallel + " --machine tpu_v2_8 --batches 8,16 --sizes 1 --json");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const nlohmann::ordered_json points = nlohmann::ordered_json::parse(outcome.out).at("points");
    REQUIRE(points.size() == 2);
    CHECK(points[0].contains("inferences_per_second"));
    CHECK_FALSE(points[1].contains("inferences_per_second"));
    CHECK_THAT(points[1].at("error").get<std::string>(), Catch::Contains("batch is 16; it has 8 replicas"));
}

TEST_CASE("A limit of a program for several devices is whole steps", "[system][hlo]") {
    const Folder folder;
    const std::string parallel = program("data_parallel");
    const GradientStep first{.x = whole_numbers(64, 2), .y = whole_numbers(48, 3)};
    const std::string files = input_options(folder, {first, first});
    for (const std::string limit : {"3", "12"}) {
        for (const std::string& data :
             {files, std::string(" --random-input 1"), std::string(" --timing-only")}) {
            const Outcome outcome = sim("run " + parallel + " --machine tpu_v2_8 --limit " + limit + data);
            CHECK(outcome.exit_code == 2);
            CHECK(outcome.err ==
                  "sim: limit is " + limit +
                      "; jit_data_parallel has 8 replicas, of which each has an inference in a step: it must "
                      "be a multiple of 8\n");
        }
    }
    const std::string two =
        parallel + input_options(folder, {first, {.x = whole_numbers(64, 4), .y = whole_numbers(48, 2)}});
    CHECK(outputs_of(two + " --limit 8", (folder / "out").string(), 1) == first.outputs());
}

TEST_CASE("Replicas share arrays, of which no classes are shown", "[system][hlo]") {
    const Folder folder;
    const std::string names = folder.file("names.txt", "a\nb\nc\n");
    const std::string run = "run " + program("data_parallel") + " --machine tpu_v2_8 --random-input 1";
    const Outcome outcome = sim(run + " --label-names " + names);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err,
               Catch::Contains("label names need an output for each inference; its 8 replicas share arrays"));
    CHECK_THAT(sim(run).out, !Catch::Contains("predictions"));
}

TEST_CASE("Programs go to machines with tensor cores that have a core for each device", "[system][hlo]") {
    const auto refusal = [](const std::string& arguments) {
        const Outcome outcome = sim("run " + arguments + " --random-input 1");
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    const std::string parallel = program("data_parallel");
    CHECK(refusal(parallel + " --machine tpu_v2_1core") ==
          "sim: " + parallel +
              ": it is a program for 8 devices; machine tpu_v2_1core has 1 core, and there must be as "
              "many\n");
    const std::string products = program("products");
    const std::string in_words =
        "sim: " + products +
        ": it is a program in words; only machines with tensor cores run it; tpu_v1 has none\n";
    CHECK(refusal(products + " --machine tpu_v1") == in_words);
    const Outcome compiled =
        sim("compile " + products + " --machine tpu_v1 -o " + (Folder() / "p.tpu").string());
    CHECK(compiled.exit_code == 2);
    CHECK(compiled.err == in_words);
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
