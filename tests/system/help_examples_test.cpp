// Every example of every help text, run without changes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/progress.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::bash;
using tests::Folder;
using tests::Outcome;
using tests::sim;

namespace {

namespace fs = std::filesystem;

/// The indented lines below "Examples:", continued where they end in a backslash.
std::vector<std::string> examples_in(const std::string& help) {
    std::istringstream lines(help);
    std::vector<std::string> examples;
    bool inside = false;
    bool continued = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "Examples:") {
            inside = true;
        } else if (inside && line.starts_with("  ")) {
            if (continued) {
                examples.back() += '\n' + line;
            } else {
                examples.push_back(line.substr(2));
            }
            continued = line.ends_with('\\');
        } else {
            inside = false;
        }
    }
    return examples;
}

std::vector<std::string> commands() {
    std::istringstream lines(sim("complete-words -- ''").out);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) {
        const std::string name = line.substr(0, line.find('\t'));
        if (sim(name + " --help").out.find("Usage: sim " + name) != std::string::npos) names.push_back(name);
    }
    return names;
}

/// A folder with links to the project's folders, because examples run in the project's folder.
void fill(const Folder& folder) {
    for (const char* const name : {"configs", "docs"}) {  // some examples write into them
        fs::copy(tests::project / name, folder / name, fs::copy_options::recursive);
    }
    fs::create_directory_symlink(tests::project / "models", folder / "models");
}

}  // namespace

TEST_CASE("The examples of every help work", "[system]") {
    int seen = 0;
    for (const std::string& command : commands()) {
        const Folder folder;
        fill(folder);
        const std::vector<std::string> examples = examples_in(sim(command + " --help").out);
        INFO(command);
        CHECK_FALSE(examples.empty());
        for (const std::string& example : examples) {
            ++seen;
            if (command == "validate") {
                WARN("left out, as it takes a minute and validation_test.cpp does the same: " << example);
                continue;
            }
            const Outcome outcome = bash(example, folder / "");
            INFO(example);
            INFO(outcome.err);
            CHECK(outcome.exit_code == 0);
            CHECK(tests::without_progress(outcome.err).empty());
        }
    }
    CHECK(seen >= 16);
}

TEST_CASE("The examples of sim --help work", "[system]") {
    std::istringstream lines(sim("--help").out);
    int seen = 0;
    for (std::string line; std::getline(lines, line);) {
        const bool is_command = line.starts_with("  sim configs") || line.starts_with("  sim docs");
        if (!is_command) continue;
        ++seen;
        const Outcome outcome = bash(line.substr(0, line.find("    ", 2)), tests::project);
        INFO(line);
        INFO(outcome.err);
        CHECK(outcome.exit_code == 0);
    }
    CHECK(seen == 2);
}
