// From network file to report, through the program users start.
#include <catch2/catch.hpp>
#include <cstdint>
#include <sstream>
#include <string>

#include "hw/isa/encoding.h"
#include "hw/isa/program_file.h"
#include "tests/system/paths.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::foreign_data;
using tests::report_of;
using tests::sim;
using Json = nlohmann::ordered_json;

namespace {

const std::string digits = "configs/runs/mnist_cnn.json";

std::uint64_t matrix_cycles(const Json& unit) {
    return unit["active_cycles"].get<std::uint64_t>() + unit["weight_stall_cycles"].get<std::uint64_t>() +
           unit["weight_shift_cycles"].get<std::uint64_t>() + unit["non_matrix_cycles"].get<std::uint64_t>();
}

/// MACs that each layer of models/mnist_cnn needs for one image, by its README.
constexpr std::uint64_t conv2d = 84'672;
constexpr std::uint64_t conv2d_1 = 2'032'128;
constexpr std::uint64_t conv2d_2 = 2'709'504;
constexpr std::uint64_t dense = 627'200;
constexpr std::uint64_t dense_1 = 2'000;

bool have_mnist() {
    if (std::filesystem::exists(foreign_data / "mnist/t10k-images-idx3-ubyte.gz")) return true;
    WARN("SKIPPED: MNIST is not there");
    return false;
}

std::string mnist() {
    const std::string folder = (foreign_data / "mnist").string();
    return "--input " + folder + "/t10k-images-idx3-ubyte.gz --labels " + folder +
           "/t10k-labels-idx1-ubyte.gz";
}

}  // namespace

TEST_CASE("The shipped network classifies the shipped digits", "[system]") {
    const Json report = report_of(digits);
    CHECK(report["inferences"] == 500);
    CHECK(report["batch"] == 256);
    CHECK(report["accuracy"].get<double>() >= 0.98);
    CHECK(report["predictions"].size() == 500);
    CHECK(report["host_operations"][0]["kind"] == "softmax");
    CHECK(report["comparison"][0]["baseline"] == "haswell_e5_2699_v3");
    CHECK(report["comparison"][0]["speedup"].get<double>() ==
          Approx(report["host_time"]["inferences_per_second"].get<double>() /
                 report["comparison"][0]["inferences_per_second"].get<double>()));
}

TEST_CASE("On MNIST the quantized network is as accurate as in float", "[system]") {
    if (!have_mnist()) return;
    struct Case {
        std::string model;
        double float_accuracy;  ///< computed without this project
    };
    // For the shipped network, the accuracy of this project's own float run.
    for (const Case& each : {Case{"models/mnist_cnn/mnist_cnn.h5", 0.0},
                             Case{(foreign_data / "keras/keras_2.2.4-tf.h5").string(), 0.9840},
                             Case{(foreign_data / "keras/keras_2.14.0.h5").string(), 0.9905},
                             Case{(foreign_data / "keras/keras_3.14.0.keras").string(), 0.9918}}) {
        INFO(each.model);
        if (!std::filesystem::exists(tests::project / each.model)) {
            WARN("SKIPPED: " << each.model << " is not there");
            continue;
        }
        const Json report =
            report_of("--machine tpu_v1 --batch 256 --float-reference --model " + each.model + " " + mnist());
        REQUIRE(report["inferences"] == 10000);
        const auto in_float = report["float_reference"]["accuracy"].get<double>();
        if (each.float_accuracy > 0) CHECK(in_float == Approx(each.float_accuracy).margin(0.00005));
        CHECK(report["accuracy"].get<double>() == Approx(in_float).margin(0.003));
        CHECK(report["float_reference"]["agreements"].get<int>() >= 9940);
    }
}

TEST_CASE("On the shipped digits the quantized network is as good as in float", "[system]") {
    const Json report = report_of(digits + " --float-reference");
    REQUIRE(report["inferences"] == 500);
    const auto in_float = report["float_reference"]["accuracy"].get<double>();
    CHECK(in_float >= 0.99);
    CHECK(report["accuracy"].get<double>() == Approx(in_float).margin(0.003));
    CHECK(report["float_reference"]["agreements"].get<int>() >= 497);
}

TEST_CASE("Two equal runs give equal reports, except for the simulator's own speed", "[system]") {
    const tests::Folder folder;
    const auto run = [&](const std::string& name) {
        const std::string out = (folder / name).string();
        REQUIRE(sim(digits + " --quiet --out " + out).exit_code == 0);
        Json report = Json::parse(tests::text_in(folder / name / "report.json"));
        report.erase("simulator");
        report["configuration"]["run"].erase("out");  // the only setting that differs
        return report.dump();
    };
    CHECK(run("first") == run("second"));
}

TEST_CASE("Cycles and MACs are conserved, in the run and in each layer", "[system]") {
    const Json report = report_of(digits);
    const Json& unit = report["matrix_unit"];
    CHECK(matrix_cycles(unit) == report["cycles"].get<std::uint64_t>());
    CHECK(unit["useful_macs"].get<std::uint64_t>() + unit["unused_macs"].get<std::uint64_t>() ==
          unit["active_cycles"].get<std::uint64_t>() * 65536);

    std::uint64_t cycles = 0;
    std::uint64_t macs = 0;
    for (const Json& layer : report["layers"]) {
        INFO(layer["name"]);
        CHECK(matrix_cycles(layer["matrix_unit"]) == layer["cycles"].get<std::uint64_t>());
        cycles += layer["cycles"].get<std::uint64_t>();
        macs += layer["matrix_unit"]["useful_macs"].get<std::uint64_t>();
        CHECK(layer["matrix_unit"]["useful_macs"].get<std::uint64_t>() ==
              500 * layer["macs_per_inference"].get<std::uint64_t>());
    }
    CHECK(cycles == report["cycles"].get<std::uint64_t>());
    CHECK(macs == 500 * (conv2d + conv2d_1 + conv2d_2 + dense + dense_1));
    CHECK(report["layers"][0]["macs_per_inference"] == conv2d);
    CHECK(report["layers"][3]["macs_per_inference"] == dense);
}

TEST_CASE("The bytes on each path equal those of the program's instructions", "[system]") {
    const tests::Folder folder;
    const std::string file = (folder / "net.tpu").string();
    REQUIRE(sim("compile " + digits + " -o " + file).exit_code == 0);
    const isa::Program program = isa::read_program(std::filesystem::path(file));

    std::uint64_t weights = 0;
    std::uint64_t host_reads = 0;
    std::uint64_t host_writes = 0;
    std::uint64_t instructions = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        instructions += isa::encoded_size(instruction);
        if (const auto* read = std::get_if<isa::ReadHostMemory>(&instruction)) {
            host_reads += std::uint64_t{read->block_bytes} * read->blocks;
        } else if (const auto* write = std::get_if<isa::WriteHostMemory>(&instruction)) {
            host_writes += std::uint64_t{write->block_bytes} * write->blocks;
        } else if (const auto* fetch = std::get_if<isa::ReadWeights>(&instruction)) {
            weights += std::uint64_t{fetch->tiles} * 65536;
        }
    }
    const Json report = report_of(digits);
    CHECK(report["traffic"]["weight_bytes"] == weights);
    CHECK(report["traffic"]["host_read_bytes"] == host_reads);
    CHECK(report["traffic"]["host_write_bytes"] == host_writes);
    CHECK(report["traffic"]["instruction_bytes"] == instructions);
    CHECK(host_writes == 500 * 10);
    CHECK(host_reads > 500 * 784);  // and the constants
}

TEST_CASE("A compiled program gives the results of its network", "[system]") {
    const tests::Folder folder;
    const std::string file = (folder / "net.tpu").string();
    const std::string text = (folder / "net.s").string();
    REQUIRE(sim("compile " + digits + " --limit 40 -o " + file).exit_code == 0);
    REQUIRE(sim("disasm " + file + " -o " + text).exit_code == 0);
    const Json network = report_of(digits + " --limit 40");
    for (const std::string& program : {file, text}) {
        const Json report = report_of(digits + " --limit 40 --program " + program);
        CHECK(report["predictions"] == network["predictions"]);
        CHECK(report["units"] == network["units"]);
        CHECK(report["accuracy"] == network["accuracy"]);
    }
    REQUIRE(sim("asm " + text + " -o " + file + ".again").exit_code == 0);
    CHECK(tests::text_in(file + ".again") == tests::text_in(file));
}

TEST_CASE("A timing-only run takes the same cycles and computes nothing", "[system]") {
    const Json report = report_of(digits);
    const Json timing = report_of(digits + " --timing-only");
    CHECK(timing["units"] == report["units"]);
    CHECK(timing["layers"] == report["layers"]);
    CHECK(timing["traffic"] == report["traffic"]);
    CHECK(timing["host_operations"] == report["host_operations"]);
    CHECK(timing["predictions"].empty());
    CHECK(timing["accuracy"].is_null());
    CHECK(report_of("--machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 --timing-only --batch 256 "
                    "--limit 500")["cycles"] == report["cycles"]);
}

TEST_CASE("A baseline's batch is at most the number of inferences", "[system]") {
    // The weights in fp32 take 55 us of Haswell's memory bandwidth; one image 8 us of its arithmetic, 20
    // images 168 us.
    constexpr double weights = 108 + 10'368 + 55'296 + 627'200 + 2'000;
    const Json one = report_of(digits + " --limit 1")["comparison"][0];
    CHECK(one["bound"] == "memory");
    CHECK(one["inferences_per_second"].get<double>() == Approx(51e9 / (4 * weights)));
    CHECK(report_of(digits + " --limit 20")["comparison"][0]["bound"] == "compute");
}

TEST_CASE("Float inputs are quantized on the host, and the report says so", "[system]") {
    const tests::Folder folder;
    constexpr std::size_t values = 3 * 28 * 28;
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 28, 28), }";
    header.resize(117, ' ');
    header += '\n';
    std::string file = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
    for (std::size_t i = 0; i < values; ++i) {
        const float value = static_cast<float>(i % 100) / 99.0F;
        file.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    const std::string input = folder.file("images.npy", file);
    const Json report = report_of(digits + " --input " + input);
    CHECK(report["inferences"] == 3);
    REQUIRE(report["host_operations"].size() == 2);
    CHECK(report["host_operations"][0]["kind"] == "quantize_input");
    CHECK(report["host_operations"][0]["seconds"].get<double>() > 0.0);
    CHECK(report["host_operations"][1]["kind"] == "softmax");
    CHECK(report["host_seconds"].get<double>() ==
          Approx(report["host_operations"][0]["seconds"].get<double>() +
                 report["host_operations"][1]["seconds"].get<double>()));
    CHECK(report["accuracy"].is_null());  // the run file's labels belong to its own input
    CHECK(report["predictions"].size() == 3);
}

TEST_CASE("A setting changes the machine", "[system]") {
    const Json report = report_of(digits);
    const Json faster = report_of(digits + " --set machine.clock_mhz=1050");
    CHECK(faster["configuration"]["machine"]["clock_mhz"] == 1050);
    CHECK(faster["seconds"].get<double>() < report["seconds"].get<double>());
    CHECK(faster["tops"]["peak"].get<double>() == Approx(1.5 * report["tops"]["peak"].get<double>()));
    CHECK(faster["predictions"] == report["predictions"]);
    const Json narrow = report_of(digits + " --set machine.matrix_unit.rows=128");
    CHECK(narrow["predictions"] == report["predictions"]);
    CHECK(narrow["cycles"].get<std::uint64_t>() > report["cycles"].get<std::uint64_t>());
}

TEST_CASE("A run file's paths are found from any folder", "[system]") {
    const std::string file = (tests::project / digits).string();
    CHECK(sim("--version >/dev/null && cd / && '" + std::string(tests::sim_program()) + "' " + file +
              " --limit 1")
              .exit_code == 0);
}

TEST_CASE("The text of a run fits 80 columns and lists the work left to the host", "[system]") {
    const tests::Outcome outcome = sim(digits);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        if (line.size() > 80) FAIL_CHECK(line);
    }
    CHECK(outcome.out.find("softmax") != std::string::npos);
    CHECK(outcome.out.find("500 of 500") != std::string::npos);
}

TEST_CASE("Help shows examples that fit 80 columns", "[system]") {
    for (const char* command : {"", "run", "compile", "asm", "disasm"}) {
        const tests::Outcome outcome = sim(std::string(command) + " --help");
        INFO(outcome.out);
        CHECK(outcome.exit_code == 0);
        CHECK(outcome.out.find("  sim ") != std::string::npos);
        std::istringstream lines(outcome.out);
        for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
    }
    CHECK(sim("").out == sim("--help").out);
}
