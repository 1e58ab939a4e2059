// Parameters of a machine one by one: other values, the figure that notices, and the table.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/evidence.h"
#include "sim/study/validate/machine_parameters.h"
#include "sim/study/validate/noticing.h"
#include "sim/study/validate/parameter_study.h"
#include "tests/unit/sim/study/validate/made_target.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

machine::MachineConfig shipped_machine(const std::string& name) {
    return machine::read_machine(project / "configs/machines" / (name + ".json"));
}

MachineParameter parameter(const machine::MachineConfig& machine, const std::string& key) {
    for (MachineParameter& each : machine_parameters(machine)) {
        if (each.key == key) return each;
    }
    FAIL("no parameter " << key);
    return {};
}

std::vector<std::string> labels(const machine::MachineConfig& machine, const std::string& key) {
    std::vector<std::string> all;
    for (const Change& change : changes_of(machine, parameter(machine, key))) all.push_back(change.label);
    return all;
}

using Labels = std::vector<std::string>;

TEST_CASE("The parameters of a machine are all its numbers, switches and choices", "[sim][validate]") {
    const machine::MachineConfig machine = shipped_machine("tpu_v1");
    const std::vector<MachineParameter> all = machine_parameters(machine);
    std::set<std::string> keys;
    for (const MachineParameter& each : all) keys.insert(each.key);
    CHECK(keys.size() == all.size());
    for (const auto& [key, source] : machine.sources) {
        CAPTURE(key);
        CHECK(keys.contains(key));
    }
    CHECK(keys.contains("weight_memory.model"));  // not in the file
    CHECK(keys.contains("matrix_unit.formats[3].passes"));
    CHECK_FALSE(keys.contains("name"));
    CHECK_FALSE(keys.contains("weight_memory.dram.banks"));
    CHECK(parameter(machine, "clock_mhz").shown() == "700 MHz");
    CHECK(parameter(machine, "weight_memory.whole_tiles").shown() == "true");
    CHECK(parameter(machine, "matrix_unit.formats[2].passes").shown() == "2 passes (uint16, int8, int32)");
}

TEST_CASE("A change is of one parameter alone", "[sim][validate]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram");
    const machine::MachineConfig machine = shipped_machine(name);
    for (const MachineParameter& each : machine_parameters(machine)) {
        for (const Change& change : changes_of(machine, each)) {
            CAPTURE(each.key, change.label);
            if (each.key == "weight_memory.model") continue;  // brings the keys of the other model
            std::vector<std::string> different;
            const std::vector<MachineParameter> others = machine_parameters(change.machine);
            for (const MachineParameter& before : machine_parameters(machine)) {
                for (const MachineParameter& after : others) {
                    if (before.key == after.key && before.value != after.value) {
                        different.push_back(before.key);
                    }
                }
            }
            CHECK(different == Labels{each.key});
        }
    }
}

TEST_CASE("Real numbers change by a tenth, counts by a factor of 2, choices to each other value",
          "[sim][validate]") {
    const machine::MachineConfig machine = shipped_machine("tpu_v1");
    CHECK(labels(machine, "clock_mhz") == Labels{"x0.9", "x1.1"});
    CHECK(changes_of(machine, parameter(machine, "clock_mhz"))[1].machine.clock_mhz == Approx(770));
    CHECK(labels(machine, "weight_fifo.depth_tiles") == Labels{"2", "8"});
    CHECK(labels(machine, "weight_memory.whole_tiles") == Labels{"false"});
    CHECK(labels(machine, "weight_memory.model") == Labels{"dram"});
    CHECK(labels(machine, "matrix_unit.engine") == Labels{"pe"});
    CHECK(labels(machine, "matrix_unit.formats[2].passes") == Labels{"1", "4"});
}

TEST_CASE("Where the factor gives no machine, the nearest one is taken, or none", "[sim][validate]") {
    machine::MachineConfig machine = shipped_machine("tpu_v1");
    CHECK(labels(machine, "matrix_unit.mac_latency_cycles") == Labels{"2"});  // at least 1
    CHECK(labels(machine, "matrix_unit.setup_cycles") == Labels{"0", "2"});   // at least 0
    CHECK(labels(machine, "unified_buffer.read_ports") == Labels{"1"});       // at most 3
    CHECK(labels(machine, "weight_memory.latency_cycles") == Labels{"100"});  // 0 has no double
    CHECK(labels(machine, "host_interface.latency_ns") == Labels{"100"});
    CHECK(labels(machine, "energy.unused_mac_fraction") == Labels{"0.1"});  // a share
    machine.accumulators.banks = 4096;
    CHECK(labels(machine, "accumulators.banks") == Labels{"2048"});  // banks divide the rows
    machine.accumulators.rows = 3 * 1365;
    machine.accumulators.banks = 3;
    CHECK(labels(machine, "accumulators.banks") == Labels{"1"});  // neither 6 nor 4
    machine.power.busy_watts = machine.power.idle_watts;
    CHECK(labels(machine, "power.idle_watts") == Labels{"x0.9"});  // never more than busy
}

TEST_CASE("The figure is named whose error grows most; a growth of five is noticed", "[sim][validate]") {
    const std::vector<NoticingFigure> before{{"time", false, 10.0, 11.0}, {"stall", true, 50.0, 45.0}};
    const auto with = [&](double time, double stall) {
        std::vector<NoticingFigure> after = before;
        after[0].ours = time;
        after[1].ours = stall;
        return largest_growth(before, after);
    };
    CHECK(before[0].error() == Approx(10.0));
    CHECK(before[1].error() == Approx(5.0));
    CHECK_FALSE(with(11.0, 45.0));
    CHECK_FALSE(with(9.0, 46.0));  // as far off on the other side, and nearer
    CHECK_FALSE(with(11.499, 45.0)->is_noticed());
    CHECK(with(11.501, 45.0)->is_noticed());
    CHECK(with(11.501, 45.0)->text() == "time: 10.0 -> 15.0 %");
    CHECK(with(8.499, 45.0)->is_noticed());  // on the other side
    CHECK_FALSE(with(11.0, 59.9)->is_noticed());
    CHECK(with(11.0, 60.0)->is_noticed());
    CHECK(with(11.0, 60.0)->text() == "stall: 5.0 -> 10.0 points");
    CHECK(with(11.6, 60.0)->figure == "time");
    CHECK(with(11.6, 62.0)->figure == "stall");
    CHECK_FALSE(with(std::numeric_limits<double>::quiet_NaN(), 45.0));
}

/// A chip whose cycles follow from the bandwidth alone.
double cycles_by_bandwidth(const run::RunSpec& spec) {
    return 1e8 / spec.machine.weight_memory.bandwidth_gb_per_s;
}

machine::MachineConfig made_machine(const std::string& name) {
    return machine::read_machine(MadeTarget::made_machine(name), name + ".json");
}

ParameterStudy study(const std::vector<machine::MachineConfig>& machines, const Evidence& evidence,
                     MadeUpChip& chip) {
    MadeTarget made;
    made.json["noticing"] = nlohmann::json::parse(R"([
        {"name": "cycles", "share": false, "published": "table.cycles * 34000", "ours": "base.seen"},
        {"name": "clock", "share": true, "published": "machine.clock_mhz", "ours": "machine.clock_mhz"}])");
    // Any bandwidth but that of the machine "other" would be noticed by this.
    made.json["noticing"].push_back({{"name", "of another"},
                                     {"share", true},
                                     {"published", "machine.clock_mhz"},
                                     {"ours", "machine.clock_mhz * 2"},
                                     {"machine", "other"}});
    made.json["parameter_runs"] = {"base"};
    return study_parameters(made.setup(), machines, evidence, "evidence.json", std::ref(chip));
}

const ParameterRow& row_of(const MachineParameters& machine, const std::string& key) {
    const auto found =
        std::ranges::find_if(machine.rows, [&](const ParameterRow& row) { return row.parameter.key == key; });
    REQUIRE(found != machine.rows.end());
    return *found;
}

TEST_CASE("A parameter is noticed by a figure, by a test, or by nothing", "[sim][validate]") {
    MadeUpChip chip(cycles_by_bandwidth);
    const Evidence evidence{.machines = {},
                            .tests = {{"unified_buffer.rows", "A test"}, {"matrix_unit.engine", "Engines"}},
                            .unchanged = {{"matrix_unit.engine", "no matter"}}};
    const ParameterStudy result = study({made_machine("made")}, evidence, chip);
    REQUIRE(result.machines.size() == 1);
    const MachineParameters& machine = result.machines[0];

    const ParameterRow& bandwidth = row_of(machine, "weight_memory.bandwidth_gb_per_s");
    CHECK(bandwidth.kind() == "fitted");
    CHECK(bandwidth.source->text == "to nothing");
    REQUIRE(bandwidth.trials.size() == 2);
    CHECK((bandwidth.trials[0].is_noticed() || bandwidth.trials[1].is_noticed()));
    CHECK(bandwidth.is_noticed());
    CHECK_THAT(bandwidth.noticed_by(), Catch::StartsWith("x0.9: "));

    const ParameterRow& depth = row_of(machine, "weight_fifo.depth_tiles");
    CHECK(depth.kind() == "choice");
    CHECK(depth.trials.size() == 2);
    CHECK_FALSE(depth.is_noticed());
    CHECK(depth.noticed_by() == "none");
    CHECK(depth.largest_growth() == "no error grows");

    const ParameterRow& buffer = row_of(machine, "unified_buffer.rows");
    CHECK(buffer.kind() == "default");
    CHECK(buffer.is_noticed());
    CHECK(buffer.noticed_by() == "test \"A test\"");
    CHECK(row_of(machine, "matrix_unit.engine").trials.empty());
    CHECK(row_of(machine, "matrix_unit.engine").noticed_by() == "test \"Engines\"; no matter");

    int changes = 0;
    for (const ParameterRow& row : machine.rows) changes += static_cast<int>(row.trials.size());
    CHECK(chip.calls == 1 + changes);

    const tables::Table unnoticed = unnoticed_table(result);
    const auto lists = [&](const std::string& key) {
        return std::ranges::any_of(unnoticed.rows,
                                   [&](const tables::Row& row) { return row.label == "`" + key + "`"; });
    };
    CHECK(lists("weight_fifo.depth_tiles"));
    CHECK_FALSE(lists("unified_buffer.rows"));
    CHECK_FALSE(lists("weight_memory.bandwidth_gb_per_s"));

    // Each parameter is counted once, in one of the three.
    for (const tables::Row& row : parameter_summary(result).rows) {
        const auto cell = [&](std::size_t i) { return row.cells[i].json().get<int>(); };
        CHECK(cell(0) == cell(1) + cell(2) + cell(3));
    }
}

TEST_CASE("Of further machines, what differs from the first is listed", "[sim][validate]") {
    MadeUpChip chip(cycles_by_bandwidth);
    machine::MachineConfig other = made_machine("other");
    other.weight_fifo.depth_tiles = 2;
    other.clock_mhz = 500;
    const ParameterStudy result = study({made_machine("made"), other}, {}, chip);
    REQUIRE(result.machines.size() == 2);
    CHECK(result.machines[1].beside == "made");
    REQUIRE(result.machines[1].rows.size() == 2);
    CHECK(result.machines[1].rows[0].parameter.key == "clock_mhz");
    CHECK(result.machines[1].rows[1].parameter.key == "weight_fifo.depth_tiles");

    // A clock that changes is seen by the figure of the second machine alone.
    CHECK(row_of(result.machines[1], "clock_mhz").is_noticed());
    CHECK_FALSE(row_of(result.machines[0], "clock_mhz").is_noticed());

    const std::string page =
        to_page(result, "{{summary}}\n{{none}}\n{{made}}\n{{other}}\n", "page.template.md");
    CHECK_THAT(page, Catch::Contains("| `weight_fifo.depth_tiles` | 2 tiles | choice | none | four |"));
    CHECK_THAT(page,
               Catch::Contains("| `weight_fifo.depth_tiles` | other | 2 tiles | choice | no error grows |"));
    CHECK_THROWS_AS(to_page(result, "{{summary}}", "page.template.md"), machine::ConfigError);
    CHECK(to_json(result)["machines"][1]["parameters"].size() == 2);
    const std::string text = to_text(result);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        INFO(text.substr(begin, end - begin));
        CHECK(end - begin <= 80);
        begin = end + 1;
    }
}

TEST_CASE("A value with which a workload cannot run is noticed", "[sim][validate]") {
    MadeUpChip chip([](const run::RunSpec& spec) {
        if (spec.machine.weight_fifo.depth_tiles < 4) throw NoSuchRun("it does not fit");
        return 1000.0;
    });
    const ParameterStudy result = study({made_machine("made")}, {}, chip);
    const ParameterRow& depth = row_of(result.machines[0], "weight_fifo.depth_tiles");
    REQUIRE(depth.trials.size() == 2);
    CHECK(depth.trials[0].is_noticed());
    CHECK_FALSE(depth.trials[1].is_noticed());
    CHECK(depth.noticed_by() == "2: a workload cannot run; 8: nothing");
    CHECK(to_json(result).dump().find("\"failure\":\"it does not fit\"") != std::string::npos);
}

TEST_CASE("An error in sources and evidence is one line", "[sim][validate]") {
    MadeUpChip chip(cycles_by_bandwidth);
    machine::MachineConfig machine = made_machine("made");
    machine.sources["clock_mhz"] = "Table 2";
    CHECK_THROWS_WITH(study({machine}, {}, chip),
                      Catch::StartsWith("made: sources.clock_mhz is \"Table 2\"; "));
    Evidence evidence;
    evidence.tests["clock_mh"] = "A test";
    CHECK_THROWS_WITH(study({made_machine("made")}, evidence, chip),
                      "evidence.json: tests names \"clock_mh\"; none of the machines has such a parameter");
    CHECK_THROWS_WITH(read_evidence({{"schema", "sim.evidence/1"}, {"name", "a"}, {"test", 1}}, "e.json"),
                      Catch::StartsWith("e.json: ") && Catch::Contains("test is 1; it is not a known key"));
}

TEST_CASE("A study of no machine has an empty list", "[sim][validate]") {
    const nlohmann::ordered_json json = to_json(ParameterStudy{.target = "t", .machines = {}});
    CHECK(json.at("machines") == nlohmann::ordered_json::array());
    CHECK(json.at("target") == "t");
}

/// The names of all test cases of the project.
std::set<std::string> test_cases() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project / "tests")) {
        if (!entry.path().string().ends_with("_test.cpp")) continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        constexpr std::string_view begin = "\nTEST_CASE(";
        for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
            const std::size_t first = text.find('"', at);
            names.insert(text.substr(first + 1, text.find('"', first + 1) - first - 1));
        }
    }
    return names;
}

TEST_CASE("Every test that the evidence names is there", "[sim][validate]") {
    const std::set<std::string> known = test_cases();
    CHECK(known.contains("Every test that the evidence names is there"));
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(project / "configs/evidence")) {
        for (const auto& [key, test] : read_evidence(entry.path()).tests) {
            INFO(entry.path() << ": " << key << ": " << test);
            CHECK(known.contains(test));
            ++seen;
        }
    }
    CHECK(seen > 5);
}

}  // namespace
}  // namespace systole::validate
