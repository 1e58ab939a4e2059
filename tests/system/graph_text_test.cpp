// The text of a graph: printed after passes, read back, compiled and run.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;
using tests::Outcome;
using tests::sim;

namespace {

/// The bytes of the compiled program of a network.
std::string program_of(const tests::Folder& folder, const std::string& arguments) {
    const std::string file = folder.file("program.tpu", "");
    REQUIRE(sim("compile " + arguments + " -o " + file).exit_code == 0);
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("A network that no chip runs is refused in one line", "[system][graph_text]") {
    const tests::Folder folder;
    const std::string graph =
        folder.file("net.txt",
                    "graph \"g\"\ninputs %0\noutputs %2\n%0 float32 1x4 \"x\"\n"
                    "%1 float32 4x1 \"w\"\n%2 float32 1x1 \"d\"\n"
                    "%1 = reshape(%0) \"w\" {shape [4, 1]}\n%2 = dense(%0; %1) \"d\"\n");
    for (const std::string& arguments :
         {"run " + graph + " --random-input 1", "run " + graph + " --timing-only",
          "compile " + graph + " --random-input 1 --text assembly"}) {
        CAPTURE(arguments);
        const Outcome refused = sim(arguments + " --machine tpu_v1");
        CHECK(refused.exit_code == 2);
        CHECK(refused.out.empty());
        CHECK(refused.err == "sim: " + graph +
                                 ": layer \"d\": another layer computes its weights; the chip needs constant "
                                 "weights\n");
    }
}

TEST_CASE("The dumped graph of a pass compiles and runs like the network file", "[system][graph_text]") {
    const tests::Folder folder;
    const std::string network = folder.file("net.json", R"({
        "schema": "sim.graph/1", "name": "net", "weights": {"seed": 1}, "input": {"shape": [8, 8, 3]},
        "layers": [
            {"name": "border", "op": "zero_padding", "inputs": ["input"], "padding": [1, 1, 1, 1]},
            {"name": "conv", "op": "convolution", "inputs": ["border"], "filters": 5, "kernel": 3},
            {"name": "norm", "op": "batch_normalization", "inputs": ["conv"]},
            {"name": "relu", "op": "relu", "inputs": ["norm"], "maximum": 6},
            {"name": "scores", "op": "dense", "inputs": ["relu"], "units": 10},
            {"name": "classes", "op": "softmax", "inputs": ["scores"]}],
        "output": "classes"})");
    const std::string data = " --machine tpu_v1 --random-input 1 --limit 6 --batch 4";
    const Outcome dump = sim("compile --model " + network + data + " --dump-after fold_concat_into_dense");
    REQUIRE(dump.exit_code == 0);
    CHECK_THAT(dump.out, Catch::StartsWith("graph \"net\"\n"));
    const std::string graph = folder.file("net.txt", dump.out);

    const Outcome from_text = sim("compile " + graph + data + " --text assembly");
    CHECK(from_text.err.empty());
    CHECK(from_text.out == sim("compile --model " + network + data + " --text assembly").out);
    const auto of_text = tests::report_of(graph + data);
    const auto of_network = tests::report_of("--model " + network + data);
    for (const char* const key : {"cycles", "predictions", "traffic", "units"}) {
        CAPTURE(key);
        CHECK(of_text[key] == of_network[key]);
    }
}

TEST_CASE(
    "The digit network on integers is text that compiles to the same program and gives the same answers",
    "[system][graph_text]") {
    const tests::Folder folder;
    const std::string data =
        " --machine tpu_v1 --input models/mnist_cnn/digits-images.idx3-ubyte.gz --limit 40 --batch 16";
    const std::string network = "--model models/mnist_cnn/mnist_cnn.h5" + data;
    const Outcome dump = sim("compile " + network + " --dump-after quantize");
    REQUIRE(dump.exit_code == 0);
    CHECK_THAT(dump.out,
               Catch::Contains("%0 uint8 1x28x28x1 \"image_input\" scale 0.00392156862745098 zero 0"));
    const std::string graph = folder.file("digits.txt", dump.out);
    // No pass changes it.
    CHECK(sim("compile " + graph + data + " --dump-after quantize").out == dump.out);
    CHECK(sim("compile " + graph + data + " --text assembly").out ==
          sim("compile " + network + " --text assembly").out);
    CHECK(program_of(folder, graph + data) == program_of(folder, network));
    const auto of_text = tests::report_of(graph + data);
    const auto of_network = tests::report_of(network);
    for (const char* const key : {"cycles", "predictions", "traffic", "units", "layers", "host_operations"}) {
        CAPTURE(key);
        CHECK(of_text[key] == of_network[key]);
    }
    const Outcome compared = sim("run " + graph + data + " --float-reference");
    CHECK(compared.exit_code == 2);
    CHECK_THAT(compared.err, Catch::Contains("mnist_cnn is already quantized: there is no float network"));
}

TEST_CASE("All passes are dumped in their order, and only passes", "[system][graph_text]") {
    const Outcome all = sim("compile mnist_cnn --limit 1 --set timing_only=true --dump-after all");
    REQUIRE(all.exit_code == 0);
    std::size_t last = 0;
    for (const char* const pass : {"remove_identities", "recognize_operators", "absorb_constants",
                                   "fold_batch_normalization", "remove_reshapes", "fold_padding",
                                   "fold_concat_into_dense", "calibrate", "unite_ranges", "quantize"}) {
        const std::size_t at = all.out.find(std::string("# after ") + pass + "\ngraph \"mnist_cnn\"");
        REQUIRE(at != std::string::npos);
        CHECK(at >= last);
        last = at;
    }
    const Outcome wrong = sim("compile mnist_cnn --dump-after fold_paddin");
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, Catch::Contains("fold_padding"));
}

TEST_CASE("An error in the text of a graph names file, line and column", "[system][graph_text]") {
    const tests::Folder folder;
    const std::string file =
        folder.file("wrong.txt", "graph \"w\"\ninputs %0\noutputs %0\n%0 float33 1x2 \"in\"\n");
    const Outcome wrong = sim("compile " + file + " --machine tpu_v1 --text schedule --random-input 1");
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, Catch::Contains("wrong.txt:4:4: \"float33\": it must be a number format"));
    const std::string none = folder.file("none.txt", "graph \"w\"\ninputs %0\n%0 float32 1x2 \"a\"\n");
    const Outcome no_output = sim("compile " + none + " --machine tpu_v1 --text schedule --random-input 1");
    CHECK(no_output.exit_code == 2);
    CHECK_THAT(no_output.err, Catch::Contains("none.txt:3:1: \"%\": it must be outputs"));
    CHECK(sim("run " + file + " --model models/mnist_cnn/mnist_cnn.h5").exit_code == 2);
}
