#include "sim/cli/app.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <initializer_list>
#include <vector>

using systole::cli::run_app;

namespace {

int run(std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"sim"};
    argv.insert(argv.end(), arguments);
    return run_app(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

TEST_CASE("Help and version exit with 0", "[cli]") {
    CHECK(run({}) == 0);
    CHECK(run({"--help"}) == 0);
    CHECK(run({"--version"}) == 0);
    for (const char* command : {"run", "compile", "asm", "disasm", "report"}) {
        INFO(command);
        CHECK(run({command, "--help"}) == 0);
    }
}

TEST_CASE("Mistakes on the command line are the user's", "[cli]") {
    CHECK(run({"rnu"}) == 2);
    CHECK(run({"--frob"}) == 2);
    CHECK(run({"run", "--frob"}) == 2);
    CHECK(run({"run"}) == 2);
    CHECK(run({"run", "--batch"}) == 2);
    CHECK(run({"run", "a.json", "b.json"}) == 2);
    CHECK(run({"run", "--quiet", "--json"}) == 2);
    CHECK(run({"run", "--program", "a", "--model", "b"}) == 2);
    CHECK(run({"compile", "--text", "poem"}) == 2);
    CHECK(run({"report"}) == 2);
    CHECK(run({"report", "nowhere"}) == 2);
    CHECK(run({"asm"}) == 2);
    CHECK(run({"asm", "nowhere.s", "-o", "out.tpu"}) == 2);
    CHECK(run({"disasm", "nowhere.tpu"}) == 2);
    CHECK(run({"nowhere.json"}) == 2);
}
