#include "sim/study/explain/what_if.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/machine/config_reader.h"
#include "sim/run/path_finder.h"
#include "sim/run/record/json.h"
#include "sim/run/run_config.h"
#include "tests/support/run_keys.h"
#include "tests/support/unit_descriptions.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using explain::Situation;
using explain::WhatIf;

namespace {

run::RunConfig network_run(const std::string& machine) {
    run::RunConfig config;
    config.machine = tests::shipped_machine(machine + ".json");
    config.model = "net.h5";
    return config;
}

machine::MachineConfig machine_of(const run::RunConfig& config) {
    return run::read_machine(config, run::PathFinder(config.file));
}

Situation situation_of(const run::RunConfig& config) {
    const machine::MachineConfig machine = machine_of(config);
    return {.config = config, .machine = machine, .inferences = 64, .units = tests::descriptions_of(machine)};
}

/// The causes of the situation's units.
std::vector<explain::Cause> causes_in(const Situation& situation) {
    std::vector<explain::Cause> causes;
    for (const machine::UnitDescription& unit : situation.units) {
        for (const machine::CycleCause& cause : unit.causes) causes.emplace_back(cause);
    }
    return causes;
}

std::vector<WhatIf> against(std::string_view cause, const Situation& situation) {
    for (const explain::Cause each : causes_in(situation)) {
        if (each->name == cause) return what_ifs(each, situation);
    }
    throw std::out_of_range("no cause " + std::string(cause));
}

std::vector<std::string> changes_against(std::string_view cause, const Situation& situation) {
    std::vector<std::string> changes;
    for (const WhatIf& what_if : against(cause, situation)) changes.push_back(what_if.change);
    return changes;
}

}  // namespace

TEST_CASE("Every what-if gives a valid machine that differs from the original", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram", "tpu_v1_published");
    const Situation situation = situation_of(network_run(name));
    for (const explain::Cause cause : causes_in(situation)) {
        for (const WhatIf& what_if : what_ifs(cause, situation)) {
            INFO(name << ": " << what_if.change);
            const run::RunConfig changed = explain::changed(situation.config, what_if);
            const bool differs = to_json(machine_of(changed)) != to_json(situation.machine) ||
                                 changed.batch != situation.config.batch;
            CHECK(differs);
        }
    }
}

TEST_CASE("Each cause has its what-ifs, except those that the machine already has", "[explain]") {
    const Situation fitted = situation_of(network_run("tpu_v1"));
    for (const explain::Cause cause : causes_in(fitted)) {
        // TPU v1 has a port for every unit.
        CHECK(changes_against(cause->name, fitted).empty() == (cause->name == "ports"));
    }
    const std::string latency = "an activation latency of one cycle";
    CHECK(changes_against("activations", fitted).at(0) == latency);
    const Situation published = situation_of(network_run("tpu_v1_published"));
    for (const std::string& change : changes_against("activations", published)) CHECK(change != latency);

    run::RunConfig config = network_run("tpu_v1");
    config.machine_settings = {{"unified_buffer.read_ports", 1}};
    CHECK(changes_against("ports", situation_of(config)).size() == 1);
}

TEST_CASE("A compiled program keeps its array and its batch", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    config.model.clear();
    config.program = "net.tpu";
    const Situation situation = situation_of(config);
    CHECK(against("weight_shift", situation).empty());
    CHECK(against("unused_cells", situation).empty());
    for (const explain::Cause cause : causes_in(situation)) {
        for (const WhatIf& what_if : what_ifs(cause, situation)) {
            const run::RunConfig changed = explain::changed(config, what_if);
            INFO(what_if.change);
            CHECK(changed.batch == config.batch);
            CHECK(machine_of(changed).matrix_unit.rows == situation.machine.matrix_unit.rows);
            CHECK(machine_of(changed).accumulators.rows == situation.machine.accumulators.rows);
        }
    }
}

TEST_CASE("A larger batch is proposed only for runs with enough inferences", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    config.batch = 16;
    CHECK(against("weight_shift", situation_of(config)).size() == 1);  // makes its own input
    config.input = {"images"};
    CHECK(against("weight_shift", situation_of(config)).size() == 1);  // 64 of them
    config.batch = 17;
    CHECK(against("weight_shift", situation_of(config)).empty());
    config.input.clear();
    config.limit = 64;
    CHECK(against("weight_shift", situation_of(config)).empty());
}

TEST_CASE("Four times the weight bandwidth is exact for both memory models", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram");
    const Situation situation = situation_of(network_run(name));
    const WhatIf what_if = against("weight_stall", situation).at(0);
    const Rate before = situation.machine.weight_rate();
    const Rate after = machine_of(explain::changed(situation.config, what_if)).weight_rate();
    CHECK(after.bytes * before.cycles == 4 * before.bytes * after.cycles);
}

TEST_CASE("A change by a factor multiplies each of its settings by that factor", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram");
    run::RunConfig config = network_run(name);
    config.batch = 7;
    // No two values of the machine that a change multiplies are equal.
    config.machine_settings = {{"host_interface.read_gb_per_s", 3.0},
                               {"host_interface.write_gb_per_s", 5.0},
                               {"unified_buffer.rows", 6000},
                               {"accumulators.rows", 1100},
                               {"sequencer.queue_depth", 9}};
    const Situation situation = situation_of(config);
    nlohmann::ordered_json before;
    before["machine"] = to_json(situation.machine);
    before["batch"] = config.batch;
    std::set<std::string> multiplied;
    for (const explain::Cause cause : causes_in(situation)) {
        for (const WhatIf& what_if : what_ifs(cause, situation)) {
            const std::size_t times = what_if.change.find("x the ");
            if (times == std::string::npos) continue;
            INFO(what_if.change);
            const double factor = std::stod(what_if.change.substr(0, times));
            for (const run::Setting& setting : what_if.settings) {
                INFO(setting.key);
                std::string place = "/" + setting.key;
                std::ranges::replace(place, '.', '/');
                const auto value = before.at(nlohmann::ordered_json::json_pointer(place)).get<double>();
                CHECK(setting.value.get<double>() == Approx(factor * value));
                multiplied.insert(setting.key);
            }
        }
    }
    CHECK(multiplied.size() == 9);
}

TEST_CASE("A smaller array keeps the bytes of its unified buffer", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    const Situation situation = situation_of(config);
    const WhatIf what_if = against("unused_cells", situation).at(0);
    const machine::MachineConfig smaller = machine_of(explain::changed(config, what_if));
    CHECK(smaller.tile_bytes() * 4 == situation.machine.tile_bytes());
    CHECK(smaller.unified_buffer_bytes() == situation.machine.unified_buffer_bytes());

    config.machine_settings = {{"matrix_unit.columns", 255}};  // no half of it
    CHECK(against("unused_cells", situation_of(config)).empty());
}

namespace {

using Json = nlohmann::ordered_json;
using tests::KeyUse;
using tests::RunKey;

/// The spec, each value under its path: "/compiler/batch".
Json values_of(const run::RunSpec& spec) {
    return run::fields::write<run::fields::Extent::Compared>(spec).flatten();
}

/// The values that differ, by path: those of `other`, null where it has none.
std::map<std::string, Json> changes(const Json& one, const Json& other) {
    std::map<std::string, Json> changed;
    for (const auto& [path, value] : other.items()) {
        if (!one.contains(path) || one[path] != value) changed[path] = value;
    }
    for (const auto& [path, value] : one.items()) {
        if (!other.contains(path)) changed[path] = nullptr;
    }
    return changed;
}

std::map<std::string, Json> changes(const run::RunConfig& one, const run::RunConfig& other) {
    return changes(values_of(run::make_spec(one)), values_of(run::make_spec(other)));
}

/// The paths of all fields of a spec, through structures.
class FieldFinder {
public:
    template <class Value>
    void field(std::string_view name, Value& value) {
        if constexpr (run::fields::Uncompared<Value>) {
            return;
        } else if constexpr (run::fields::Described<Value> && !std::same_as<Value, run::Content>) {
            FieldFinder inner(path_ + "/" + std::string(name));
            visit_fields(inner, value);
            found.insert(inner.found.begin(), inner.found.end());
        } else {
            found.insert(path_ + "/" + std::string(name));
        }
    }

    explicit FieldFinder(std::string path = {}) : path_(std::move(path)) {}
    std::set<std::string> found;

private:
    std::string path_;
};

}  // namespace

TEST_CASE("There is another value for every key of a run, and it shows in the run's spec", "[explain]") {
    std::set<std::string> keys{"schema"};
    std::set<std::string> changed;
    const run::RunConfig plain = tests::run_with({});
    for (const RunKey& row : tests::run_key_values()) {
        INFO(row.key);
        CHECK(keys.insert(row.key).second);
        const run::RunConfig config = tests::run_with(row.settings);
        CHECK(to_json(config).at(row.key) != to_json(plain).value(row.key, Json()));
        for (const auto& [path, value] : changes(plain, config)) changed.insert(path);
    }
    for (const machine::KeyDescription& key : run::run_keys()) {
        INFO("tests/support/run_keys.h needs a row for the key " << key.name);
        CHECK(keys.erase(key.name) == 1);
    }
    CHECK(keys.empty());

    run::RunSpec spec;
    FieldFinder finder;
    visit_fields(finder, spec);
    for (const std::string& path : finder.found) {
        // These have one value in all runs of a configuration; trainings add state.
        if (path == "/schema" || path == "/simulator" || path == "/observed/phases" || path == "/state")
            continue;
        INFO("no row of tests/support/run_keys.h changes the spec's " << path);
        CHECK(std::ranges::any_of(
            changed, [&](const std::string& each) { return each == path || each.starts_with(path + "/"); }));
    }
}

TEST_CASE("A run for its cycles has every setting on which they depend, and no other", "[explain]") {
    const run::RunConfig plain = tests::run_with({});
    const run::RunConfig plain_timed = explain::for_cycles(plain);
    CHECK(plain_timed.timing_only);
    CHECK(machine_of(plain_timed).matrix_unit.engine == machine::Engine::Wavefront);
    std::vector<RunKey> rows = tests::run_key_values();
    rows.push_back({"machine_settings", KeyUse::Cycles, {{"machine.clock_mhz", 500}}});
    for (const RunKey& row : rows) {
        INFO(row.key);
        const run::RunConfig config = tests::run_with(row.settings);
        const run::RunConfig timed = explain::for_cycles(config);
        std::map<std::string, Json> expected = changes(plain, config);
        expected.erase("/timing_only");
        if (row.use == KeyUse::Values) expected.clear();
        if (row.key == "labels") expected = changes(plain, tests::run_with({row.settings.front()}));
        CHECK(changes(plain_timed, timed) == expected);
    }
    // The array's engine is a setting behind those of the run.
    const run::RunConfig cells = tests::run_with({{"machine.matrix_unit.engine", "pe"}});
    CHECK(machine_of(cells).matrix_unit.engine == machine::Engine::Pe);
    CHECK(machine_of(explain::for_cycles(cells)).matrix_unit.engine == machine::Engine::Wavefront);
}

TEST_CASE("A run for its cycles has the machine that no file has, and its place in messages", "[explain]") {
    run::RunConfig config = tests::run_with({{"machine.clock_mhz", 500}});
    config.machine_object = machine::read_json_object(tests::shipped_machine("tpu_v1_dram.json"));
    config.machine = "no such file";
    config.settings_place = "settings";
    const run::RunConfig timed = explain::for_cycles(config);
    CHECK(machine_of(timed).name == "tpu_v1_dram");
    CHECK(machine_of(timed).clock_mhz == 500);
    CHECK(timed.settings_place == "settings");
}

TEST_CASE("A what-if changes what it says, and no other setting of the run", "[explain]") {
    std::size_t tried = 0;
    for (const RunKey& row : tests::run_key_values()) {
        if (row.use == KeyUse::Values) continue;
        const run::RunConfig timed = explain::for_cycles(tests::run_with(row.settings));
        const Situation situation = situation_of(timed);
        for (const explain::Cause cause : causes_in(situation)) {
            for (const WhatIf& what_if : what_ifs(cause, situation)) {
                INFO(row.key << ": " << what_if.change);
                std::map<std::string, Json> expected;
                for (const run::Setting& setting : what_if.settings) {
                    std::string path = "/" + setting.key;
                    std::ranges::replace(path, '.', '/');
                    if (setting.key == "batch") path = "/compiler/batch";
                    expected[path] = setting.value;
                }
                const std::map<std::string, Json> found = changes(timed, explain::changed(timed, what_if));
                // A setting may have the machine's own value.
                for (const auto& [path, value] : found) {
                    INFO(path);
                    REQUIRE(expected.contains(path));
                    CHECK(expected[path].get<double>() == value.get<double>());
                }
                CHECK_FALSE(found.empty());
                ++tried;
            }
        }
    }
    CHECK(tried > 100);
}

TEST_CASE("A unit may say against which causes its what-if helps", "[explain]") {
    Situation situation = situation_of(network_run("tpu_v1"));
    const std::vector<std::string> before = changes_against("input", situation);
    situation.units.push_back({.name = "toy",
                               .what_ifs = {{.name = "toy_clock",
                                             .change = "2x the clock of the toy",
                                             .values = {{"clock_mhz", 1400.0}},
                                             .causes = {"input", "sync"}}}});
    std::vector<std::string> expected = before;
    expected.emplace_back("2x the clock of the toy");
    CHECK(changes_against("input", situation) == expected);
    CHECK(changes_against("sync", situation).back() == "2x the clock of the toy");
    CHECK(changes_against("setup", situation).back() != "2x the clock of the toy");
}
