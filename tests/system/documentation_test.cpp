// The commands that pages show print the output that the pages show.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/console_blocks.h"
#include "tests/system/install.h"
#include "tests/system/sim_process.h"

namespace systole::tests {
namespace {

/// The folder for files that the commands write.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

void check_page(const std::string& page, std::size_t least) {
    const Folder folder;
    const std::string results = (folder / "results").string() + "/";
    const std::vector<Command> commands = commands_of(project / page);
    CHECK(commands.size() >= least);
    for (const Command& command : commands) {
        INFO("sim " << command.arguments);
        const Outcome outcome = sim(replaced(command.arguments, "results/", results));
        CHECK(outcome.err.empty());
        CHECK(outcome.exit_code == 0);
        CHECK(replaced(outcome.out, results, "results/") == command.output);
    }
}

}  // namespace

TEST_CASE("docs/micro_benchmarks.md shows the output of its commands", "[system]") {
    check_page("docs/micro_benchmarks.md", 5);
}

TEST_CASE("docs/tutorial.md shows the output of its commands, for an installed sim in an empty folder",
          "[system]") {
    const Folder folder;
    const std::filesystem::path prefix = install("simulator", folder);
    std::filesystem::create_directory(folder / "empty");
    const std::vector<Command> commands = commands_of(project / "docs/tutorial.md");
    CHECK(commands.size() >= 12);
    for (const Command& command : commands) {
        INFO("sim " << command.arguments);
        const Outcome outcome = bash("exec sim " + command.arguments, folder / "empty", prefix / "bin");
        CHECK(outcome.err.empty());
        CHECK(outcome.exit_code == 0);
        CHECK(outcome.out == command.output);
    }
}

TEST_CASE("README.md shows the output of its command", "[system]") {
    check_page("README.md", 1);
}

}  // namespace systole::tests
