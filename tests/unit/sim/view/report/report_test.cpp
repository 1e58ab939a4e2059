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
#include "sim/view/report/figures.h"
#include "sim/view/report/report_file.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"
#include "tests/support/unit_descriptions.h"

using namespace systole;

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

    run::RunRecord result;
};

const std::string work =
    "read_weights tile=0\n"
    "tag 1\nmatmul ub=0 acc=0 rows=100\n"
    "read_weights tile=0\n"
    "tag 2\nmatmul ub=0 acc=200 rows=30\n"
    "tag 0\nread_weights tile=0\nmatmul ub=0 acc=400 rows=7\nhalt\n";

const std::string head = ".array 256 256\n.tile 256 256 fill 1\n";

std::uint64_t value(const report::CounterValues& counters, std::string_view name) {
    for (const auto& [key, count] : counters) {
        if (key == name) return count;
    }
    FAIL("no counter " << name);
    return 0;
}

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
        report::HostShare share;
        for (const char* const name : names) share.layers.push_back({.name = name, .macs = 1});
        return report::layers_text(share);
    };
    CHECK(text({"a", "b"}) == "a and b");
    CHECK(text({"/features/features.1/conv/conv.0/conv.0.0/Conv", "/features/features.1/conv/conv.1/Conv"}) ==
          "/features/f~onv.0.0/Conv and /features/f~/conv.1/Conv");
    // Where both ends are the same, more of them is shown.
    CHECK(text({"/features/block.1/conv/convolution/Conv_quantized",
                "/features/block.2/conv/convolution/Conv_quantized"}) ==
          "/features/block.1~ion/Conv_quantized and /features/block.2~ion/Conv_quantized");
    // Equal names cannot be told apart.
    CHECK(text({"the_same_name_of_twenty_five", "the_same_name_of_twenty_five"}) ==
          "the_same_na~_twenty_five and the_same_na~_twenty_five");
}

TEST_CASE("The layers' cycles and counters sum to the run's", "[report]") {
    const Finished finished(head + work);
    const report::Report report = report::make_report(finished.result);
    CHECK(report.main_unit.cycles() == report.cycles);
    CHECK(report.main_unit.at("active_cycles") == 137);
    REQUIRE(report.layers.size() == 3);
    CHECK(report.layers[0].name == "tag 1");
    CHECK(report.layers[0].main_unit.at("active_cycles") == 100);
    CHECK(report.layers[1].main_unit.at("active_cycles") == 30);
    CHECK(report.layers[2].name == "(outside layers)");
    CHECK(report.layers[2].main_unit.at("active_cycles") == 7);
    for (const auto& [name, total] : report.main_unit.counters) {
        INFO(name);
        std::uint64_t sum = 0;
        for (const report::Layer& layer : report.layers) sum += value(layer.main_unit.counters, name);
        CHECK(sum == total);
    }
    std::uint64_t cycles = 0;
    for (const report::InstructionKind& kind : report.instruction_kinds) cycles += kind.main_unit.cycles();
    CHECK(cycles == report.cycles);
    double shares = 0.0;
    for (const report::Layer& layer : report.layers) shares += *layer.share;
    CHECK(shares == Approx(1.0));
}

TEST_CASE("Ratio is cycles over the layers' largest bounds, and fill is full array over array", "[report]") {
    const Finished finished(".array 256 256\n.tile 128 256 fill 1\n" + work);
    const report::Report report = report::make_report(finished.result);
    // A tile takes 65536 / 32.625e9 s = 1406.1 cycles of 700 MHz. That of tag 2 is fetched under tag 1.
    REQUIRE(report.layers.size() == 3);
    CHECK(report.layers[0].bounds.largest().cycles == 1406);
    CHECK(report.layers[1].bounds.largest().cycles == 30);
    CHECK(report.layers[2].bounds.largest().cycles == 2812);
    CHECK(report.bounds.largest().cycles == 4218);
    CHECK(*report.bounds.ratio == Approx(static_cast<double>(report.cycles) / (1406 + 30 + 2812)));
    CHECK(*report.layers[0].bounds.ratio ==
          Approx(static_cast<double>(report.layers[0].main_unit.cycles()) / 1406));
    CHECK_FALSE(report.layers[2].bounds.ratio);  // outside layers
    CHECK(*report.layers[0].bounds.fill == 0.5);
    CHECK(*report.bounds.fill == Approx(69.0 / 137));  // half of 137, rounded up
    const std::string text = report::to_text(report, std::vector<std::string>{"bounds"});
    CHECK_THAT(text, Catch::Contains("\n  weight memory            4,218 ") &&
                         Catch::Contains("at least: weights are fetched\n") &&
                         Catch::Contains("\n  full array                  69 ") &&
                         Catch::Contains("\n  ratio                     1.18 ") &&
                         Catch::Contains("\n  fill                     0.504 "));
    check_width(text);
}

TEST_CASE("The text names the part whose bound is the largest, whichever it is", "[report]") {
    const Finished finished(head + work);
    report::Report report = report::make_report(finished.result);
    const std::vector<std::tuple<std::string, std::string, std::string>> parts{
        {"array", "array", "rows pass through the array"},
        {"data_setup", "data setup", "lines of windows are read"},
        {"weight_memory", "weight memory", "weights are fetched"},
        {"host_link", "host link", "data and instructions"},
        {"activation", "activation", "the activation unit works"}};
    for (const auto& [largest, name, meaning] : parts) {
        for (const auto& [other, other_name, other_meaning] : parts) {
            if (other == largest) continue;
            for (report::LeastCycles& each : report.bounds.least) {
                each.cycles = each.name == largest ? 4321 : each.name == other ? 4320 : 0;
            }
            const std::string text = report::to_text(report, std::vector<std::string>{"bounds"});
            CAPTURE(name, other_name, text);
            CHECK_THAT(text, Catch::Contains(fmt::format("\n  {:<16}         4,321 ", name)) &&
                                 Catch::Contains("at least: " + meaning));
        }
    }
    // `macs` is of no mapping; of equal bounds, the first counts.
    for (report::LeastCycles& each : report.bounds.least) each.cycles = 4321;
    CHECK(report.bounds.largest().name == "array");
    CHECK_THROWS_WITH(report.bounds.at("sorter"), "there is no bound sorter");
}

TEST_CASE("A bound of a unit that no view knows appears in JSON and text", "[report]") {
    Finished finished(head + work);
    finished.result.bounds.push_back({.name = "toy_sorter",
                                      .part = "sorter",
                                      .meaning = "rows are sorted",
                                      .run = 9000,
                                      .by_tag = {0, 8000, 20}});
    const report::Report report = report::make_report(finished.result);
    const auto json = report::to_json(report);
    std::vector<std::string> keys;
    for (const auto& [key, value] : json["bounds"].items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"macs", "array", "data_setup", "weight_memory", "host_link",
                                           "activation", "toy_sorter", "ratio", "fill"});
    CHECK(json["bounds"]["toy_sorter"] == 9000);
    CHECK(json["layers"][0]["bounds"]["toy_sorter"] == 8000);
    CHECK(json["layers"][1]["bounds"]["toy_sorter"] == 20);
    CHECK(json["layers"][2]["bounds"]["toy_sorter"] == 0);  // outside layers
    // Of the first layer, it is the largest.
    CHECK(*report.bounds.ratio == Approx(static_cast<double>(report.cycles) / (8000 + 30 + 2812)));
    CHECK_THAT(report::to_text(report, std::vector<std::string>{"bounds"}),
               Catch::Contains("\n  toy sorter               9,000 ") &&
                   Catch::Contains("at least: rows are sorted\n"));
}

TEST_CASE("Cycles are split by the kind of matrix instruction under each tag", "[report]") {
    const Finished finished(head + work);
    const report::Report report = report::make_report(finished.result);
    REQUIRE(report.instruction_kinds.size() == 1);
    CHECK(report.instruction_kinds[0].instruction == "matmul");
    CHECK(report.instruction_kinds[0].executed == 3);
    CHECK(report.instruction_kinds[0].main_unit.at("active_cycles") == 137);
    CHECK(report.instruction_kinds[0].main_unit.counters == report.main_unit.counters);

    isa::Program program;  // as if under the same tags there were convolutions as well
    program.instructions = {isa::DebugTag{.tag = 1}, isa::MatrixMultiply{}, isa::DebugTag{.tag = 2},
                            isa::MatrixMultiply{},   isa::Convolve{},       isa::Convolve{}};
    const auto kinds = report::by_instruction_kind(run::facts_of(program, machine::MachineConfig{}).tags,
                                                   finished.result.main_unit(), finished.result.counters);
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].instruction == "matmul");
    CHECK(kinds[0].main_unit.at("active_cycles") == 100);
    CHECK(kinds[1].instruction == "mixed");
    CHECK(kinds[1].executed == 3);
    CHECK(kinds[1].main_unit.at("active_cycles") == 30);
    CHECK(kinds[2].instruction == "none");
    CHECK(kinds[2].executed == 0);
    CHECK(kinds[2].main_unit.at("active_cycles") == 7);
}

TEST_CASE("A program without a network is measured by its own MACs", "[report]") {
    const Finished finished(head + work);
    const report::Report report = report::make_report(finished.result);
    CHECK(report.inferences == 0);
    CHECK_FALSE(report.inferences_per_second);
    CHECK(report.figure("seconds_per_batch").is_null());
    CHECK_FALSE(report.accuracy);
    CHECK(report.seconds == Approx(static_cast<double>(report.cycles) / 700e6));
    CHECK(*report.achieved_tops ==
          Approx(2.0 * static_cast<double>(report.main_unit.useful_macs) / report.seconds / 1e12));
    CHECK(report.peak_tops == Approx(91.75).margin(0.01));
    CHECK(report.roofline->macs_per_weight_byte ==
          Approx(static_cast<double>(report.main_unit.useful_macs) / (3.0 * 65536)));
    CHECK(report.roofline->ridge == Approx(65536 * 700e6 / 32.625e9));
    CHECK(value(report.main_unit.counters, "useful_macs") == 137 * 65536);
}

TEST_CASE("Without a section energy, energy is published watts times seconds", "[report]") {
    Finished finished(head + work);
    finished.result.spec.machine.energy.reset();
    const report::Report report = report::make_report(finished.result);
    REQUIRE(report.energy);
    CHECK(report.energy->static_joules == Approx(28.0 * report.seconds));
    CHECK(report.energy->dynamic_joules == Approx(12.0 * report.seconds));
    CHECK(report.energy->joules() == Approx(40.0 * report.seconds));
    CHECK(report.energy->watts == 40.0);
    CHECK_FALSE(report.energy->joules_per_inference);
    CHECK_FALSE(report.energy->events);
    CHECK_FALSE(report.layers.front().energy);
    CHECK(report::to_json(report)["energy"]["by_unit"].size() == 2);
    CHECK(report::to_json(report)["layers"][0]["energy"].is_null());
    CHECK(report::to_text(report).find("published, of the busy chip") != std::string::npos);

    // Without idle watts, no part of it is called static, or 0.
    finished.result.spec.machine.power.idle_watts = 0.0;
    const report::Report busy = report::make_report(finished.result);
    const auto energy = report::to_json(busy)["energy"];
    CHECK(energy["joules"].get<double>() == Approx(40.0 * report.seconds));
    CHECK(energy["by_unit"] == nlohmann::ordered_json{{"chip", energy["joules"]}});
    for (const char* const key : {"static_joules", "dynamic_joules", "static_watts"})
        CHECK(energy[key].is_null());
    const std::string text = report::to_text(busy);
    CHECK(text.find("the static part is not known") != std::string::npos);
    CHECK(text.find(" static, ") == std::string::npos);

    finished.result.spec.machine.power = {};
    const report::Report without = report::make_report(finished.result);
    CHECK_FALSE(without.energy);
    CHECK(report::to_json(without)["energy"]["joules"].is_null());
    CHECK(report::to_text(without).find("the machine file gives no watts") != std::string::npos);
}

TEST_CASE("A figure of the list is in report.json, also where nobody gave it a place", "[report]") {
    Finished finished(head + work);
    report::Report report = report::make_report(finished.result);
    report.figures.emplace_back("matrix_unit.rows_a_tile", 2.5);
    report.figures.emplace_back("answer", 42);
    const nlohmann::ordered_json json = report::to_json(report);
    CHECK(report.figures.size() > 2);
    for (const auto& [path, value] : report.figures) {
        CAPTURE(path);
        const nlohmann::ordered_json* const found = report::find_path(json, path);
        REQUIRE(found != nullptr);
        CHECK(*found == value);
    }
    CHECK(json["matrix_unit"]["rows_a_tile"] == 2.5);
    CHECK(report.figure("answer") == 42);
    CHECK(report.figure("question").is_null());
}

TEST_CASE("Energy by event: by unit, by layer and by window it sums to the run's", "[report]") {
    Finished finished(head + work);
    finished.result.spec.machine.energy->die_dynamic_factor = 2.0;
    finished.result.spec.observed.power_windows = 9;
    const report::Report report = report::make_report(finished.result);
    REQUIRE(report.energy);
    REQUIRE(report.energy->events);
    const double all = report.energy->joules();
    CHECK(report.energy->static_joules == Approx(28.0 * report.seconds));
    CHECK(report.energy->watts.value() == Approx(all / report.seconds));
    double units = 0.0;
    for (const auto& [unit, joules] : report.energy->by_unit) units += joules;
    CHECK(units == Approx(all).epsilon(1e-12));
    double layers = 0.0;
    for (const report::Layer& layer : report.layers) layers += layer.energy->total();
    CHECK(layers == Approx(all).epsilon(1e-12));

    const report::EventEnergy& events = *report.energy->events;
    const nlohmann::ordered_json json = report::to_json(report)["energy"];
    const double weight_memory = json["by_unit"]["weight_memory"];
    CHECK(events.die_watts.value() == Approx((all - weight_memory) / report.seconds));
    CHECK(events.published_watts == 40.0);
    // Half of the die's dynamic energy is the factor's.
    const double dynamic_on_die = report.energy->dynamic_joules - weight_memory;
    REQUIRE(events.calibration);
    CHECK(events.calibration->uncalibrated_joules == Approx(all - dynamic_on_die / 2));
    CHECK(json["uncalibrated"]["joules"] == events.calibration->uncalibrated_joules);

    REQUIRE(events.over_time);
    const std::uint64_t window_cycles = json["power_over_time"]["window_cycles"];
    CHECK(window_cycles == (report.cycles + 8) / 9);
    double over_time = 0.0;
    for (const auto& [unit, watts] : json["power_over_time"]["watts"].items()) {
        double of_unit = 0.0;
        for (std::size_t window = 0; window < watts.size(); ++window) {
            const std::uint64_t cycles = std::min(window_cycles, report.cycles - window * window_cycles);
            of_unit += watts[window].get<double>() * static_cast<double>(cycles) / 700e6;
        }
        CHECK(of_unit == Approx(json["by_unit"][unit].get<double>()).epsilon(1e-9));
        over_time += of_unit;
    }
    CHECK(over_time == Approx(all).epsilon(1e-9));

    finished.result.spec.observed.power_windows = 0;
    CHECK_FALSE(report::to_json(report::make_report(finished.result))["energy"].contains("power_over_time"));
    const std::string text = report::to_text(report);
    CHECK(text.find("weight memory") != std::string::npos);
    CHECK(text.find("40.0 W published, busy") != std::string::npos);
    CHECK(text.find("without the factor 2 on its events") != std::string::npos);
    check_width(text);
}

TEST_CASE("report.json has the keys that other programs read", "[report]") {
    const Finished finished(head + work);
    const nlohmann::ordered_json json = report::to_json(report::make_report(finished.result));
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
    report::Report report = report::make_report(finished.result);
    CHECK_FALSE(report.roofline);
    CHECK(report::to_json(report)["roofline"].is_null());
    CHECK(report::to_json(report)["bounds"]["fill"].is_null());
    const std::string text = report::to_text(report);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("inf ") == std::string::npos);
}

TEST_CASE("A layer without cycles is described in words", "[report]") {
    Finished finished(head + ".layer 3a_1x1 convolution macs=6400\n.layer 3a_reduce \"joined to 3a_1x1\"\n" +
                      ".layer other depthwise_convolution\n" +
                      "read_weights tile=0\ntag 1\nmatmul ub=0 acc=0 rows=100\n"
                      "tag 3\nread_weights tile=0\nmatmul ub=0 acc=0 rows=9\nhalt\n");
    const report::Report report = report::make_report(finished.result);
    REQUIRE(report.layers.size() >= 3);
    CHECK(report.layers[1].main_unit.cycles() == 0);
    CHECK(report.layers[1].macs_per_inference == 0);
    CHECK_FALSE(report.layers[1].array_utilization);
    const std::string text = report::to_text(report);
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
    const report::Report report = report::make_report(finished.result);
    const std::string plain = report::to_text(report);
    const std::string coloured = report::to_text(report, {}, {.colours = true});
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
    const report::Report report = report::make_report(finished.result);
    CHECK(report::to_text(report, {}, {.columns = 80}) == report::to_text(report));
}

TEST_CASE("Layers have long names where there is room, and fewer columns where there is not", "[report]") {
    const Finished finished(head +
                            ".layer block_12/depthwise_convolution convolution macs=6400\n"
                            ".layer second dense macs=6400\n" +
                            work);
    const report::Report report = report::make_report(finished.result);
    const std::vector<std::string> layers{"layers"};
    const auto text = [&](std::size_t columns) {
        return report::to_text(report, layers, {.columns = columns});
    };
    CHECK_THAT(text(140), Catch::Contains("  block_12/depthwise_convolution convolution "));
    CHECK_THAT(text(80), Catch::Contains("  block_1~volution convolution "));
    CHECK_THAT(text(75), Catch::Contains("  block~ution convolution "));
    CHECK_THAT(text(73), Catch::Contains("  block_12/~onvolution  ") && !Catch::Contains("convolution ") &&
                             Catch::Contains("  used"));
    CHECK_THAT(text(60), Catch::Contains("  block_~lution  ") && !Catch::Contains("  used") &&
                             Catch::Contains("% run"));
}

TEST_CASE("The text fits its columns, whatever the names and numbers", "[report]") {
    const auto columns = GENERATE(as<std::size_t>(), 60, 61, 72, 80, 100, 140);
    const terminal::Look look{.columns = columns};
    Finished finished(head + work);
    finished.result.spec.labels.machine_settings.push_back({std::string(300, 'k'), std::string(300, 'v')});
    report::Report report = report::make_report(finished.result);
    report.model = report.machine = std::string(200, 'm');
    for (report::LeastCycles& each : report.bounds.least) each.cycles = 9'999'999'999;
    report.bounds.ratio = 1234567.8;
    report.bounds.fill = 0.000123456;
    report.batch = 4294967295U;
    report.batches = 1'000'000;
    report.inferences = 9'999'999'999;
    report.inferences_per_second = 123456789.0;
    for (auto& [path, value] : report.figures) {
        if (path == "seconds_per_batch") value = 1234.5;
    }
    report.timing_only = true;
    report.accuracy = report.float_accuracy = 1.0;
    report.float_agreements = report.inferences;
    for (report::Layer& layer : report.layers) {
        layer.name = "a layer's name\nwith a line end";
        layer.kind = "depthwise_convolution";
        layer.main_unit.classes.back() = 9'999'999'999;
    }
    report::Comparison comparison{.baseline = std::string(100, 'b'),
                                  .inferences_per_second = 123456789.0,
                                  .memory_bound = true,
                                  .watts = 1.0,
                                  .speedup = 123456.0,
                                  .performance_per_watt = {.total = 99999.0, .incremental = {}},
                                  .int8_inferences_per_second = 1.0,
                                  .int8_speedup = 0.01,
                                  .joules_per_inference = {},
                                  .expected = report::ComparisonExpected{},
                                  .measured = report::ComparisonMeasured{}};
    comparison.expected->inferences_per_second = 987654321.0;
    comparison.expected->speedup = 123456.0;
    comparison.expected->performance_per_watt = {.total = 99999.0, .incremental = 99999.0};
    comparison.expected->model.batch = 4294967295U;
    comparison.expected->model.latency_seconds = 1234.5;
    comparison.expected->efficiency = {.precision = baselines::Precision::Fp32,
                                       .peak_share = 0.123456,
                                       .memory_share = 0.987654,
                                       .layer_microseconds = 123456.0,
                                       .latency_factor = 2.0,
                                       .largest_batch = 64};
    comparison.measured->fp32 = comparison.measured->int8 = *comparison.expected;
    comparison.ratio_band = comparison.measured->fp32.ratio_band =
        baselines::Band{.least = 0.35, .most = 98.7};
    comparison.expected->band = comparison.expected->ratio_band = comparison.ratio_band;
    report.comparison.push_back(comparison);
    report.host_time = {.percent = machine::HostPercent{.typical = 1234.5, .least = 0, .most = 9999.5},
                        .source = std::string(100, 's'),
                        .inferences_per_second = 123456789.0,
                        .band = comparison.ratio_band};
    report.claim = report::make_claim(report);
    report.host_operations.push_back(
        {.kind = std::string(50, 'k'), .layer = std::string(50, 'l'), .seconds = {}});
    report.host_operations.push_back({.kind = "softmax", .layer = std::string(50, 'l'), .seconds = 1e-7});
    report.host_operations.push_back({.kind = "segment",
                                      .layer = std::string(50, 'l'),
                                      .seconds = 123456.7,
                                      .layers = {"l"},
                                      .share = 0.9999,
                                      .images = 9'999'999'999});
    report.host = std::string(50, 'h');
    report.host_share = report::HostShare{
        .layers = {{std::string(60, 'a'), 1}, {std::string(60, 'b'), 1}, {"c", 1}, {"d", 1}, {"e", 1}},
        .macs = 5,
        .macs_share = 0.5,
        .seconds = 1.0,
        .seconds_share = 0.25};
    check_width(report::to_text(report, {}, look), columns);
    report.accuracy.reset();
    report.timing_only = false;
    report.predictions.assign(100, 4294967295U);
    report.first_probabilities.assign(8, 1.0F);
    report.best_classes.assign(
        8, {{{.number = 4294967295, .score = -1.2345e-30F, .name = std::string(200, 'n')}}});
    check_width(report::to_text(report, {}, look), columns);
    report::InstructionLine line;
    line.unit = "activation";
    line.text = "activate " + std::string(30, 'x') + " and " + std::string(90, 'y');
    report.instruction_lines.assign(3, line);
    report.instruction_lines[1].issued = report.instruction_lines[1].complete = 9'999'999'999;
    check_width(report::to_text(report, std::vector<std::string>{"instructions"}, look), columns);
}

TEST_CASE("A report that cannot be written is the user's error", "[report]") {
    CHECK_THROWS_AS(report::make_folder("/proc/no/such"), OutputError);
    CHECK_THROWS_AS(write_file("/proc/no_such_file", "x"), OutputError);
}

TEST_CASE("Predictions that do not fit the line are announced by dots", "[report]") {
    report::Report report;
    report.inferences = 7;
    report.predictions = {1, 2, 3, 4, 5, 6, 7};
    const std::vector<std::string> summary{"summary"};
    CHECK_THAT(report::to_text(report, summary), Catch::Contains("1, 2, 3, 4, 5, 6, 7\n"));
    report.first_probabilities.assign(7, 1.0F);
    CHECK_THAT(report::to_text(report, summary),
               Catch::Contains("1 (100 %), 2 (100 %), 3 (100 %), 4 (100 %), 5 (100 %), ...\n"));
    report.predictions.resize(9);
    report.first_probabilities.clear();
    CHECK_THAT(report::to_text(report, summary), Catch::Contains("6, 7, 0, ...\n"));
}

TEST_CASE("The best classes of the first inferences are listed with their names", "[report]") {
    report::Report report;
    report.inferences = 1;
    report.predictions = {285};
    report.best_classes = {{{{.number = 285, .score = 0.8125F, .name = "Egyptian cat"},
                             {.number = 281, .score = 0.0625F, .name = "tabby\x1b[31m"}}}};
    const std::vector<std::string> summary{"summary"};
    CHECK_THAT(report::to_text(report, summary),
               Catch::Contains("  image 0             0.8125     285  Egyptian cat\n"
                               "                      0.0625     281  tabby?[31m\n"));
    const auto json = report::to_json(report).at("best_classes");
    CHECK(json.at(0).at(0).at("class") == 285);
    CHECK(json.at(0).at(0).at("name") == "Egyptian cat");
    CHECK(json.at(0).at(1).at("score") == 0.0625);
    report.are_probabilities = true;
    CHECK_THAT(report::to_text(report, summary),
               Catch::Contains("  image 0             81.2 %     285  Egyptian cat\n"));
    CHECK(report::to_json(report).at("best_classes").at(0).at(1).at("probability") == 0.0625);
    CHECK_FALSE(report::to_json(report::Report()).contains("best_classes"));
}

TEST_CASE("Numbers below 1 are printed plainly", "[report]") {
    report::Report report;
    report.inferences = 1;
    report.inferences_per_second = 0.713;
    report.parts.weight_memory = true;
    report.roofline = {.macs_per_weight_byte = 0.975, .ridge = 0.25, .bound_tops = 1.0, .peak_tops = 1.0};
    const std::string text = report::to_text(report, std::vector<std::string>{"summary"});
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
    const report::Report report = report::make_report(finished.result);
    const std::vector<std::string> sections{"layers"};
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    const std::string text = report::to_text(report, sections);
    CHECK(lines(text) == 1 + 10 + 1 + 2);
    CHECK_THAT(text, Catch::Contains(fmt::format("({} others", report.layers.size() - 10)) &&
                         Catch::Contains("--all lists them)"));
    CHECK_THAT(text, !Catch::Contains("tag 2 "));
    const std::string all = report::to_text(report, sections, {}, true);
    CHECK(lines(all) == 1 + static_cast<std::ptrdiff_t>(report.layers.size()) + 1);
    CHECK_THAT(all, Catch::Contains("tag 2 ") && !Catch::Contains("others"));
    check_width(text);
}

TEST_CASE("A changed die or clock has notes on static power and the energy of events", "[report]") {
    Finished finished(head + work);
    machine::MachineConfig& machine = finished.result.spec.machine;
    // The machine of the test says which die and array were measured.
    CHECK(report::make_report(finished.result).energy->notes.empty());
    machine.power.die_mm2 = area::area_of(machine, finished.result.units)->die.nominal;
    CHECK(report::make_report(finished.result).energy->notes.empty());

    machine.matrix_unit.columns = 128;
    machine.clock_mhz = 840;
    finished.result.units = tests::descriptions_of(machine);
    const std::vector<machine::UnitDescription>& units = finished.result.units;
    std::vector<std::string> notes = report::energy_notes(machine, units, {});
    REQUIRE(notes.size() == 2);
    CHECK_THAT(notes[0],
               Catch::StartsWith("static power, 28 W for ") && Catch::Contains("goes with the die's area: "));
    CHECK_THAT(notes[1], Catch::EndsWith("for 1.19 times the voltage of 700 MHz"));
    const report::Report changed = report::make_report(finished.result);
    CHECK(report::to_json(changed)["energy"]["notes"] == notes);
    CHECK_THAT(report::to_text(changed), Catch::Contains("(static power, 28 W for"));
    check_width(report::to_text(changed));
    CHECK(changed.energy->static_watts < 28.0 * 1.44);
    CHECK(changed.energy->voltage == Approx(1.19).epsilon(0.01));

    // Beyond the highest voltage nothing is known.
    machine.clock_mhz = 848;
    const report::Report beyond = report::make_report(finished.result);
    CHECK_FALSE(beyond.energy);
    CHECK_THAT(beyond.no_energy.value(),
               Catch::StartsWith("unknown at 848 MHz") && Catch::EndsWith("this design reaches 847.9 MHz"));
    const auto json = report::to_json(beyond);
    CHECK(json["energy"]["watts"].is_null());
    CHECK(json["energy"]["notes"][0] == *beyond.no_energy);
    CHECK(json["layers"][0]["energy"].is_null());
    CHECK_THAT(report::to_text(beyond), Catch::Contains("unknown at 848 MHz"));

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
    const report::Report report = report::make_report(finished.result);
    const auto json = report::to_json(report);
    double sum = 0.0;
    for (const auto& unit : json["area"]["by_unit"]) sum += unit["mm2"].get<double>();
    CHECK(json["area"]["mm2"] == Approx(sum));
    CHECK(json["area"]["mm2_low"] <= json["area"]["mm2"]);
    const std::vector<std::string> only{"area"};
    CHECK_THAT(report::to_text(report, only),
               Catch::Contains("unified buffer") && Catch::Contains("in 28 nm"));
    CHECK_THAT(report::to_text(report), !Catch::Contains("in 28 nm"));
    check_width(report::to_text(report, only));
    finished.result.spec.machine.energy.reset();
    CHECK(report::to_json(report::make_report(finished.result))["area"].is_null());
}
