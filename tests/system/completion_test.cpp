// Completions of shells, as bash itself computes them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole;
using tests::bash;
using tests::Outcome;
using tests::project;

namespace {

std::vector<std::string> lines_in(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The completions that bash offers for the last word. Bash splits words at "=", too.
std::vector<std::string> offered(const std::string& words) {
    const Outcome outcome = bash(
        "source <(sim completion bash)\n"
        "COMP_WORDS=(sim " +
            words +
            ")\n"
            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
            "_sim_complete\n"
            "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n",
        project);
    INFO(words);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    return lines_in(outcome.out);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

using Words = std::vector<std::string>;

/// The names of the files in a folder of configs/ that begin with `typed`, in alphabetical order.
Words names_in(const std::string& folder, const std::string& typed) {
    Words names;
    for (const auto& entry : std::filesystem::directory_iterator(project / "configs" / folder)) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() == ".json" && name.starts_with(typed)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

void check_syntax(const std::string& shell) {
    if (bash("command -v " + shell, project).exit_code != 0) {
        WARN("SKIPPED: " << shell << " is not there");
        return;
    }
    const tests::Folder folder;
    const Outcome outcome =
        bash("sim completion " + shell + " > script && " + shell + " -n script", folder / "");
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
}

}  // namespace

TEST_CASE("bash asks sim for completions", "[system]") {
    const Outcome outcome = bash("source <(sim completion bash) && complete -p sim", project);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == "complete -F _sim_complete sim\n");
}

TEST_CASE("All commands of the help are completed, and no others", "[system]") {
    const std::string help = tests::sim("--help").out;
    std::istringstream lines(help.substr(help.find("Subcommands:")));
    Words commands;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && line.starts_with("  ")) {
        const std::string name = line.substr(2, line.find(' ', 2) - 2);
        if (!name.empty()) commands.push_back(name);
    }
    REQUIRE(commands.size() >= 8);
    const Words words = offered("''");
    for (const std::string& command : commands) CHECK(contains(words, command));
    CHECK(contains(words, "mnist_cnn"));  // a run, with "run" left out
    CHECK(contains(words, "configs"));    // a way to a file
    CHECK_FALSE(contains(words, "complete-words"));
    CHECK(offered("repo") == Words{"report"});
}

TEST_CASE("All options of a command are completed", "[system]") {
    for (const std::string command :
         {"run", "compile", "asm", "disasm", "validate", "baseline", "report", "schema"}) {
        const Words words = offered(command + " -");
        std::istringstream help(tests::sim(command + " --help").out);
        int options = 0;
        for (std::string line; std::getline(help, line);) {
            const std::size_t dashes = line.find("--");
            const bool is_option = line.starts_with("  -") && dashes != std::string::npos && dashes <= 5;
            if (!is_option) continue;
            ++options;
            const std::string name = line.substr(dashes, line.find(' ', dashes) - dashes);
            INFO(command << " " << name);
            CHECK(contains(words, name));
        }
        CHECK(options >= 3);
    }
    CHECK(offered("run --timing") == Words{"--timing-only"});
    CHECK(offered("mnist_cnn --timing") == Words{"--timing-only"});  // "run" left out
    CHECK(offered("run -- --timing").empty());
}

TEST_CASE("Values are completed with the values that the option takes", "[system]") {
    REQUIRE(names_in("machines", "tpu_v1_").size() >= 2);
    CHECK(offered("run --machine tpu_v1_") == names_in("machines", "tpu_v1_"));
    REQUIRE_FALSE(names_in("baselines", "k").empty());
    CHECK(offered("run mnist_cnn --host k") == names_in("baselines", "k"));
    REQUIRE_FALSE(names_in("baselines", "has").empty());
    CHECK(offered("run mnist_cnn --baseline k80 has") == names_in("baselines", "has"));
    CHECK(offered("baseline k") == names_in("baselines", "k"));
    REQUIRE_FALSE(names_in("validation", "tpu").empty());
    CHECK(offered("validate tpu") == names_in("validation", "tpu"));
    REQUIRE_FALSE(names_in("runs", "mnist").empty());
    CHECK(offered("run mnist") == names_in("runs", "mnist"));
    CHECK(offered("completion f") == Words{"fish"});
    CHECK(offered("compile mnist_cnn --text a") == Words{"assembly"});
    CHECK(offered("run --show energy,lay") == Words{"energy,layers"});
    CHECK(offered("run --trace timeline,c") == Words{"timeline,csv"});
    CHECK(offered("run --color = al") == Words{"always"});
    CHECK(offered("run --color = always ''") == offered("run ''"));
    CHECK(offered("run --set machine.clo") == Words{"machine.clock_mhz="});
    CHECK(offered("run --set bat") == Words{"batch="});
    CHECK(offered("run --set batch = 6").empty());
    CHECK(offered("run --batch 2").empty());  // a number
    CHECK(offered("frobnicate --machine k").empty());
}

TEST_CASE("Files and folders are completed", "[system]") {
    CHECK(offered("run --model models/mnist_cnn/mnist_cnn.h") == Words{"models/mnist_cnn/mnist_cnn.h5"});
    CHECK(offered("run --model = models/mnist_cnn/mnist_cnn.h") == Words{"models/mnist_cnn/mnist_cnn.h5"});
    CHECK(offered("run configs/ru") == Words{"configs/runs"});
    CHECK(offered("run --out conf") == Words{"configs"});
    CHECK(offered("run --out configs/runs/").empty());  // files are no folders
    CHECK(offered("asm docs/micro_benchmarks/tile") == Words{"docs/micro_benchmarks/tile_cost.asm"});
}

TEST_CASE("zsh understands its script", "[system]") {
    check_syntax("zsh");
}

TEST_CASE("fish understands its script", "[system]") {
    check_syntax("fish");
}
