// The output on a terminal, and in files and pipes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "tests/support/files.h"
#include "tests/system/sim_process.h"
#include "tests/system/terminal_process.h"

using namespace systole;
using tests::Folder;
using tests::Outcome;
using tests::Seen;
using tests::sim;
using tests::sim_on_terminal;

namespace {

const std::string program = "docs/micro_benchmarks/fifo_runs_dry.asm";
const std::string run_program = "run " + program + " --machine tpu_v1 ";

bool has_colours(const std::string& text) {
    return text.find("\x1b[") != std::string::npos;
}

/// The text without the speed of the simulator.
std::string without_speed(const std::string& text) {
    return text.substr(0, text.find("Simulated in"));
}

}  // namespace

TEST_CASE("Only terminals get colours", "[system]") {
    const Seen seen = sim_on_terminal(run_program, 80);
    const Outcome piped = sim(run_program);
    CHECK(seen.exit_code == 0);
    CHECK(has_colours(seen.text));
    CHECK_THAT(seen.text, Catch::Contains("\x1b[1mMatrix unit\x1b[0m"));
    CHECK(piped.exit_code == 0);
    CHECK_FALSE(has_colours(piped.out));
    CHECK(without_speed(seen.without_colours()) == without_speed(piped.out));

    CHECK(without_speed(sim_on_terminal(run_program, 80, "NO_COLOR=1").text) == without_speed(piped.out));
    CHECK(has_colours(sim_on_terminal(run_program, 80, "NO_COLOR=").text));  // set, but empty
    CHECK_FALSE(has_colours(sim_on_terminal(run_program, 80, "TERM=dumb").text));
    CHECK_FALSE(has_colours(sim_on_terminal(run_program + "--color never", 80).text));
    const Outcome always = sim(run_program + "--color always");
    CHECK(has_colours(always.out));
    CHECK(has_colours(sim_on_terminal(run_program + "--color always", 80, "NO_COLOR=1").text));
}

TEST_CASE("Names of files, layers and studies cannot control the terminal", "[system]") {
    const Folder folder;
    const std::string evil = "\x1b[2J\x1b]0;title\x07\x9b";
    const std::string json = R"(\u001b[2J\u001b]0;title\u0007\u009b)";
    const std::filesystem::path network = folder / ("net" + evil + ".json");
    std::string layers;
    for (const char* const layer : {"first", "second"}) {
        const std::string input = layers.empty() ? "input" : "first" + json;
        layers += (layers.empty() ? "" : ",") + std::string(R"({"name": ")") + layer + json +
                  R"(", "op": "dense", "inputs": [")" + input + R"("], "units": 300, "activation": "relu"})";
    }
    write_file(
        network,
        R"({"schema": "sim.graph/1", "name": "net)" + json +
            R"(", "activation_bits": 8, "input": {"shape": [700]}, "weights": {"seed": 1}, "layers": [)" +
            layers + R"(], "output": "second)" + json + R"("})");
    const std::string model = " --machine tpu_v1 --model '" + network.string() + "' --batch 4 ";
    const std::string out = " --out '" + (folder / ("out" + evil)).string() + "'";
    const std::string file = "'" + network.string() + "'";
    for (const std::string& command :
         {"run --timing-only" + model + out, "run --timing-only --show layers" + model, "explain" + model,
          "report '" + (folder / ("out" + evil)).string() + "' --text",
          "report '" + (folder / ("out" + evil)).string() + "' --csv", "run --timing-only --json" + model,
          "advise" + model + "--batches 1,2 --sizes 1,2" + out,
          "sweep --axis batch=1,2 --best latency_ms --name 's" + evil + "'" + model + out,
          "sweep '" + (folder / ("out" + evil) / ("s" + evil + ".sqlite")).string() +
              "' --pareto latency_ms,watts",
          "sweep --axis 'model=[\"" + folder.path().string() + "/nowhere" + json +
              "\"]' --set machine=tpu_v1 --limit 4",
          "compile --machine tpu_v1 --text graph --model " + file,
          "compile --machine tpu_v1 --explain --model " + file, "run " + file + "x",
          "compile --machine " + file, "report " + file + " " + file}) {
        for (const char* const colour : {"NO_COLOR=1", "NO_COLOR="}) {
            const Seen seen = sim_on_terminal(command, 80, colour);
            INFO(command << "\n" << seen.text);
            CHECK((seen.exit_code == 0 || seen.exit_code == 2));
            CHECK_FALSE(seen.text.empty());
            const std::string shown = seen.without_colours();
            CHECK(shown.find('\x1b') == std::string::npos);
            CHECK(shown.find('\x07') == std::string::npos);
            CHECK(shown.find('\x9b') == std::string::npos);
            CHECK(seen.text.find("\x1b[2J") == std::string::npos);
        }
    }
}

TEST_CASE("Errors are red on a terminal", "[system]") {
    const Seen seen = sim_on_terminal("run nowhere.json", 80);
    CHECK(seen.exit_code == 2);
    const std::string message =
        " nowhere.json: there is no such file; looked in the current folder; there are mnist_cnn, "
        "small_decoder\n";
    CHECK(seen.text == "\x1b[31msim:\x1b[0m" + message);
    CHECK(sim_on_terminal("run nowhere.json", 80, "NO_COLOR=1").text == "sim:" + message);
    CHECK(sim("run nowhere.json").err == "sim:" + message);
}

TEST_CASE("A run whose compilation takes long says that it goes on", "[system]") {
    const std::string run =
        "run mnist_cnn --timing-only --set input=null --set labels=null --batch 2147483648";
    const Seen seen = sim_on_terminal(run, 80, "timeout --signal INT 4");
    CHECK_THAT(seen.sent, Catch::Contains("\r\x1b[Kreading and compiling for 2 s so far"));
    const Seen quiet = sim_on_terminal(run + " --quiet", 80, "timeout --signal INT 3");
    CHECK_THAT(quiet.sent, !Catch::Contains("compiling"));
}

TEST_CASE("Texts fit the terminal", "[system]") {
    const auto columns = static_cast<unsigned short>(GENERATE(60, 80, 100, 140));
    const std::string small_cells =
        "run docs/micro_benchmarks/article_convolution.asm --machine docs/micro_benchmarks/cells_3x2.json ";
    const std::vector<std::string> commands{
        "run mnist_cnn --timing-only --limit 2 --baseline haswell_e5_2699_v3 k80 --host haswell_e5_2699_v3",
        "run mnist_cnn --limit 2 --instructions --show instructions",
        small_cells + "--registers all",
        "baseline k80",
        "run --help",
        "validate --help"};
    for (const std::string& arguments : commands) {
        const Seen seen = sim_on_terminal(arguments, columns);
        INFO(arguments);
        CHECK(seen.exit_code == 0);
        // Examples in a help text are not wrapped.
        const std::string text = seen.without_colours();
        std::istringstream lines(text.substr(0, text.find("\nExamples:\n")));
        std::size_t longest = 0;
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            CHECK(line.size() <= columns);
            longest = std::max(longest, line.size());
        }
        CHECK(longest > 40);
    }
}

TEST_CASE("COLUMNS changes the text on a terminal, but not in a file", "[system]") {
    const std::string fixed = without_speed(sim(run_program).out);
    CHECK(without_speed(sim_on_terminal(run_program, 140, "COLUMNS=80 NO_COLOR=1").text) == fixed);
    const Outcome piped = tests::bash("COLUMNS=60 sim " + run_program, tests::project);
    CHECK(without_speed(piped.out) == fixed);
}

TEST_CASE("Every command that prints text has --quiet and --json", "[system]") {
    const Folder folder;
    const std::string file = (folder / "made").string();
    const std::string results = (folder / "results").string();
    REQUIRE(sim("run mnist_cnn --limit 2 --batch 2 --quiet --out " + results).exit_code == 0);
    struct Case {
        std::string arguments;
        std::string key;  ///< of its JSON
        std::string text;
    };
    const std::vector<Case> cases{
        {"run mnist_cnn --limit 2 --batch 2", "cycles", "Matrix unit"},
        {"compile mnist_cnn --limit 2 --batch 2 -o " + file, "layers", "2 inferences in batches of 2"},
        {"asm " + program + " -o " + file, "instruction_count", " instructions, "},
        {"baseline k80", "peak_fp32_gflops", "k80: "},
        {"report " + results + " --out " + file, "page", "Page in "},
    };
    for (const Case& each : cases) {
        INFO(each.arguments);
        const Outcome text = sim(each.arguments);
        CHECK(text.exit_code == 0);
        CHECK_THAT(text.out, Catch::Contains(each.text));
        const Outcome quiet = sim(each.arguments + " --quiet");
        CHECK(quiet.exit_code == 0);
        CHECK(quiet.out.empty());
        CHECK(quiet.err.empty());
        const Outcome json = sim(each.arguments + " --json");
        CHECK(json.exit_code == 0);
        CHECK(json.json().contains(each.key));
        CHECK(sim(each.arguments + " --quiet --json").exit_code == 2);
    }
}

TEST_CASE("A program is printed as JSON, too", "[system]") {
    const auto json = sim("disasm " + program + " --json").json();
    CHECK(json["instructions"].size() == json["instruction_count"].get<std::size_t>());
    CHECK(json["instructions"].back() == "halt");
    CHECK(json["array"]["rows"] == 256);
    CHECK_FALSE(json.contains("layers"));
}

TEST_CASE("A target is not taken for the file to write", "[system]") {
    const Outcome outcome = sim("validate --json tpu_v1");
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::Contains("sim validate tpu_v1 --json"));
}
