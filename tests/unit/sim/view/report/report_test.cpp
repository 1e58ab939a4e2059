#include "sim/view/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "hw/isa/assembly.h"
#include "sim/run/execute/recorders.h"
#include "sim/run/execute/run.h"
#include "sim/view/area/area.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/main_unit.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_file.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"
#include "tests/support/unit_descriptions.h"

using namespace systole;
using report::Json;

namespace {

/// A run of assembly text, simulated.
struct Finished {
    explicit Finished(const std::string& text, bool instructions = false) {
        const tests::FreshSimulation simulation;
        run::RunSpec spec;
        spec.machine = machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                             "configs/machines/tpu_v1.json");
        spec.program.emplace();
        spec.observed.instruction_times = instructions;
        spec.labels.run["machine"] = "tpu_v1";
        run::Prepared prepared;
        prepared.program = isa::assemble(text, "test");
        result = run::simulate(spec, prepared);
        result.speed = {.prepare = 0.25, .simulate = 0.5, .total = 1.0, .gemm = 0.0, .peak_rss_bytes = 0};
    }

    Json report() const { return report::make_report(result); }
    std::string text(const std::vector<std::string>& sections = {}, const terminal::Look& look = {},
                     bool all_layers = false) const {
        return report::to_text(report(), result, sections, look, all_layers);
    }

    run::RunRecord result;
};

const std::string work =
    "read_weights tile=0\n"
    "tag 1\nmatmul ub=0 acc=0 rows=100\n"
    "read_weights tile=0\n"
    "tag 2\nmatmul ub=0 acc=200 rows=30\n"
    "tag 0\nread_weights tile=0\nmatmul ub=0 acc=400 rows=7\nhalt\n";

const std::string head = ".array 256 256\n.tile 256 256 fill 1\n";

void check_width(const std::string& text, std::size_t columns = 80) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
        longest = std::max(longest, line.size());
        if (line.size() > columns) FAIL_CHECK(line.size() << " characters: " << line);
    }
    CHECK(longest > columns / 2);
}

}  // namespace

TEST_CASE("Names of layers on the host are shortened so that they differ", "[report]") {
    const auto text = [](std::initializer_list<const char*> names) {
        Json share;
        for (const char* const name : names) share["layers"].push_back({{"name", name}});
        return report::host_layers_text(share);
    };
    CHECK(text({"a", "b"}) == "a and b");
    CHECK(text({"/features/features.1/conv/conv.0/conv.0.0/Conv", "/features/features.1/conv/conv.1/Conv"}) ==
          "/features~onv.0.0/Conv and /features~/conv.1/Conv");
    // Where both ends are the same, more of them is shown.
    CHECK(text({"/features/block.1/conv/convolution/Conv_quantized",
                "/features/block.2/conv/convolution/Conv_quantized"}) ==
          "/features/block.1~/Conv_quantized and /features/block.2~/Conv_quantized");
    // Equal names cannot be told apart.
    CHECK(text({"the_same_name_of_twenty_five", "the_same_name_of_twenty_five"}) ==
          "the_same_na~_twenty_five and the_same_na~_twenty_five");
}

TEST_CASE("The layers' cycles and counters sum to the run's", "[report]") {
    const Json report = Finished(head + work).report();
    const Json& layers = report["layers"];
    const auto active = [](const Json& part) -> Json { return part["matrix_unit"]["active_cycles"]; };
    CHECK(active(report) == 137);
    REQUIRE(layers.size() == 3);
    CHECK(layers[0]["name"] == "tag 1");
    CHECK(active(layers[0]) == 100);
    CHECK(active(layers[1]) == 30);
    CHECK(layers[2]["name"] == "(outside layers)");
    CHECK(active(layers[2]) == 7);
    for (const auto& [name, total] : report["matrix_unit"].items()) {
        if (!total.is_number()) continue;
        INFO(name);
        std::uint64_t sum = 0;
        for (const Json& layer : layers) sum += layer["matrix_unit"][name].get<std::uint64_t>();
        CHECK(total == sum);
    }
    std::uint64_t classes = 0;
    for (const char* const name :
         {"active_cycles", "weight_stall_cycles", "weight_shift_cycles", "non_matrix_cycles"}) {
        classes += report["matrix_unit"][name].get<std::uint64_t>();
    }
    CHECK(report["cycles"] == classes);
    std::uint64_t cycles = 0;
    for (const Json& kind : report["instruction_kinds"]) cycles += kind["cycles"].get<std::uint64_t>();
    CHECK(report["cycles"] == cycles);
    std::uint64_t of_layers = 0;
    double shares = 0.0;
    for (const Json& layer : layers) {
        of_layers += layer["cycles"].get<std::uint64_t>();
        shares += layer["share"].get<double>();
    }
    CHECK(report["cycles"] == of_layers);
    CHECK(shares == Approx(1.0));
}

TEST_CASE("Ratio is cycles over the layers' largest bounds, and fill is full array over array", "[report]") {
    const Finished finished(".array 256 256\n.tile 128 256 fill 1\n" + work);
    const Json report = finished.report();
    const auto cycles = report["cycles"].get<double>();
    // A tile takes 65536 / 32.625e9 s = 1406.1 cycles of 700 MHz. That of tag 2 is fetched under tag 1.
    const std::vector<machine::Bound>& bounds = finished.result.bounds;
    CHECK(report::largest_bound(bounds, run::Tag{1})->value(1) == 1406);
    CHECK(report::largest_bound(bounds, run::Tag{2})->value(2) == 30);
    CHECK(report::largest_bound(bounds, run::Tag{0})->value(0) == 2812);
    CHECK(report::largest_bound(bounds)->value() == 4218);
    const Json& layers = report["layers"];
    REQUIRE(layers.size() == 3);
    CHECK(layers[0]["bounds"]["weight_memory"] == 1406);
    CHECK(report["bounds"]["ratio"].get<double>() == Approx(cycles / (1406 + 30 + 2812)));
    CHECK(layers[0]["bounds"]["ratio"].get<double>() == Approx(layers[0]["cycles"].get<double>() / 1406));
    CHECK(layers[2]["bounds"]["ratio"].is_null());  // outside layers
    CHECK(layers[0]["bounds"]["fill"] == 0.5);
    CHECK(report["bounds"]["fill"].get<double>() == Approx(69.0 / 137));  // half of 137, rounded up
    const std::string text = finished.text({"bounds"});
    CHECK_THAT(text, Catch::Contains("\n  weight memory            4,218 ") &&
                         Catch::Contains("at least: weights are fetched\n") &&
                         Catch::Contains("\n  full array                  69 ") &&
                         Catch::Contains("\n  ratio                     1.18 ") &&
                         Catch::Contains("\n  fill                     0.504 "));
    check_width(text);
}

TEST_CASE("The text names the part whose bound is the largest, whichever it is", "[report]") {
    Finished finished(head + work);
    std::vector<machine::Bound>& bounds = finished.result.bounds;
    const std::vector<std::tuple<std::string, std::string, std::string>> parts{
        {"array", "array", "rows pass through the array"},
        {"data_setup", "data setup", "lines of windows are read"},
        {"weight_memory", "weight memory", "weights are fetched"},
        {"host_link", "host link", "data and instructions"},
        {"activation", "activation", "the activation unit works"}};
    for (const auto& [largest, name, meaning] : parts) {
        for (const auto& [other, other_name, other_meaning] : parts) {
            if (other == largest) continue;
            for (machine::Bound& each : bounds) {
                each.run = each.name == largest ? 4321 : each.name == other ? 4320 : 0;
            }
            const std::string text = finished.text({"bounds"});
            CAPTURE(name, other_name, text);
            CHECK_THAT(text, Catch::Contains(fmt::format("\n  {:<16}         4,321 ", name)) &&
                                 Catch::Contains("at least: " + meaning));
        }
    }
    // `macs` is of no mapping; of equal bounds, the first counts.
    for (machine::Bound& each : bounds) each.run = 4321;
    CHECK(report::largest_bound(bounds)->name == "array");
    CHECK(report::largest_bound({{.name = "macs", .part = {}, .meaning = {}, .by_tag = {}}}) == nullptr);
    std::erase_if(bounds, [](const machine::Bound& each) { return each.name == "array"; });
    CHECK_THROWS_WITH(finished.report(), "there is no bound array");
}

TEST_CASE("A bound of a unit that no view knows appears in JSON and text", "[report]") {
    Finished finished(head + work);
    finished.result.bounds.push_back({.name = "toy_sorter",
                                      .part = "sorter",
                                      .meaning = "rows are sorted",
                                      .run = 9000,
                                      .by_tag = {0, 8000, 20}});
    const Json json = finished.report();
    std::vector<std::string> keys;
    for (const auto& [key, value] : json["bounds"].items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"macs", "array", "data_setup", "weight_memory", "host_link",
                                           "activation", "toy_sorter", "ratio", "fill"});
    CHECK(json["bounds"]["toy_sorter"] == 9000);
    CHECK(json["layers"][0]["bounds"]["toy_sorter"] == 8000);
    CHECK(json["layers"][1]["bounds"]["toy_sorter"] == 20);
    CHECK(json["layers"][2]["bounds"]["toy_sorter"] == 0);  // outside layers
    // Of the first layer, it is the largest.
    CHECK(json["bounds"]["ratio"].get<double>() == Approx(json["cycles"].get<double>() / (8000 + 30 + 2812)));
    CHECK_THAT(finished.text({"bounds"}), Catch::Contains("\n  toy sorter               9,000 ") &&
                                              Catch::Contains("at least: rows are sorted\n"));
}

TEST_CASE("Cycles are split by the kind of matrix instruction under each tag", "[report]") {
    const Finished finished(head + work);
    const Json report = finished.report();
    REQUIRE(report["instruction_kinds"].size() == 1);
    const Json& all = report["instruction_kinds"][0];
    CHECK(all["instruction"] == "matmul");
    CHECK(all["executed"] == 3);
    CHECK(all["matrix_unit"]["active_cycles"] == 137);
    CHECK(all["matrix_unit"] == report["matrix_unit"]);

    isa::Program program;  // as if under the same tags there were convolutions as well
    program.instructions = {isa::DebugTag{.tag = 1}, isa::MatrixMultiply{}, isa::DebugTag{.tag = 2},
                            isa::MatrixMultiply{},   isa::Convolve{},       isa::Convolve{}};
    const auto kinds = report::by_instruction_kind(run::facts_of(program, machine::MachineConfig{}).tags,
                                                   finished.result.main_unit(), finished.result.counters);
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].instruction == "matmul");
    CHECK(kinds[0].main_unit.classes[0] == 100);
    CHECK(kinds[1].instruction == "mixed");
    CHECK(kinds[1].executed == 3);
    CHECK(kinds[1].main_unit.classes[0] == 30);
    CHECK(kinds[2].instruction == "none");
    CHECK(kinds[2].executed == 0);
    CHECK(kinds[2].main_unit.classes[0] == 7);
}

TEST_CASE("A program without a network is measured by its own MACs", "[report]") {
    const Json report = Finished(head + work).report();
    const auto seconds = report["seconds"].get<double>();
    const auto useful = report["matrix_unit"]["useful_macs"].get<double>();
    CHECK(report["inferences"] == 0);
    for (const char* const key : {"inferences_per_second", "seconds_per_batch", "accuracy"}) {
        INFO(key);
        CHECK(report[key].is_null());
    }
    CHECK(seconds == Approx(report["cycles"].get<double>() / 700e6));
    CHECK(report["tops"]["achieved"].get<double>() == Approx(2.0 * useful / seconds / 1e12));
    CHECK(report["tops"]["peak"].get<double>() == Approx(91.75).margin(0.01));
    const Json& roofline = report["roofline"];
    CHECK(roofline["macs_per_weight_byte"].get<double>() == Approx(useful / (3.0 * 65536)));
    CHECK(roofline["ridge_macs_per_weight_byte"].get<double>() == Approx(65536 * 700e6 / 32.625e9));
    CHECK(useful == 137 * 65536);
}

TEST_CASE("Without a section energy, energy is published watts times seconds", "[report]") {
    Finished finished(head + work);
    finished.result.spec.machine.energy.reset();
    const Json report = finished.report();
    const auto seconds = report["seconds"].get<double>();
    const Json& published = report["energy"];
    CHECK(published["static_joules"].get<double>() == Approx(28.0 * seconds));
    CHECK(published["dynamic_joules"].get<double>() == Approx(12.0 * seconds));
    CHECK(published["joules"].get<double>() == Approx(40.0 * seconds));
    CHECK(published["watts"] == 40.0);
    CHECK(published["joules_per_inference"].is_null());
    CHECK_FALSE(published.contains("die_watts"));
    CHECK(published["by_unit"].size() == 2);
    CHECK(report["layers"][0]["energy"].is_null());
    CHECK(finished.text().find("published, of the busy chip") != std::string::npos);

    // Without idle watts, no part of it is called static, or 0.
    finished.result.spec.machine.power.idle_watts = 0.0;
    const Json energy = finished.report()["energy"];
    CHECK(energy["joules"].get<double>() == Approx(40.0 * seconds));
    CHECK(energy["by_unit"] == Json{{"chip", energy["joules"]}});
    for (const char* const key : {"static_joules", "dynamic_joules", "static_watts"})
        CHECK(energy[key].is_null());
    const std::string text = finished.text();
    CHECK(text.find("the static part is not known") != std::string::npos);
    CHECK(text.find(" static, ") == std::string::npos);

    finished.result.spec.machine.power = {};
    CHECK(finished.report()["energy"]["joules"].is_null());
    CHECK(finished.text().find("the machine file gives no watts") != std::string::npos);
}

TEST_CASE("A figure of the list is in report.json, also where nobody gave it a place", "[report]") {
    Json json = Finished(head + work).report();
    std::size_t computed = 0;
    for (const report::Figure& figure : report::figures()) {
        if (figure.compute == nullptr) continue;
        ++computed;
        CAPTURE(figure.name);
        CHECK(report::find_path(json, figure.key()) != nullptr);
    }
    CHECK(computed > 2);
    report::place_at(json, "matrix_unit.rows_a_tile", 2.5);
    report::place_at(json, "answer", 42);
    CHECK(json["matrix_unit"]["rows_a_tile"] == 2.5);
    CHECK(json["answer"] == 42);
    CHECK_THROWS_WITH(report::figure_named("question"), "there is no figure question");
}

TEST_CASE("Energy by event: by unit, by layer and by window it sums to the run's", "[report]") {
    Finished finished(head + work);
    finished.result.spec.machine.energy->die_dynamic_factor = 2.0;
    finished.result.spec.observed.power_windows = 9;
    const Json report = finished.report();
    const Json& json = report["energy"];
    const auto seconds = report["seconds"].get<double>();
    const std::uint64_t run_cycles = report["cycles"];
    const auto all = json["joules"].get<double>();
    CHECK(json["static_joules"].get<double>() == Approx(28.0 * seconds));
    CHECK(json["watts"].get<double>() == Approx(all / seconds));
    double units = 0.0;
    for (const Json& joules : json["by_unit"]) units += joules.get<double>();
    CHECK(units == Approx(all).epsilon(1e-12));
    double layers = 0.0;
    for (const Json& layer : report["layers"]) layers += layer["energy"]["joules"].get<double>();
    CHECK(layers == Approx(all).epsilon(1e-12));

    const double weight_memory = json["by_unit"]["weight_memory"];
    CHECK(json["die_watts"].get<double>() == Approx((all - weight_memory) / seconds));
    CHECK(json["published_busy_watts"] == 40.0);
    // Half of the die's dynamic energy is the factor's.
    const double dynamic_on_die = json["dynamic_joules"].get<double>() - weight_memory;
    CHECK(json["uncalibrated"]["joules"].get<double>() == Approx(all - dynamic_on_die / 2));

    const std::uint64_t window_cycles = json["power_over_time"]["window_cycles"];
    CHECK(window_cycles == (run_cycles + 8) / 9);
    double over_time = 0.0;
    for (const auto& [unit, watts] : json["power_over_time"]["watts"].items()) {
        double of_unit = 0.0;
        for (std::size_t window = 0; window < watts.size(); ++window) {
            const std::uint64_t cycles = std::min(window_cycles, run_cycles - window * window_cycles);
            of_unit += watts[window].get<double>() * static_cast<double>(cycles) / 700e6;
        }
        CHECK(of_unit == Approx(json["by_unit"][unit].get<double>()).epsilon(1e-9));
        over_time += of_unit;
    }
    CHECK(over_time == Approx(all).epsilon(1e-9));
    const std::string text = finished.text();
    CHECK(text.find("weight memory") != std::string::npos);
    CHECK(text.find("40.0 W published, busy") != std::string::npos);
    CHECK(text.find("without the factor 2 on its events") != std::string::npos);
    check_width(text);

    finished.result.spec.observed.power_windows = 0;
    CHECK_FALSE(finished.report()["energy"].contains("power_over_time"));
}

TEST_CASE("report.json has the keys that other programs read", "[report]") {
    const Finished finished(head + work);
    const Json json = finished.report();
    CHECK(json["schema"] == "sim.report/1");
    for (const char* pointer : {"/machine",
                                "/model",
                                "/batch",
                                "/inferences",
                                "/cycles",
                                "/seconds",
                                "/inferences_per_second",
                                "/tops/achieved",
                                "/tops/peak",
                                "/matrix_unit/active_cycles",
                                "/matrix_unit/weight_stall_cycles",
                                "/matrix_unit/weight_shift_cycles",
                                "/matrix_unit/non_matrix_cycles",
                                "/matrix_unit/raw_stall_cycles",
                                "/matrix_unit/input_stall_cycles",
                                "/matrix_unit/useful_macs",
                                "/matrix_unit/unused_macs",
                                "/bounds/macs",
                                "/bounds/array",
                                "/bounds/data_setup",
                                "/bounds/weight_memory",
                                "/bounds/host_link",
                                "/bounds/activation",
                                "/bounds/ratio",
                                "/bounds/fill",
                                "/layers/0/bounds/macs",
                                "/layers/0/bounds/ratio",
                                "/traffic/weight_bytes",
                                "/traffic/host_read_bytes",
                                "/traffic/host_write_bytes",
                                "/memory/unified_buffer_peak_bytes",
                                "/layers/0/name",
                                "/layers/0/cycles",
                                "/layers/0/matrix_unit/active_cycles",
                                "/energy/joules",
                                "/energy/joules_per_inference",
                                "/energy/watts",
                                "/energy/by_unit/chip_static",
                                "/energy/by_unit/matrix_unit",
                                "/energy/uncalibrated/joules",
                                "/layers/0/energy/joules",
                                "/layers/0/energy/by_unit/matrix_unit",
                                "/comparison",
                                "/host_time",
                                "/claim",
                                "/predictions",
                                "/accuracy",
                                "/host_share",
                                "/host_operations",
                                "/simulator/wall_seconds",
                                "/simulator/read_seconds",
                                "/simulator/prepare_seconds",
                                "/simulator/simulated_cycles_per_second",
                                "/simulator/macs_per_second",
                                "/simulator/peak_rss_bytes",
                                "/configuration/machine/clock_mhz",
                                "/configuration/run/machine"}) {
        INFO(pointer);
        CHECK(json.contains(nlohmann::ordered_json::json_pointer(pointer)));
    }
    CHECK(json["inferences_per_second"].is_null());
    CHECK(json["accuracy"].is_null());
    CHECK(json["traffic"]["weight_bytes"] == 3 * 65536);
    // Every counter of every unit is there.
    for (const run::Counter& counter : finished.result.counters.all) {
        INFO(counter.path);
        CHECK(json["units"][std::string(counter.group())][std::string(counter.name())] == counter.value());
    }
}

TEST_CASE("A program that does nothing has no ratios", "[report]") {
    const Finished finished(".array 256 256\nhalt\n");
    CHECK(finished.report()["roofline"].is_null());
    CHECK(finished.report()["bounds"]["fill"].is_null());
    const std::string text = finished.text();
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("inf ") == std::string::npos);
}

TEST_CASE("A layer without cycles is described in words", "[report]") {
    Finished finished(head + ".layer 3a_1x1 convolution macs=6400\n.layer 3a_reduce \"joined to 3a_1x1\"\n" +
                      ".layer other depthwise_convolution\n" +
                      "read_weights tile=0\ntag 1\nmatmul ub=0 acc=0 rows=100\n"
                      "tag 3\nread_weights tile=0\nmatmul ub=0 acc=0 rows=9\nhalt\n");
    const Json report = finished.report();
    REQUIRE(report["layers"].size() >= 3);
    const Json& layer = report["layers"][1];
    CHECK(layer["cycles"] == 0);
    CHECK(layer["macs_per_inference"] == 0);
    CHECK(layer["array_utilization"].is_null());
    const std::string text = finished.text();
    CHECK_THAT(text, Catch::Contains("\n  3a_reduce        joined to 3a_1x1      0    0.0 "));
    CHECK_THAT(text, Catch::Contains("\n  3a_1x1           convolution"));
    check_width(text);
}

/// What a terminal shows of a painted text.
std::string without_colours(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

TEST_CASE("Colours change nothing else in a text", "[report]") {
    const Finished finished(head + work, true);
    const std::string plain = finished.text();
    const std::string coloured = finished.text({}, {.colours = true});
    CHECK(plain.find('\x1b') == std::string::npos);
    CHECK(without_colours(coloured) == plain);
    CHECK_THAT(coloured, Catch::Contains("\x1b[1mMatrix unit\x1b[0m "));
    CHECK_THAT(coloured, Catch::Contains("\x1b[38;5;32marray active"));
    CHECK_THAT(coloured, Catch::Contains("\x1b[38;5;166mweight stall"));
    CHECK_THAT(coloured, Catch::Contains("\x1b[38;5;178mweight shift"));
    CHECK_THAT(coloured, Catch::Contains("\x1b[38;5;245mnon-matrix"));
}

TEST_CASE("A terminal of 80 columns shows the same text as a file", "[report]") {
    const Finished finished(head + work);
    CHECK(finished.text({}, {.columns = 80}) == finished.text());
}

TEST_CASE("Layers have long names where there is room, and fewer columns where there is not", "[report]") {
    const Finished finished(head +
                            ".layer block_12/depthwise_convolution convolution macs=6400\n"
                            ".layer second dense macs=6400\n" +
                            work);
    const auto text = [&](std::size_t columns) { return finished.text({"layers"}, {.columns = columns}); };
    CHECK_THAT(text(140), Catch::Contains("  block_12/depthwise_convolution convolution "));
    CHECK_THAT(text(80), Catch::Contains("  block_1~volution convolution "));
    CHECK_THAT(text(75), Catch::Contains("  block~ution convolution "));
    CHECK_THAT(text(73), Catch::Contains("  block_12~onvolution ") && !Catch::Contains("convolution ") &&
                             Catch::Contains("  used"));
    CHECK_THAT(text(60), Catch::Contains("  block_~lution  ") && !Catch::Contains("  used") &&
                             Catch::Contains("% run"));
}

TEST_CASE("The text fits its columns, whatever the names and numbers", "[report]") {
    const auto columns = GENERATE(as<std::size_t>(), 60, 61, 72, 80, 100, 140);
    const terminal::Look look{.columns = columns};
    constexpr std::uint64_t many = 9'999'999'999;
    Finished finished(head + work);
    run::RunRecord& record = finished.result;
    record.spec.labels.machine_settings.push_back({std::string(300, 'k'), std::string(300, 'v')});
    for (machine::Bound& each : record.bounds) each.run = many;
    Json report = finished.report();
    report["model"] = report["machine"] = std::string(200, 'm');
    report["bounds"]["ratio"] = 1234567.8;
    report["bounds"]["fill"] = 0.000123456;
    report["batch"] = 4294967295U;
    report["inferences"] = many;
    report["inferences_per_second"] = 123456789.0;
    report["seconds_per_batch"] = 1234.5;
    report["timing_only"] = true;
    report["accuracy"] = 1.0;
    report["float_reference"] = {{"accuracy", 1.0}, {"agreements", many}};
    for (Json& layer : report["layers"]) {
        layer["name"] = "a layer's name\nwith a line end";
        layer["kind"] = "depthwise_convolution";
        layer["cycles"] = layer["matrix_unit"]["non_matrix_cycles"] = many;
    }
    const auto ends = [](double value) -> Json { return {{"least", 0.35 * value}, {"most", 98.7 * value}}; };
    const Json compared{
        {"inferences_per_second", 987654321.0},
        {"speedup", 123456.0},
        {"performance_per_watt", {{"total", 99999.0}, {"incremental", 99999.0}}},
        {"band",
         {{"inferences_per_second", ends(987654321.0)},
          {"speedup", ends(123456.0)},
          {"performance_per_watt", {{"total", ends(99999.0)}, {"incremental", ends(99999.0)}}}}}};
    Json expected = compared;
    expected["batch"] = 4294967295U;
    expected["latency_seconds"] = 1234.5;
    expected["efficiency"] = {
        {"peak_share", 0.123456}, {"memory_share", 0.987654}, {"layer_microseconds", 123456.0}};
    Json comparison = compared;
    comparison["baseline"] = std::string(100, 'b');
    comparison["precision"] = "fp32";
    comparison["bound"] = "memory";
    comparison["host_time"] = false;
    comparison["performance_per_watt"]["incremental"] = nullptr;
    comparison["band"]["performance_per_watt"]["incremental"] = nullptr;
    comparison["int8"] = {{"speedup", 0.01}, {"band", {{"speedup", ends(0.01)}}}};
    comparison["expected"] = expected;
    comparison["measured"] = {{"fp32", compared}, {"int8", compared}};
    report["comparison"] = Json::array({comparison});
    report["host_time"] = {
        {"text", report::host_time_text(
                     {.percent = machine::HostPercent{.typical = 1234.5, .least = 0, .most = 9999.5}})},
        {"in_chip", true},
        {"percent", {{"source", std::string(100, 's')}}},
        {"inferences_per_second", 123456789.0},
        {"band", {{"inferences_per_second", ends(123456789.0)}}}};
    report["claim"] = report::claim_json(report, 65536);
    report["host_operations"] = Json::array();
    report["host_operations"].push_back(
        {{"kind", std::string(50, 'k')}, {"layer", std::string(50, 'l')}, {"seconds", nullptr}});
    report["host_operations"].push_back(
        {{"kind", "softmax"}, {"layer", std::string(50, 'l')}, {"seconds", 1e-7}});
    report["host_operations"].push_back({{"kind", "segment"},
                                         {"layer", std::string(50, 'l')},
                                         {"seconds", 123456.7},
                                         {"share", 0.9999},
                                         {"images", many}});
    report["host"] = std::string(50, 'h');
    report["host_share"] = {{"layers", Json::array()}, {"macs_share", 0.5}, {"seconds_share", 0.25}};
    for (const std::string& name :
         {std::string(60, 'a'), std::string(60, 'b'), std::string("c"), std::string("d"), std::string("e")}) {
        report["host_share"]["layers"].push_back({{"name", name}});
    }
    check_width(report::to_text(report, record, {}, look), columns);
    report["accuracy"] = nullptr;
    report["timing_only"] = false;
    report["predictions"] = std::vector<std::uint32_t>(100, 4294967295U);
    report["best_classes"] = Json::array();
    for (int i = 0; i < 8; ++i) {
        report["best_classes"].push_back(Json::array(
            {{{"class", 4294967295U}, {"score", -1.2345e-30F}, {"name", std::string(200, 'n')}}}));
    }
    check_width(report::to_text(report, record, {}, look), columns);
    run::InstructionLine line;
    line.unit = "activation";
    line.text = "activate " + std::string(30, 'x') + " and " + std::string(90, 'y');
    std::vector<run::InstructionLine> lines(3, line);
    lines[1].issued = lines[1].complete = many;
    report["instruction_times"] = report::instruction_times_json(lines);
    check_width(report::to_text(report, record, std::vector<std::string>{"instructions"}, look), columns);
}

TEST_CASE("A report that cannot be written is the user's error", "[report]") {
    CHECK_THROWS_AS(report::make_folder("/proc/no/such"), OutputError);
    CHECK_THROWS_AS(write_file("/proc/no_such_file", "x"), OutputError);
}

TEST_CASE("Predictions that do not fit the line are announced by dots", "[report]") {
    Finished finished(head + work);
    finished.result.program.inferences = 7;
    run::Outputs outputs{.per_inference = 10, .values = {}, .predictions = {1, 2, 3, 4, 5, 6, 7}};
    finished.result.answers.outputs = outputs;
    CHECK_THAT(finished.text({"summary"}), Catch::Contains("1, 2, 3, 4, 5, 6, 7\n"));
    finished.result.program.has_host_operations = true;
    finished.result.answers.outputs->values.assign(70, 1.0F);
    CHECK_THAT(finished.text({"summary"}),
               Catch::Contains("1 (100 %), 2 (100 %), 3 (100 %), 4 (100 %), 5 (100 %), ...\n"));
    finished.result.program.has_host_operations = false;
    outputs.predictions.resize(9);
    finished.result.answers.outputs = outputs;
    CHECK_THAT(finished.text({"summary"}), Catch::Contains("6, 7, 0, ...\n"));
}

TEST_CASE("The best classes of the first inferences are listed with their names", "[report]") {
    Finished finished(head + work);
    CHECK_FALSE(finished.report().contains("best_classes"));
    finished.result.program.inferences = 1;
    finished.result.answers.outputs = run::Outputs{.per_inference = 1000, .values = {}, .predictions = {285}};
    finished.result.answers.best_classes = {{{{.number = 285, .score = 0.8125F, .name = "Egyptian cat"},
                                              {.number = 281, .score = 0.0625F, .name = "tabby\x1b[31m"}}}};
    CHECK_THAT(finished.text({"summary"}),
               Catch::Contains("  image 0             0.8125     285  Egyptian cat\n"
                               "                      0.0625     281  tabby?[31m\n"));
    const Json json = finished.report().at("best_classes");
    CHECK(json.at(0).at(0).at("class") == 285);
    CHECK(json.at(0).at(0).at("name") == "Egyptian cat");
    CHECK(json.at(0).at(1).at("score") == 0.0625);
    finished.result.program.has_host_operations = true;
    finished.result.answers.outputs->values.assign(1000, 0.0F);
    CHECK_THAT(finished.text({"summary"}),
               Catch::Contains("  image 0             81.2 %     285  Egyptian cat\n"));
    CHECK(finished.report().at("best_classes").at(0).at(1).at("probability") == 0.0625);
}

TEST_CASE("Numbers below 1 are printed plainly", "[report]") {
    const Finished finished(head + work);
    Json report = finished.report();
    report["inferences"] = 1;
    report["inferences_per_second"] = 0.713;
    report["roofline"] = {{"macs_per_weight_byte", 0.975},
                          {"ridge_macs_per_weight_byte", 0.25},
                          {"bound_tops", 1.0},
                          {"peak_tops", 1.0}};
    const std::string text = report::to_text(report, finished.result, std::vector<std::string>{"summary"});
    CHECK_THAT(text, Catch::Contains(" 0.713 inf/s\n"));
    CHECK_THAT(text, Catch::Contains(" 0.975   at most 1.00 TOPS here; ridge at 0.250\n"));
}

TEST_CASE("Of many layers, ten have lines, and one line sums the others", "[report]") {
    std::string program = head;
    constexpr int layers = 14;
    for (int i = 1; i <= layers; ++i) {
        program += fmt::format("read_weights tile=0\ntag {}\nmatmul ub=0 acc=0 rows={}\n", i, 2000 + i);
    }
    const Finished finished(program + "halt\n");
    const std::size_t listed = finished.report()["layers"].size();
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    const std::string text = finished.text({"layers"});
    CHECK(lines(text) == 1 + 10 + 1 + 2);
    CHECK_THAT(text, Catch::Contains(fmt::format("({} others", listed - 10)) &&
                         Catch::Contains("--all lists them)"));
    CHECK_THAT(text, !Catch::Contains("tag 2 "));
    const std::string all = finished.text({"layers"}, {}, true);
    CHECK(lines(all) == 1 + static_cast<std::ptrdiff_t>(listed) + 1);
    CHECK_THAT(all, Catch::Contains("tag 2 ") && !Catch::Contains("others"));
    check_width(text);
}

TEST_CASE("Layers that repeat are one line each, with the count and how much they differ", "[report]") {
    constexpr int blocks = 8;
    std::string layers;
    std::string program;
    for (int i = 0; i < blocks; ++i) {
        layers += fmt::format(
            ".layer encoder.layer.{0}.attention.query dense\n.layer encoder.layer.{0}.norm dense\n", i);
        program += fmt::format("read_weights tile=0\ntag {}\nmatmul ub=0 acc=0 rows=300\n", 2 * i + 1);
        program += fmt::format("read_weights tile=0\ntag {}\nmatmul ub=0 acc=0 rows=20\n", 2 * i + 2);
    }
    const Finished finished(head + layers + program + "halt\n");
    const Json report = finished.report();
    const Json& block = report["repeated_layers"].at(0);
    CHECK(block["name"] == "encoder.layer.*");
    CHECK(block["count"] == blocks);
    CHECK(block["layers"] == 2);
    // All layers stay in the report, and the block has their cycles.
    std::uint64_t cycles = 0;
    for (const Json& layer : report["layers"]) {
        if (layer["name"].get<std::string>().starts_with("encoder"))
            cycles += layer["cycles"].get<std::uint64_t>();
    }
    CHECK(block["cycles"] == cycles);
    // The first block waits for its weights.
    const std::uint64_t least = block["least_cycles"];
    const std::uint64_t most = block["most_cycles"];
    CHECK(least < most);
    const std::string text = finished.text({"layers"});
    CHECK_THAT(text, Catch::Contains("\n  encoder~.* x8    2 layers") &&
                         Catch::Contains("\n    attent~.query  dense ") &&
                         Catch::Contains("\n    norm           dense ") && !Catch::Contains("others") &&
                         Catch::Contains(fmt::format("x8: 8 alike, summed; one takes {} to {}",
                                                     report::grouped(least), report::grouped(most))));
    check_width(text);
    const std::string all = finished.text({"layers"}, {}, true);
    CHECK_THAT(all, Catch::Contains("~3.atten~.query ") && !Catch::Contains("x8"));
    // A report of a version that knows of no repeats.
    Json old = report;
    old.erase("repeated_layers");
    CHECK_THAT(report::to_text(old, finished.result, std::vector<std::string>{"layers"}),
               Catch::Contains("(7 others") && !Catch::Contains("x8"));
}

TEST_CASE("Layers of the host whose names are equal up to numbers are named together", "[report]") {
    Json share;
    for (int i = 0; i < 12; ++i) {
        for (const char* const name : {"scores", "context"}) {
            share["layers"].push_back({{"name", fmt::format("encoder.layer.{}.self.{}", i, name)}});
        }
    }
    CHECK(report::host_layers_text(share) == "encoder~.self.scores x12 and encoder~.context x12");
    share["layers"].push_back({{"name", "pooler"}});
    share["layers"].push_back({{"name", "classifier"}});
    share["layers"].push_back({{"name", "other"}});
    CHECK(report::host_layers_text(share) ==
          "encoder~.self.scores x12, encoder~.context x12, pooler and 2 more");
}

TEST_CASE("The throughput of a network that takes a sequence says its tokens a second", "[report]") {
    Finished finished(head + ".model net batch=2 inferences=2\n" + work);
    CHECK_FALSE(finished.report().contains("sequence"));
    CHECK_THAT(finished.text({"summary"}), !Catch::Contains("a second"));
    finished.result.program.sequence = run::SequenceFacts{.length = 128, .unit = "token"};
    const Json report = finished.report();
    const auto rate = report["inferences_per_second"].get<double>();
    CHECK(report["sequence"]["unit"] == "token");
    CHECK(report["sequence"]["length"] == 128);
    CHECK(report["sequence"]["per_second"].get<double>() == Approx(128 * rate));
    CHECK_THAT(finished.text({"summary"}),
               Catch::Contains(fmt::format("{} tokens a second, 128", report::amount(128 * rate, ""))));
    // A run without a figure of its speed has no rate.
    finished.result.program.inferences = 0;
    CHECK(finished.report()["sequence"]["per_second"].is_null());
}

TEST_CASE("Many segments of the host that are alike are one, with the range of their times", "[report]") {
    Json operations = Json::array();
    const auto add = [&](const std::string& name, const std::vector<std::string>& layers, double seconds) {
        operations.push_back({{"kind", "segment"},
                              {"layer", fmt::format("{}", fmt::join(layers, ", "))},
                              {"name", name},
                              {"seconds", seconds},
                              {"layers", layers},
                              {"share", 0.01},
                              {"images", 3}});
    };
    add("embedding", {"embedding"}, 1.0);
    for (int i = 0; i < 6; ++i) {
        const std::string layer = fmt::format("layer.{}", i);
        add(layer + ".self", {layer + ".self.a", layer + ".self.b"}, 0.5);
        add(layer + ".norm", {layer + ".norm"}, i == 5 ? 0.25 : 0.125);
    }
    operations.push_back({{"kind", "quantize_input"}, {"layer", "x"}, {"seconds", 9.0}});
    const Json repeated = report::repeated_host_work_json(operations);
    REQUIRE(repeated.size() == 3);
    CHECK(repeated[0]["name"] == "embedding");
    CHECK(repeated[0]["count"] == 1);
    CHECK(repeated[1]["name"] == "layer.*.self");
    CHECK(repeated[1]["seconds"].get<double>() == Approx(3.0));
    CHECK(repeated[1]["share"].get<double>() == Approx(0.06));
    CHECK(repeated[2]["name"] == "layer.*.norm");
    CHECK(repeated[2]["least_seconds"] == 0.125);
    CHECK(repeated[2]["most_seconds"] == 0.25);
    CHECK(repeated[2]["images"] == 3);
    // Few segments stand one by one, and so do those with nothing in common.
    Json few = Json::array();
    for (std::size_t i = 0; i < 5; ++i) few.push_back(operations[i]);
    CHECK(report::repeated_host_work_json(few).empty());
    for (std::size_t i = 0; i < operations.size(); ++i) operations[i]["name"] = std::string(i + 1, 'x');
    CHECK(report::repeated_host_work_json(operations).empty());
}

TEST_CASE("A changed die or clock has notes on static power and the energy of events", "[report]") {
    Finished finished(head + work);
    machine::MachineConfig& machine = finished.result.spec.machine;
    // The machine of the test says which die and array were measured.
    CHECK(finished.report()["energy"]["notes"].empty());
    machine.power.die_mm2 = area::area_of(machine, finished.result.units)->die.nominal;
    CHECK(finished.report()["energy"]["notes"].empty());

    machine.matrix_unit.columns = 128;
    machine.clock_mhz = 840;
    finished.result.units = tests::descriptions_of(machine);
    const std::vector<machine::UnitDescription>& units = finished.result.units;
    std::vector<std::string> notes = report::energy_notes(machine, units, {});
    REQUIRE(notes.size() == 2);
    CHECK_THAT(notes[0],
               Catch::StartsWith("static power, 28 W for ") && Catch::Contains("goes with the die's area: "));
    CHECK_THAT(notes[1], Catch::EndsWith("for 1.19 times the voltage of 700 MHz"));
    const Json changed = finished.report()["energy"];
    CHECK(changed["notes"] == notes);
    CHECK_THAT(finished.text(), Catch::Contains("(static power, 28 W for"));
    check_width(finished.text());
    CHECK(changed["static_watts"].get<double>() < 28.0 * 1.44);
    CHECK(changed["voltage"].get<double>() == Approx(1.19).epsilon(0.01));

    // Beyond the highest voltage nothing is known.
    machine.clock_mhz = 848;
    const Json json = finished.report();
    CHECK(json["energy"]["joules"].is_null());
    CHECK(json["energy"]["watts"].is_null());
    CHECK_THAT(json["energy"]["notes"].at(0).get<std::string>(),
               Catch::StartsWith("unknown at 848 MHz") && Catch::EndsWith("this design reaches 847.9 MHz"));
    CHECK(json["layers"][0]["energy"].is_null());
    CHECK_THAT(finished.text(), Catch::Contains("unknown at 848 MHz"));

    machine.clock_mhz = 350;
    CHECK_THAT(
        report::energy_notes(machine, units, {})[1],
        Catch::EndsWith("0.70 times the voltage of 700 MHz, the lowest of the model: it would be enough "
                        "for 406 MHz"));
    machine.clock_mhz = 750;
    CHECK_THAT(report::energy_notes(machine, units, {})[1], Catch::EndsWith("times the voltage of 700 MHz"));

    // The die is not known: the array is compared.
    machine.power.die_mm2 = 0;
    CHECK(report::energy_notes(machine, units, {})[0] ==
          "static power, 28 W, is that of an array of 256 x 256: it does not follow the array's size, "
          "now 256 x 128");
    machine.energy.reset();
    CHECK_THAT(report::energy_notes(machine, units, {})[0],
               Catch::StartsWith("power, 40 W, is that of an array"));
    CHECK_THAT(report::energy_notes(machine, units, {})[1],
               Catch::Contains("750 MHz may have another voltage"));

    // A machine that does not say which chip was measured: the run's own changes count.
    machine.power.clock_mhz = 0;
    machine.power.array_rows = 0;
    CHECK(report::energy_notes(machine, units, {}).empty());
    const std::vector<std::string> set{"clock_mhz", "matrix_unit.rows"};
    notes = report::energy_notes(machine, units, set);
    REQUIRE(notes.size() == 2);
    CHECK_THAT(notes[0], Catch::Contains("the unchanged array"));
    CHECK_THAT(notes[1], Catch::Contains("the unchanged clock"));
}

TEST_CASE("A report has the area of the die, which the text shows where it is asked for", "[report]") {
    Finished finished(head + work);
    const Json json = finished.report();
    double sum = 0.0;
    for (const auto& unit : json["area"]["by_unit"]) sum += unit["mm2"].get<double>();
    CHECK(json["area"]["mm2"] == Approx(sum));
    CHECK(json["area"]["mm2_low"] <= json["area"]["mm2"]);
    CHECK_THAT(finished.text({"area"}), Catch::Contains("unified buffer") && Catch::Contains("in 28 nm"));
    CHECK_THAT(finished.text(), !Catch::Contains("in 28 nm"));
    check_width(finished.text({"area"}));
    finished.result.spec.machine.energy.reset();
    CHECK(finished.report()["area"].is_null());
}
