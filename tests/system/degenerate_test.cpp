// Runs in which something that figures divide by is 0: no text, page or file shows a number that is none.
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/random_runs.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::sim;

namespace {

/// Not "inf/s".
void check_numbers(const std::string& text, const std::string& what) {
    static const std::regex wrong(R"((^|[^A-Za-z_])-?(nan|inf|infinity|NaN|Infinity)($|[^A-Za-z_/]))");
    std::smatch found;
    INFO(what);
    if (std::regex_search(text, found, wrong)) {
        const auto place = static_cast<std::size_t>(found.position());
        FAIL(text.substr(place < 80 ? 0 : place - 80, 200));
    }
}

void check_run(const std::string& arguments, const tests::Folder& folder) {
    const std::string out = (folder / "out").string();
    const tests::Outcome run =
        sim("run " + arguments + " --out " + out + " --baseline k80 haswell_e5_2699_v3" +
            " --set power_windows=4 --trace timeline");
    INFO(arguments);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    check_numbers(run.out, "text");
    check_numbers(tests::text_in(folder / "out/report.json"), "report.json");
    const tests::Outcome compared = sim("report " + out + " " + out + " --text");
    REQUIRE(compared.exit_code == 0);
    check_numbers(compared.out, "comparison");
    check_numbers(sim("report " + out + " " + out + " --csv").out, "CSV");
    check_numbers(sim("explain " + arguments).out, "explanation");
}

/// A program of a few instructions, or of none, for a network of a few layers, inferences and batches.
std::string random_program(std::mt19937& random) {
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    std::string text = ".array 4 4\n.unified_buffer 0 64 random 2\n.accumulators 8 2 fill 1\n";
    const std::uint32_t layers = below(3);
    if (below(3) > 0) {
        text +=
            ".model net batch=" + std::to_string(below(3)) + " inferences=" + std::to_string(below(3)) + "\n";
    }
    for (std::uint32_t i = 0; i < layers; ++i) {
        text += ".layer l" + std::to_string(i) + " dense macs=" + std::to_string(below(2) * 16) + "\n";
    }
    text += ".tile 4 4 useful=" + std::to_string(below(2) * 16) + " random 1\n";
    const std::uint32_t work = below(6);
    for (std::uint32_t i = 0; i < work; ++i) {
        if (layers > 0) text += "tag " + std::to_string(below(layers + 1)) + "\n";
        switch (below(4)) {
            case 0:
                text += "nop\n";
                break;
            case 1:
                text += "read_weights tile=0\nmatmul ub=0 acc=0 rows=2\n";
                break;
            case 2:
                text +=
                    "set activation.columns 4; set activation.pixel_bytes 4; "
                    "set activation.outputs_per_image 2\nactivate acc=8 ub=20 rows=2 load\n";
                break;
            default:
                break;
        }
    }
    return text + "halt\n";
}

const std::string small =
    " --machine tpu_v1 --set machine.matrix_unit.rows=4 --set machine.matrix_unit.columns=4";

}  // namespace

TEST_CASE("Programs of few cycles, layers or inferences show no number that is none",
          "[system][degenerate]") {
    const tests::Folder folder;
    check_run(folder.file("halt.asm", "halt\n") + " --machine tpu_v1", folder);
    const std::string halted = folder.file("batch.asm", ".model net batch=5 inferences=5\nhalt\n");
    check_run(halted + " --machine tpu_v1", folder);
    CHECK_THAT(sim("run " + halted + " --machine tpu_v1").out, Catch::Contains("the chip computes nothing"));
    const std::string unwritten =
        folder.file("unwritten.asm",
                    ".array 4 4\n.model net batch=5 inferences=10\n.unified_buffer 0 64 random 2\n"
                    ".tile 4 4 useful=16 random 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=2\nhalt\n");
    check_run(unwritten + small, folder);
    CHECK_THAT(sim("run " + unwritten + small).out,
               Catch::Contains("the program has not written results of"));
    check_run(folder.file("none.asm", ".model net batch=0 inferences=5\nnop\nhalt\n") + " --machine tpu_v1",
              folder);
    constexpr std::uint32_t first_seed = 5300;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(12); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const std::string text = random_program(random);
        CAPTURE(text);
        check_run(folder.file("drawn.asm", text) + small, folder);
    }
}

TEST_CASE("Networks without weights, products or work for the chip show no number that is none",
          "[system][degenerate]") {
    const tests::Folder folder;
    const auto network = [&](const std::string& layers, const std::string& output) {
        return folder.file("net.json",
                           R"({"schema": "sim.graph/1", "name": "net", "input": {"shape": [6, 5, 4]},
                               "weights": {"seed": 1}, "layers": [)" +
                               layers + R"(], "output": ")" + output + "\"}");
    };
    const std::vector<std::string> one_layer{
        R"({"name": "l", "op": "max_pool", "inputs": ["input"], "kernel": 2})",
        R"({"name": "l", "op": "add", "inputs": ["input", "input"]})",
        R"({"name": "l", "op": "softmax", "inputs": ["input"]})",
        R"({"name": "l", "op": "softmax", "inputs": ["s"]}, )",
        R"({"name": "l", "op": "dense", "inputs": ["input"], "units": 1})",
        R"({"name": "l", "op": "convolution", "inputs": ["input"], "filters": 1, "kernel": 1})"};
    for (std::size_t i = 0; i < one_layer.size(); ++i) {
        // Two softmax: all of the network is work of the host.
        const std::string before =
            i == 3 ? R"({"name": "s", "op": "softmax", "inputs": ["input"]}, )" : std::string();
        const std::string layers = before + one_layer[i].substr(0, one_layer[i].rfind('}') + 1);
        CAPTURE(layers);
        const std::string run =
            "--machine tpu_v1 --timing-only --batch 1 --limit 1 --model " + network(layers, "l");
        check_run(run, folder);
        const tests::Outcome explained =
            sim("compile --explain --machine tpu_v1 --batch 1 --limit 1 --random-input 1 --model " +
                (folder / "net.json").string());
        INFO(explained.err);
        CHECK(explained.exit_code == 0);
        check_numbers(explained.out, "compile --explain");
        const std::string net = (folder / "net.json").string();
        const tests::Outcome advice = sim("advise --machine tpu_v1 --batches 1,2 --model " + net);
        INFO(advice.err);
        check_numbers(advice.out, "advise");
        // Where the chip does nothing there is no advice; where it works there is, compared or not.
        const bool is_idle = one_layer[i].find("softmax") != std::string::npos;
        CHECK(advice.exit_code == (is_idle ? 2 : 0));
        CHECK((advice.err.find("no figure of the speed of tpu_v1: ") != std::string::npos) == is_idle);
        const bool has_macs = one_layer[i].find("dense") != std::string::npos ||
                              one_layer[i].find("convolution") != std::string::npos;
        CHECK((advice.out.find("No comparison with haswell_e5_2699_v3: ") != std::string::npos) ==
              (!is_idle && !has_macs));
        const tests::Outcome study =
            sim("sweep --timing-only --machine tpu_v1 --baseline k80 --axis batch=1,2 --metric "
                "'x=comparison.k80.speedup' --model " +
                net);
        INFO(study.err);
        CHECK(study.exit_code == 0);
        check_numbers(study.out, "sweep");
        CHECK((study.out.find("No point has a value of x = comparison.k80.speedup") != std::string::npos) ==
              !has_macs);
    }
}
