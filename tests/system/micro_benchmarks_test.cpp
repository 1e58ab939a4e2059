// The programs of docs/micro_benchmarks.md, and the statements of that page.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/page_commands.h"
#include "tests/system/sim_process.h"

using namespace systole;

namespace {

const std::filesystem::path page = tests::project / "docs/micro_benchmarks.md";
const std::filesystem::path programs = tests::project / "docs/micro_benchmarks";

}  // namespace

TEST_CASE("The article's convolution gives the sums of the definition, on both engines", "[system]") {
    constexpr std::size_t side = 6;
    constexpr std::size_t out = 4;
    constexpr std::array<std::array<int, side>, side> image{{{1, 1, 1, 0, 0, 0},
                                                             {1, 1, 1, 0, 0, 0},
                                                             {1, 1, 1, 0, 0, 0},
                                                             {1, 1, 1, 0, 0, 0},
                                                             {1, 1, 1, 1, 1, 1},
                                                             {1, 1, 1, 1, 1, 1}}};
    constexpr std::array<int, 3> falling{1, 0, -1};
    std::vector<int> expected;
    for (std::size_t y = 0; y < out; ++y) {
        for (std::size_t x = 0; x < out; ++x) {
            int vertical = 0;
            int horizontal = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                for (std::size_t j = 0; j < 3; ++j) {
                    vertical += image.at(y + i).at(x + j) * falling.at(j);
                    horizontal += image.at(y + i).at(x + j) * falling.at(i);
                }
            }
            expected.insert(expected.end(), {vertical, horizontal});
        }
    }
    const std::string run =
        "docs/micro_benchmarks/article_convolution.asm --machine "
        "docs/micro_benchmarks/cells_3x2.json --print edges:int8";
    const auto cells = tests::report_of(run);
    CHECK(cells["buffers"][0]["values"].get<std::vector<int>>() == expected);
    const auto whole = tests::report_of(run + " --set machine.matrix_unit.engine=wavefront");
    CHECK(whole["buffers"] == cells["buffers"]);
    CHECK(whole["units"] == cells["units"]);
}

TEST_CASE("The programs that help shows run", "[system]") {
    for (const char* command : {"", "run"}) {
        std::istringstream lines(tests::sim(std::string(command) + " --help").out);
        int examples = 0;
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with("  sim ") || line.find(".asm") == std::string::npos) continue;
            std::string arguments = line.substr(std::string("  sim ").size());
            while (arguments.ends_with('\\') && std::getline(lines, line)) {
                arguments.pop_back();
                arguments += line;
            }
            INFO("sim " << arguments);
            CHECK(tests::sim(arguments).exit_code == 0);
            ++examples;
        }
        CHECK(examples == 1);
    }
}

TEST_CASE("Every micro-benchmark's program is run by the page and survives its program file", "[system]") {
    const std::vector<tests::PageCommand> commands = tests::Page(page).commands();
    const tests::Folder folder;
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(programs)) {
        if (entry.path().extension() != ".asm") continue;
        ++found;
        const std::string name = "docs/micro_benchmarks/" + entry.path().filename().string();
        INFO(name);
        CHECK(std::any_of(commands.begin(), commands.end(), [&](const tests::PageCommand& command) {
            return command.text.find(name) != std::string::npos;
        }));
        const std::string once = (folder / "once.tpu").string();
        const std::string twice = (folder / "twice.tpu").string();
        const std::string text = (folder / "text.asm").string();
        REQUIRE(tests::sim("asm " + name + " -o " + once).exit_code == 0);
        REQUIRE(tests::sim("disasm " + once + " -o " + text).exit_code == 0);
        REQUIRE(tests::sim("asm " + text + " -o " + twice).exit_code == 0);
        CHECK(tests::text_in(once) == tests::text_in(twice));
        CHECK(tests::sim("disasm " + twice).out == tests::text_in(text));
    }
    CHECK(found >= 5);
}
