// Graph files from the command line, as docs/graph_files.md describes them.
#include <catch2/catch.hpp>
#include <string>

#include "compiler/operators/operator.h"
#include "tests/support/random_graph_file.h"
#include "tests/support/random_runs.h"
#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using tests::report_of;
using tests::sim;

namespace {

std::string example() {
    const std::string page = tests::text_in(tests::project / "docs/graph_files.md");
    const std::string open = "```json\n";
    const std::size_t begin = page.find(open) + open.size();
    return page.substr(begin, page.find("```", begin) - begin);
}

/// A network whose answers differ from input to input; those of global averages of noise would not.
const std::string classifier = R"({
  "schema": "sim.graph/1", "name": "classifier", "input": {"shape": [64]}, "weights": {"seed": 1},
  "layers": [
    {"name": "hidden", "op": "dense", "inputs": ["input"], "units": 100, "activation": "relu"},
    {"name": "scores", "op": "dense", "inputs": ["hidden"], "units": 10}],
  "output": "scores"})";

/// Predictions, cycles and counters, without the figures of this computer.
Json facts(Json report) {
    report.erase("simulator");
    report.erase("config");
    return report;
}

}  // namespace

TEST_CASE("docs/graph_files.md links to every operator, and its example runs", "[system]") {
    CHECK(tests::text_in(tests::project / "docs/graph_files.md").find("(operators.md)") != std::string::npos);
    const std::string page = tests::text_in(tests::project / "docs/operators.md");
    for (const std::string& op : operators::registry().layer_names(ir::Format::GraphJson)) {
        CAPTURE(op);
        CHECK(page.find("| graph JSON | `" + op + "` |") != std::string::npos);
    }
    const tests::Folder folder;
    const std::string run = "--machine tpu_v1 --model " + folder.file("net.json", example());
    const Json report = report_of(run + " --random-input 1 --batch 4");
    CHECK(report["inferences"] == 4);
    CHECK(report["model"] == "residual");
    CHECK(report["predictions"].size() == 4);
    CHECK(report["host_operations"].back()["kind"] == "softmax");
    CHECK(report_of(run + " --timing-only --batch 4")["units"] == report["units"]);
}

TEST_CASE("Made-up input is the same from the same seed and quantizes consistently", "[system]") {
    const tests::Folder folder;
    const std::string run = "--machine tpu_v1 --model " + folder.file("net.json", classifier) +
                            " --limit 50 --batch 20 --random-input ";
    const Json one = report_of(run + "1 --float-reference");
    CHECK(one["inferences"] == 50);
    CHECK(facts(report_of(run + "1 --float-reference")) == facts(one));
    CHECK(report_of(run + "2")["predictions"] != one["predictions"]);
    // The chip's answers are those of the float network, within the error of 8 bits.
    CHECK(one["float_reference"]["agreements"].get<int>() > 40);
}

TEST_CASE("A program takes made-up input, too", "[system]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.json", example());
    const std::string program = (folder / "net.tpu").string();
    REQUIRE(sim("compile --machine tpu_v1 --model " + model + " --random-input 1 --limit 5 --batch 5 -o " +
                program)
                .exit_code == 0);
    const Json report = report_of("--machine tpu_v1 --program " + program + " --random-input 1");
    CHECK(report["predictions"] == report_of("--machine tpu_v1 --model " + model +
                                             " --random-input 1 --limit 5 --batch 5")["predictions"]);
}

TEST_CASE("Timing without values takes the cycles of a run with values", "[system]") {
    const tests::Folder folder;
    for (std::uint32_t seed = 900; seed < 900 + tests::random_runs(4); ++seed) {
        CAPTURE(seed);
        const std::string run = "--machine tpu_v1 --batch 3 --limit 7 --model " +
                                folder.file("net.json", tests::RandomGraphFile(seed).draw().dump());
        const Json values = report_of(run + " --random-input 5");
        const Json timing = report_of(run + " --timing-only");
        for (const char* key : {"cycles", "units", "layers", "traffic", "memory", "matrix_unit"}) {
            CAPTURE(key);
            CHECK(timing[key] == values[key]);
        }
    }
}

TEST_CASE("An error in a graph file or made-up input is one line", "[system]") {
    const tests::Folder folder;
    const std::string model = folder.file("net.json", example());
    const std::string wrong = folder.file("wrong.json", R"({"schema": "sim.graph/2"})");
    struct Case {
        std::string arguments, message;
    };
    for (const auto& [arguments, message] : {
             Case{
                 "run --machine tpu_v1 --timing-only --model " + wrong,
                 "sim: " + wrong + ": schema is \"sim.graph/2\"; it must be \"sim.graph/1\" for a network\n"},
             Case{"run --machine tpu_v1 --model " + model,
                  "sim: a run computes on its input: give --input, --random-input or --timing-only\n"},
             Case{"run --machine tpu_v1 --model " + model + " --random-input -1",
                  "sim: command line: random_input is -1; it must be a whole number from 0 to "
                  "18446744073709551615\n"},
             Case{"run --machine tpu_v1 --model " + model + " --random-input 1 --limit 2000000000",
                  "sim: random_input 1: "},
             Case{"compile --machine tpu_v1 --set timing_only=true --model " + model + " -o " +
                      (folder / "net.tpu").string(),
                  "sim: " + (folder / "net.tpu").string() +
                      ": tile 0: it has no values; such a program can only be timed\n"},
         }) {
        const tests::Outcome outcome = sim(arguments);
        CAPTURE(arguments, outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.err.find(message) == 0);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
}
