// Waves of shipped programs and networks, as `sim run` writes them, agree with the report and with
// docs/waves.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/vcd.h"
#include "tests/system/sim_process.h"

using namespace systole::tests;

namespace {

const std::string waves_network = "run configs/runs/mnist_cnn.json --limit 64 --batch 32 ";
const std::string waves_program =
    "run docs/micro_benchmarks/article_convolution.asm --machine docs/micro_benchmarks/cells_3x2.json ";

/// A run's report; its waves are in the folder.
nlohmann::json run_with_waves(const Folder& folder, const std::string& run, const std::string& options) {
    const Outcome outcome =
        sim(run + "--quiet --trace waves --out " + (folder / "").string() + " " + options);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
    return nlohmann::json::parse(text_in(folder / "report.json"));
}

ReadVcd waves_in(const Folder& folder) {
    return read_vcd(text_in(folder / "waves.vcd"));
}

std::string waves_mistake(const std::string& options) {
    const Outcome outcome = sim(options);
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return outcome.err;
}

/// The text of a page's line between two others.
std::string text_between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t first = text.find(begin);
    REQUIRE(first != std::string::npos);
    const std::size_t last = text.find(end, first);
    REQUIRE(last != std::string::npos);
    return text.substr(first, last - first);
}

}  // namespace

TEST_CASE("The waves of the shipped network agree with its report", "[system][waves]") {
    const Folder folder;
    const nlohmann::json report = run_with_waves(folder, waves_network, "");
    const ReadVcd waves = waves_in(folder);
    CHECK(waves.end_cycle() == report.at("cycles"));
    const nlohmann::json& counted = report.at("matrix_unit");
    std::uint64_t sum = 0;
    for (const std::string state : {"active", "weight_stall", "weight_shift", "non_matrix"}) {
        CAPTURE(state);
        CHECK(waves.count("matrix_unit." + state) == counted.at(state + "_cycles"));
        sum += waves.count("matrix_unit." + state);
    }
    CHECK(sum == report.at("cycles"));
    CHECK(waves.count("matrix_unit.raw_stall") == counted.at("raw_stall_cycles"));
    CHECK(waves.count("matrix_unit.input_stall") == counted.at("input_stall_cycles"));
    for (const ReadVcd::Value& tiles : waves.by_cycle("weight_fifo.tiles")) REQUIRE(*tiles <= 4);

    // The cycles of a layer are those in which the matrix unit has its tag.
    const auto layers = waves.by_cycle("matrix_unit.layer");
    std::uint64_t tag = 0;
    for (const nlohmann::json& layer : report.at("layers")) {
        const std::string name = layer.at("name");
        CAPTURE(name);
        const std::uint64_t of = name == "(outside layers)" ? 0 : ++tag;
        CHECK(static_cast<std::uint64_t>(std::count(layers.begin(), layers.end(), ReadVcd::Value(of))) ==
              layer.at("cycles"));
    }
}

TEST_CASE("A window of waves has the cycles that it names", "[system][waves]") {
    const Folder whole;
    const Folder part;
    run_with_waves(whole, waves_network, "");
    run_with_waves(part, waves_network, "--trace-from 20000 --trace-to 20500");
    const ReadVcd shown = waves_in(part);
    const ReadVcd all = waves_in(whole);
    CHECK(shown.end_cycle() == 20500);
    for (const auto& [name, signal] : all.signals) {
        CAPTURE(name);
        const std::string inside = name.substr(name.find('.') + 1);
        CHECK(shown.at(inside, 19999) == std::nullopt);
        for (std::uint64_t cycle = 20000; cycle < 20500; ++cycle) {
            REQUIRE(shown.at(inside, cycle) == all.at(inside, cycle));
        }
    }
}

TEST_CASE("The registers in waves are those of docs/micro_benchmarks.md", "[system][waves]") {
    const Folder folder;
    run_with_waves(folder, waves_program, "--trace-pe 0-2,0 --trace-pe 2,1");
    const ReadVcd waves = waves_in(folder);
    const auto value = [&](const std::string& name, std::uint64_t cycle) {
        return static_cast<std::int16_t>(waves.at("matrix_unit.pe_" + name, cycle).value());
    };
    // The page's first table: cell 2,0 takes its weight in cycle 21, cell 2,1 makes 3 in cycle 22.
    CHECK(value("2_0.shadow_weight", 15) == 0);
    CHECK(value("2_0.shadow_weight", 16) == -1);
    CHECK(value("2_0.weight", 20) == 0);
    CHECK(value("2_0.weight", 21) == -1);
    CHECK(value("2_0.activation", 21) == 1);
    CHECK(value("2_0.partial_sum", 20) == 0);
    CHECK(value("1_0.partial_sum", 20) == 1);
    CHECK(value("0_0.partial_sum", 19) == 1);
    CHECK(value("2_1.partial_sum", 21) == 0);
    CHECK(value("2_1.partial_sum", 22) == 3);
    CHECK(value("2_1.partial_sum", 23) == 2);
}

TEST_CASE("docs/waves.md shows the picture that its commands draw", "[system][waves]") {
    const std::string page = text_in(project / "docs/waves.md");
    const Folder folder;
    // The commands as they stand there, without the backslashes at the ends of lines.
    const auto command = [&](const std::string& begin, const std::string& end) {
        std::string text = text_between(page, begin, end);
        for (std::size_t at = 0; (at = text.find("\\\n", at)) != std::string::npos;) text.erase(at, 2);
        for (std::size_t at = 0; (at = text.find("results/", at)) != std::string::npos;) {
            text.replace(at, 8, (folder / "").string());
        }
        return text;
    };
    const Outcome outcome =
        sim(command("run docs/micro_benchmarks/article_convolution.asm", "\n$") + " --quiet");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const ReadVcd waves = waves_in(folder);
    // The figures in the page's text.
    CHECK(waves.count("matrix_unit.active") == 48);
    CHECK(waves.count("matrix_unit.weight_stall") == 20);
    CHECK(waves.count("matrix_unit.weight_shift") == 9);
    CHECK(waves.count("matrix_unit.non_matrix") == 48);

    if (std::system("python3 --version >/dev/null 2>&1") != 0) {
        WARN("SKIPPED: there is no python3");
        return;
    }
    const std::string draw = command("scripts/draw_waves.py", "```");
    const std::string where = "cd '" + project.string() + "' && python3 -B ";
    REQUIRE(std::system((where + draw).c_str()) == 0);
    CHECK(text_in(folder / "convolution.svg") == text_in(project / "docs/waves/convolution.svg"));
}

TEST_CASE("A run file can request waves", "[system][waves]") {
    const Folder folder;
    const nlohmann::json object = {
        {"schema", "sim.run/1"},
        {"machine", (project / "docs/micro_benchmarks/cells_3x2.json").string()},
        {"program", (project / "docs/micro_benchmarks/article_convolution.asm").string()},
        {"out", (folder / "out").string()},
        {"trace", {{"kinds", "waves"}, {"from", 10}, {"to", 30}, {"processing_elements", "0,0"}}}};
    const Outcome outcome = sim("run " + folder.file("run.json", object.dump()) + " --quiet");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const ReadVcd waves = read_vcd(text_in(folder / "out/waves.vcd"));
    CHECK(waves.end_cycle() == 30);
    CHECK(waves.signals.count("tpu.matrix_unit.pe_0_0.weight") == 1);
}

TEST_CASE("Errors in settings of waves are one line", "[system][waves]") {
    const Folder folder;
    const std::string out = "--out " + (folder / "").string() + " ";
    CHECK_THAT(waves_mistake(waves_network + "--trace wave " + out),
               Catch::Contains("did you mean \"waves\"?"));
    CHECK_THAT(waves_mistake(waves_network + "--trace waves --trace-layers conv2d " + out),
               Catch::Contains("give trace.from and trace.to"));
    CHECK_THAT(
        waves_mistake(waves_network + "--trace waves --trace-pe 0,0 " + out),
        Catch::Contains("trace.processing_elements is \"0,0\"; the machine's engine has no registers"));
    CHECK_THAT(waves_mistake(waves_program + "--trace waves --trace-pe 0,2 " + out),
               Catch::Contains("the array has 2 columns, numbered from 0 to 1"));
    CHECK_THAT(waves_mistake(waves_program + "--trace waves --trace-pe 0,0 --timing-only " + out),
               Catch::Contains("a timing-only run has no values in registers"));
    CHECK_THAT(waves_mistake(waves_program + "--trace csv --trace-pe 0,0 " + out),
               Catch::Contains("give \"waves\" among trace.kinds"));
    CHECK_THAT(waves_mistake(waves_program + "--trace waves --trace-to 99000000 " + out),
               Catch::Contains("waves show 5000000 cycles at most"));
    CHECK_THAT(waves_mistake(waves_program + "--trace waves --trace-from 9000 " + out),
               Catch::Contains("the window is empty: the run ended after"));
    std::filesystem::create_directories(folder / "other/waves.vcd");
    CHECK_THAT(waves_mistake(waves_program + "--trace waves --out " + (folder / "other").string()),
               Catch::Contains("waves.vcd: cannot be written: Is a directory"));
}
