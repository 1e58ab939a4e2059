// report.json with the data of its page, and the page beside it.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/record/record.h"
#include "tests/support/csv.h"
#include "tests/system/sim_process.h"

namespace systole::tests {
namespace {

using Json = nlohmann::ordered_json;

Json report_in(const std::filesystem::path& folder) {
    return Json::parse(text_in(folder / "report.json"));
}

/// The report in a page that leaves nothing out.
Json reports_in_page(const std::filesystem::path& page) {
    const std::string text = text_in(page);
    const std::string begin = R"(<script type="application/json" id="reports">)";
    const std::size_t first = text.find(begin);
    INFO(page);
    REQUIRE(first != std::string::npos);
    const std::size_t at = first + begin.size();
    return Json::parse(text.substr(at, text.find("</script>", at) - at));
}

Json path_of(const Json& report, const std::string& from, const std::string& to) {
    for (const Json& each : report["paths"]) {
        if (each["from"] == from && each["to"] == to) return each;
    }
    FAIL("no path from " << from << " to " << to);
    return Json();
}

Json run_into(const std::filesystem::path& folder, const std::string& arguments) {
    const Outcome outcome = sim("run " + arguments + " --quiet --out " + folder.string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return report_in(folder);
}

}  // namespace

TEST_CASE("A run with --out writes report.json and report.html", "[system][report]") {
    const Folder folder;
    Json report = run_into(folder / "a", "mnist_cnn --limit 100");
    const Json carried = reports_in_page(folder / "a" / "report.html");
    REQUIRE(carried.size() == 1);
    CHECK(carried[0]["report"] == report);

    std::filesystem::remove(folder / "a" / "report.html");
    CHECK(sim("report " + (folder / "a").string()).exit_code == 0);
    CHECK(reports_in_page(folder / "a" / "report.html")[0]["report"] == report);
}

TEST_CASE("sim report puts several reports into one page", "[system][report]") {
    const Folder folder;
    const std::string program = "docs/micro_benchmarks/tile_cost.asm --machine tpu_v1";
    const Json first = run_into(folder / "a", program);
    const Json second = run_into(folder / "b", program + " --set machine.clock_mhz=1400");
    const std::string page = (folder / "both.html").string();
    const Outcome outcome = sim("report " + (folder / "a").string() + " " +
                                (folder / "b" / "report.json").string() + " --out " + page);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == "Page in " + page + "\n");
    const Json carried = reports_in_page(page);
    REQUIRE(carried.size() == 2);
    CHECK(carried[0]["report"]["cycles"] == first["cycles"]);
    CHECK(carried[1]["report"]["cycles"] == second["cycles"]);
    CHECK(carried[1]["report"]["configuration"]["machine"]["clock_mhz"] == 1400);
}

TEST_CASE("sim report compares several reports as text and as CSV", "[system][report]") {
    const Folder folder;
    const std::string program = "docs/micro_benchmarks/tile_cost.asm --machine tpu_v1";
    const Json first = run_into(folder / "a", program);
    const Json second = run_into(folder / "b", program + " --set machine.weight_memory.bandwidth_gb_per_s=3");
    const std::string both = "report " + (folder / "a").string() + " " + (folder / "b").string();

    const Outcome text = sim(both + " --text --against 2");
    INFO(text.err);
    CHECK(text.exit_code == 0);
    CHECK(text.out.starts_with("2 reports side by side; differences are to b\n"));
    for (const char* const words : {"cycles", "Cycles by layer", " weight_memory.bandwidth_gb_per_s "}) {
        INFO(words);
        CHECK(text.out.find(words) != std::string::npos);
    }
    const Csv csv = read_csv(sim(both + " --csv").out);
    REQUIRE(csv.lines.size() == 2);
    CHECK(csv.lines[1].at("report") == "b");
    CHECK(csv.lines[1].at("cycles") == std::to_string(second["cycles"].get<std::uint64_t>()));
    CHECK(std::stod(csv.lines[1].at("cycles_difference")) ==
          Approx(second["cycles"].get<double>() / first["cycles"].get<double>() - 1.0));
    CHECK(csv.lines[1].at("machine.weight_memory.bandwidth_gb_per_s") == "3");
    CHECK_FALSE(std::filesystem::exists(folder / "both.html"));
}

TEST_CASE("A batch that does not fit says what was done, and a smaller one is as fast", "[system][report]") {
    const std::string network = "--machine tpu_v1 --model models/isca17/mlp0.json --timing-only ";
    const Json asked = report_of(network + "--batch 1000 --set machine.unified_buffer.rows=10000");
    const Json& batching = asked["batching"];
    CHECK(batching["asked"] == 1000);
    CHECK(batching["limited_by"] == "unified_buffer");
    const std::uint64_t limit = batching["limit"];
    CHECK(limit < 1000);
    CHECK(batching["at_a_time"] <= limit);
    CHECK(batching["slices"].get<std::uint64_t>() == (1000 + limit - 1) / limit);

    const Outcome text =
        sim("run " + network + "--batch 1000 --set machine.unified_buffer.rows=10000 --show summary");
    CHECK(text.out.find(fmt::format("batches of 1,000, {} at a time", batching["at_a_time"].get<int>())) !=
          std::string::npos);
    CHECK(text.out.find(fmt::format("unified buffer holds {}", limit)) != std::string::npos);

    const Json better = report_of(
        fmt::format("{}--batch {} --limit 1000 --set machine.unified_buffer.rows=10000", network, limit));
    CHECK(better["batching"]["text"] == "");
    // The slices of the larger batch are fewer, but as large as these batches.
    CHECK(better["inferences_per_second"].get<double>() * machine::BatchFacts::noticeable >=
          asked["inferences_per_second"].get<double>());
}

TEST_CASE("A run with --out lists every file that it wrote", "[system][report]") {
    const Folder folder;
    const std::filesystem::path out = folder / "r";
    const Outcome outcome =
        sim("run docs/micro_benchmarks/tile_cost.asm --machine tpu_v1 --trace csv,timeline --out " +
            out.string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(out)) {
        ++files;
        INFO(file.path());
        CHECK(outcome.out.find(file.path().string()) != std::string::npos);
    }
    CHECK(files == 4);
}

TEST_CASE("Of a folder with other results, sim report shows the reports and names the others",
          "[system][report]") {
    const Folder folder;
    const std::string program = "docs/micro_benchmarks/tile_cost.asm --machine tpu_v1";
    run_into(folder / "a", program);
    run_into(folder / "b", program + " --set machine.clock_mhz=1400");
    const auto quiet = [&](const std::string& arguments) {
        REQUIRE(sim(arguments + (folder / "x").string()).exit_code == 0);
        for (const auto& each : std::filesystem::directory_iterator(folder / "x")) {
            std::filesystem::rename(each.path(), folder.path() / each.path().filename());
        }
    };
    REQUIRE(sim("advise mnist_cnn --batches 1,8 --sizes 1 --out " + (folder / "advice").string()).exit_code ==
            0);
    quiet("advise mnist_cnn --batches 1,8 --sizes 1 --out ");
    quiet("sweep mnist_cnn --limit 4 --name s --axis batch=1,2 --quiet --out ");
    std::filesystem::create_directory(folder / "nothing");
    std::string all;
    for (const auto& each : std::filesystem::directory_iterator(folder.path()))
        all += " " + each.path().string();
    const Outcome text = sim("report" + all + " --text");
    INFO(text.err);
    CHECK(text.exit_code == 0);
    CHECK(text.out.find("2 reports side by side") != std::string::npos);
    CHECK(std::count(text.err.begin(), text.err.end(), '\n') == 1);
    CHECK(text.err.starts_with("sim: warning: left out, as no reports: "));
    const std::string at = folder.path().string() + "/";
    for (const std::string& named :
         {at + "advice (an advice: its page is advice.html)", at + "advice.json (of the kind sim.advice/1)",
          at + "advice.html (no file of JSON)", at + "s.sqlite (no file of JSON)",
          at + "nothing (a folder without report.json)"}) {
        INFO(named);
        CHECK(text.err.find(named) != std::string::npos);
    }
    // What is broken, or not there, is an error as before.
    const std::string reports = "report " + at + "a " + at + "b ";
    const std::string broken = folder.file("broken.json", "{");
    CHECK(sim(reports + broken).exit_code == 2);
    CHECK(sim(reports + at + "nowhere").err.starts_with("sim: " + at + "nowhere: there is no such file"));
    const Outcome none = sim("report " + at + "advice " + at + "nothing");
    CHECK(none.exit_code == 2);
    CHECK(none.err.starts_with("sim: no report among " + at + "advice (an advice"));
}

TEST_CASE("A file that is not a report is rejected in one line", "[system][report]") {
    const Folder folder;
    const std::string other = folder.file("other.json", R"({"schema": "sim.machine/1"})");
    const std::string broken = folder.file("broken.json", "{");
    const std::string empty = folder.file("empty.json", R"({"schema": "sim.report/1"})");
    for (const auto& [file, rule] :
         {std::pair{other, R"(schema is "sim.machine/1"; it must be "sim.report/1")"},
          std::pair{broken, "is not JSON"}, std::pair{empty, "machine is missing; it must be a text"},
          std::pair{(folder / "nowhere").string(), "there is no such file"}}) {
        const Outcome outcome = sim("report " + file);
        INFO(outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.starts_with("sim: " + file + ": "));
        CHECK(outcome.err.find(rule) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
    CHECK_FALSE(std::filesystem::exists(folder / "report.html"));
}

TEST_CASE("The occupancy of the unified buffer stays within its peak and its size", "[system][report]") {
    const Folder folder;
    const Json report = run_into(folder / "a", "mnist_cnn --limit 300");
    const Json& memory = report["memory"];
    const Json& time = memory["over_time"];
    const std::uint64_t cycles = report["cycles"];
    const std::uint64_t window = time["window_cycles"];
    const std::size_t windows = (cycles + window - 1) / window;
    for (const char* const key : {"unified_buffer_bytes", "accumulator_rows", "weight_fifo_tiles"}) {
        INFO(key);
        CHECK(time[key].size() == windows);
    }
    const auto most = [&](const char* key) {
        std::uint64_t value = 0;
        for (const Json& each : time[key]) value = std::max(value, each.get<std::uint64_t>());
        return value;
    };
    CHECK(most("unified_buffer_bytes") > 0);
    CHECK(most("unified_buffer_bytes") <= memory["unified_buffer_peak_bytes"].get<std::uint64_t>());
    CHECK(most("accumulator_rows") > 0);
    CHECK(most("accumulator_rows") <=
          report["configuration"]["machine"]["accumulators"]["rows"].get<std::uint64_t>());
    CHECK(most("weight_fifo_tiles") == report["configuration"]["machine"]["weight_fifo"]["depth_tiles"]);
}

TEST_CASE("Tiles that nothing shifts lie in the weight FIFO to the end of the run", "[system][report]") {
    const Folder folder;
    const std::string program = folder.file("left.asm",
                                            ".array 8 8\n.tile 8 8 fill 1\n.tile 8 8 fill 1\n"
                                            ".tile 8 8 fill 1\nread_weights tile=0 count=3\n"
                                            "matmul ub=0 acc=0 rows=4\nhalt\n");
    const Json report = run_into(folder / "a", program +
                                                   " --machine tpu_v1 --set machine.matrix_unit.rows=8 "
                                                   "--set machine.matrix_unit.columns=8");
    const auto tiles = report["memory"]["over_time"]["weight_fifo_tiles"].get<std::vector<std::uint64_t>>();
    CHECK(*std::max_element(tiles.begin(), tiles.end()) == 3);
    CHECK(tiles.back() == 1);  // of the other two, one is in use and one in the shadow plane
}

TEST_CASE("Values in the map of the unified buffer do not overlap", "[system][report]") {
    const Folder folder;
    const Json report = run_into(folder / "a", "mnist_cnn --limit 300");
    const Json& map = report["memory"]["unified_buffer_map"];
    CHECK(map["left_out"] == 0);
    struct Step {
        std::uint64_t row, last_row, begin, end;
        std::string name;
    };
    std::vector<Step> steps;
    std::map<std::string, int> values;
    for (const Json& value : map["values"]) {
        ++values[value["name"]];
        for (const Json& step : value["steps"]) {
            const std::uint64_t row = step["first_row"];
            steps.push_back(
                {row, row + step["rows"].get<std::uint64_t>(), step["begin"], step["end"], value["name"]});
            CHECK(steps.back().end <= report["cycles"].get<std::uint64_t>());
            CHECK(steps.back().begin < steps.back().end);
        }
    }
    // The second batch has rows of its own while the first is still in the chip. Where they lie beside those
    // of the first, both are one value.
    CHECK(values == std::map<std::string, int>{{"input", 1},
                                               {"constants", 1},
                                               {"conv2d", 1},
                                               {"conv2d_1", 2},
                                               {"conv2d_2", 3},
                                               {"dense", 2},
                                               {"dense_1", 2}});
    // Rows are used again by the next layer; both ends of a step are known to within step_cycles.
    const std::uint64_t known_within = 2 * map["step_cycles"].get<std::uint64_t>();
    std::size_t shared = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (std::size_t j = i + 1; j < steps.size(); ++j) {
            const Step& a = steps[i];
            const Step& b = steps[j];
            if (a.row >= b.last_row || b.row >= a.last_row) continue;
            ++shared;
            INFO(a.name << " and " << b.name);
            CHECK(std::min(a.end, b.end) <= std::max(a.begin, b.begin) + known_within);
        }
    }
    CHECK(shared > 0);
}

TEST_CASE("The map of a long run ends where there are too many values", "[system][report]") {
    const Folder folder;
    const Json report = run_into(
        folder / "a",
        "--machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 --timing-only --batch 1 --limit 400");
    const Json& map = report["memory"]["unified_buffer_map"];
    // As many as begin before a cycle, at most 1000.
    CHECK(map["values"].size() <= 1000);
    CHECK(map["values"].size() >= 990);
    CHECK(map["left_out"] > 0);
    CHECK(map["until"] < report["cycles"]);
    std::uint64_t last_begin = 0;
    for (const Json& value : map["values"]) {
        std::uint64_t begin = value["steps"][0]["begin"];
        for (const Json& step : value["steps"]) begin = std::min(begin, step["begin"].get<std::uint64_t>());
        CHECK(begin >= last_begin);
        CHECK(begin < map["until"]);
        last_begin = begin;
    }
    CHECK(map["step_cycles"].get<std::uint64_t>() >= map["until"].get<std::uint64_t>() / 500);
}

TEST_CASE("Amounts on the chip's paths equal the counters of their units", "[system][report]") {
    const Json report = report_of("mnist_cnn --limit 100");
    const Json& units = report["units"];
    const auto path = [&](const std::string& from, const std::string& to) {
        return path_of(report, from, to);
    };
    const double cycles = report["cycles"];
    CHECK(report["paths"].size() == 11);
    CHECK(path("weight_memory", "weight_fifo")["moved"] == report["traffic"]["weight_bytes"]);
    CHECK(path("weight_memory", "weight_fifo")["utilization"] == report["traffic"]["weight_utilization"]);
    CHECK(path("unified_buffer", "host_interface")["moved"] == report["traffic"]["host_write_bytes"]);
    const Json stream = path("systolic_data_setup", "matrix_unit");
    CHECK(stream["moved"] == report["matrix_unit"]["active_cycles"]);
    CHECK(stream["utilization"].get<double>() ==
          Approx(report["matrix_unit"]["active_cycles"].get<double>() / cycles));
    CHECK(path("accumulators", "activation_unit")["moved"] == units["accumulators"]["reads"]);
    CHECK(path("unified_buffer", "activation_unit")["moved"] == units["activation_unit"]["buffer_reads"]);
    CHECK(path("activation_unit", "unified_buffer")["moved"] == units["activation_unit"]["buffer_writes"]);
    // A shift takes 256 cycles and moves 256 x 256 bytes.
    CHECK(path("weight_fifo", "matrix_unit")["utilization"].get<double>() ==
          Approx(256 * units["matrix_unit"]["tiles"].get<double>() / cycles));
}

TEST_CASE("Rows of 16-bit operands pass through the array more than once", "[system][report]") {
    const Json report = report_of("docs/micro_benchmarks/sixteen_bit.asm --machine tpu_v1");
    const Json& units = report["units"];
    const std::uint64_t rows = units["systolic_data_setup"]["rows"];
    const Json into = path_of(report, "systolic_data_setup", "matrix_unit");
    CHECK(into["unit"] == "row passes");
    CHECK(into["moved"] == units["matrix_unit"]["active_cycles"]);
    CHECK(into["moved"] > rows);
    const Json out = path_of(report, "matrix_unit", "accumulators");
    CHECK(out["unit"] == "row passes");
    CHECK(out["moved"] == units["accumulators"]["pass_writes"]);
    CHECK(out["moved"] > units["accumulators"]["writes"]);
    CHECK(path_of(report, "unified_buffer", "systolic_data_setup")["unit"] == "rows");
}

TEST_CASE("Layers have their place on the roofline, and their bytes sum to the run's", "[system][report]") {
    const Json report = report_of("mnist_cnn --limit 256");
    std::uint64_t bytes = 0;
    for (const Json& layer : report["layers"]) {
        INFO(layer["name"]);
        const std::uint64_t fetched = layer["weight_bytes"];
        bytes += fetched;
        const double macs = layer["macs_per_inference"].get<double>() * 256;
        if (fetched == 0) {
            CHECK(layer["roofline"].is_null());
            continue;
        }
        CHECK(layer["roofline"]["macs_per_weight_byte"].get<double>() ==
              Approx(macs / static_cast<double>(fetched)));
        const double seconds = layer["cycles"].get<double>() / 700e6;
        CHECK(layer["achieved_tops"].get<double>() == Approx(2 * macs / seconds / 1e12));
        CHECK(layer["roofline"]["peak_tops"] == report["tops"]["peak"]);
    }
    CHECK(bytes == report["traffic"]["weight_bytes"]);
    for (const Json& comparison : report["comparison"]) {
        INFO(comparison["baseline"]);
        const Json& place = comparison["roofline"];
        CHECK(place["bound_tops"].get<double>() <= place["peak_tops"].get<double>() * (1 + 1e-9));
        CHECK((place["macs_per_weight_byte"] >= place["ridge_macs_per_weight_byte"]) ==
              (comparison["bound"] == "compute"));
    }
}

TEST_CASE("A run without --out records nothing for a page", "[system][report]") {
    const Json report = report_of("mnist_cnn --limit 20");
    CHECK_FALSE(report["memory"].contains("over_time"));
    CHECK_FALSE(report["memory"].contains("unified_buffer_map"));
    CHECK_FALSE(report.contains("pictures"));
}

TEST_CASE("Made-up input has no pictures, real images have", "[system][report]") {
    const Folder folder;
    const std::string network = folder.file("net.json", R"({"schema": "sim.graph/1", "name": "net",
        "input": {"shape": [8, 8, 1]}, "weights": {"seed": 1}, "layers": [
        {"name": "c", "op": "convolution", "inputs": ["input"], "filters": 3, "kernel": 3},
        {"name": "f", "op": "flatten", "inputs": ["c"]},
        {"name": "d", "op": "dense", "inputs": ["f"], "units": 5}], "output": "d"})");
    const Json made_up =
        run_into(folder / "a", "--machine tpu_v1 --random-input 3 --limit 20 --model " + network);
    CHECK(made_up["predictions"].size() == 20);
    CHECK_FALSE(made_up.contains("pictures"));
    const Json pictures = run_into(folder / "b", "mnist_cnn --limit 20")["pictures"];
    CHECK(pictures["height"] == 28);
    CHECK(pictures["channels"] == 1);
    CHECK(pictures["left_out"] == 0);
    REQUIRE(pictures["pictures"].size() == 20);
    CHECK(pictures["pictures"][0]["pixels"].get<std::string>().size() == (28 * 28 + 2) / 3 * 4);
}

}  // namespace systole::tests
