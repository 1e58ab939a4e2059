// Traces of the shipped network, as `sim run` writes them, agree with the report.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "tests/support/csv.h"
#include "tests/support/timeline.h"
#include "tests/system/sim_process.h"

using namespace systole::tests;

namespace {

const std::string run = "run configs/runs/mnist_cnn.json --limit 64 --batch 32 ";

nlohmann::json traced(const Folder& folder, const std::string& options) {
    const Outcome outcome = sim(run + "--quiet --out " + (folder / "").string() + " " + options);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return nlohmann::json::parse(text_in(folder / "report.json"));
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename());
    return names;
}

std::string error_of(const std::string& options) {
    const Outcome outcome = sim(run + options);
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    return outcome.err;
}

}  // namespace

TEST_CASE("The timeline of the shipped network agrees with its report", "[system][trace]") {
    const Folder folder;
    const nlohmann::json report = traced(folder, "--trace timeline,csv,text --power-windows 25");
    const ReadTimeline timeline = read_timeline(folder / "timeline.json.gz");
    CHECK(overlap(timeline).value_or("") == "");
    CHECK(broken_flow(timeline).value_or("") == "");

    const nlohmann::json& counted = report.at("matrix_unit");
    const std::string track = "matrix unit";
    CHECK(timeline.sum(track, "active") == counted.at("active_cycles"));
    CHECK(timeline.cycles(track, "weight_stall") == counted.at("weight_stall_cycles"));
    CHECK(timeline.cycles(track, "weight_shift") == counted.at("weight_shift_cycles"));
    std::uint64_t all = 0;
    for (const auto& slice : timeline.tracks.at(track)) all += slice.end - slice.begin;
    CHECK(all == report.at("cycles"));
    CHECK(all - timeline.sum(track, "active") - timeline.cycles(track, "weight_stall") -
              timeline.cycles(track, "weight_shift") ==
          counted.at("non_matrix_cycles"));

    std::map<std::string, std::uint64_t> layers;
    for (const auto& slice : timeline.tracks.at("layers")) layers[slice.name] += slice.end - slice.begin;
    for (const nlohmann::json& layer : report.at("layers")) {
        CAPTURE(layer.at("name"));
        CHECK(layers[layer.at("name")] == layer.at("cycles"));
    }

    CHECK(timeline.last("weight memory read bytes") == report.at("traffic").at("weight_bytes"));
    CHECK(timeline.last("host read bytes") == report.at("traffic").at("host_read_bytes"));
    CHECK(timeline.last("host write bytes") == report.at("traffic").at("host_write_bytes"));
    for (const std::int64_t tiles : timeline.counters.at("weight FIFO tiles"))
        CHECK((tiles >= 0 && tiles <= 4));
    CHECK(timeline.counters.at("power chip_static").size() == 25);
    const auto& rows = timeline.counters.at("unified buffer rows");
    const nlohmann::json& memory = report.at("memory");
    const std::int64_t peak = *std::max_element(rows.begin(), rows.end());
    CHECK(peak > 0);
    CHECK(peak * 256 <= memory.at("unified_buffer_peak_bytes"));
    CHECK(*std::min_element(rows.begin(), rows.end()) >= 0);
    CHECK(rows.back() == 0);
    CHECK(timeline.flows.size() > 2);
}

TEST_CASE("The instruction trace has a line for each instruction and repetition", "[system][trace]") {
    const Folder folder;
    const nlohmann::json report = traced(folder, "--trace csv --trace text --instructions");
    CHECK(files_in(folder / "") ==
          std::set<std::string>{"instructions.csv", "instructions.txt", "report.html", "report.json"});
    const Csv csv = read_csv(text_in(folder / "instructions.csv"));
    // The report's table has the same lines with the same times, of sync and of the sequencer's, too.
    const nlohmann::json& times = report.at("instruction_times");
    CHECK(csv.lines.size() == times.size());
    std::map<std::pair<std::string, std::string>, nlohmann::json> by_number;
    for (const nlohmann::json& line : times) {
        by_number[{line.at("number").dump(), line.at("repetition").dump()}] = line;
    }
    for (const auto& line : csv.lines) {
        const nlohmann::json& same = by_number.at({line.at("number"), line.at("repetition")});
        for (const char* const key : {"issued", "begun", "released", "complete"}) {
            INFO(line.at("number") << " " << line.at("instruction") << " " << key);
            REQUIRE(same.at(key).dump() == line.at(key));
        }
    }
    const std::string text = text_in(folder / "instructions.txt");
    CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == csv.lines.size() + 1);
    const nlohmann::json& counted = report.at("matrix_unit");
    for (const std::string column :
         {"active", "weight_stall", "weight_shift", "non_matrix", "raw_stall", "input_stall"}) {
        CAPTURE(column);
        CHECK(csv.sum(column) == counted.at(column + "_cycles"));
    }
}

TEST_CASE("A window of a trace is smaller, and chosen by cycle or by layer", "[system][trace]") {
    const Folder folder;
    traced(folder, "--trace csv --trace-from 20000 --trace-to 40000 --trace-layers conv2d,dense");
    const Csv csv = read_csv(text_in(folder / "instructions.csv"));
    REQUIRE(!csv.lines.empty());
    for (const auto& line : csv.lines) {
        CHECK((line.at("layer") == "conv2d" || line.at("layer") == "dense"));
        CHECK(std::stoull(line.at("begun")) - std::stoull(line.at("waited")) < 40000);
        CHECK(std::stoull(line.at("complete")) >= 20000);
    }
}

TEST_CASE("A run file can request a trace, and options override it", "[system][trace]") {
    const Folder folder;
    nlohmann::json object = nlohmann::json::parse(text_in(project / "configs/runs/mnist_cnn.json"));
    object["limit"] = 32;
    object["batch"] = 32;
    object["out"] = (folder / "out").string();
    object["trace"] = {{"kinds", "csv"}, {"from", 100}, {"layers", {"dense"}}};
    const std::string file = folder.file("run.json", object.dump());
    const auto run_file = [&](const std::string& options) {
        const Outcome outcome = sim("run " + file + " --quiet " + options);
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return nlohmann::json::parse(text_in(folder / "out/report.json"))
            .at("configuration")
            .at("run")
            .at("trace");
    };
    const nlohmann::json as_written = run_file("");
    CHECK(as_written.at("kinds") == nlohmann::json{"csv"});
    CHECK(as_written.at("from") == 100);
    for (const auto& line : read_csv(text_in(folder / "out/instructions.csv")).lines) {
        CHECK(line.at("layer") == "dense");
    }
    const nlohmann::json overridden = run_file("--trace text --trace-from 7 --set trace.to=90000");
    CHECK(overridden.at("kinds") == nlohmann::json{"text"});
    CHECK(overridden.at("from") == 7);
    CHECK(overridden.at("to") == 90000);
}

TEST_CASE("Errors in settings of traces are one line", "[system][trace]") {
    const Folder folder;
    const std::string out = " --out " + (folder / "").string();
    CHECK_THAT(error_of("--trace timelines" + out), Catch::Contains("did you mean \"timeline\"?"));
    CHECK_THAT(error_of("--trace csv"), Catch::Contains("out is missing; traces need a folder"));
    CHECK_THAT(error_of("--trace csv --trace-from 9 --trace-to 9" + out),
               Catch::Contains("trace.to is 9; the window is empty"));
    CHECK_THAT(error_of("--trace csv --trace-to 0" + out),
               Catch::Contains("--trace-to is 0; the window is empty"));
    CHECK_THAT(error_of("--trace csv --trace-from ten" + out), Catch::Contains("trace.from is \"ten\""));
    CHECK_THAT(error_of("--trace-to 9" + out), Catch::Contains("give trace.kinds, too"));
    CHECK_THAT(error_of("--trace csv --trace-layers conv2" + out),
               Catch::Contains("the program has no such layer; did you mean \"conv2d\"?"));
    CHECK_THAT(error_of("--trace csv --trace-from 999999999" + out),
               Catch::Contains("the window is empty: the run ended after"));
    std::filesystem::create_directories(folder / "other/instructions.csv");
    CHECK_THAT(error_of("--trace csv --out " + (folder / "other").string()),
               Catch::Contains("instructions.csv: cannot be written: Is a directory"));
}
