#include "sim/study/explain/what_if.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/run/path_finder.h"
#include "sim/run/run_config.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using explain::Cause;
using explain::Situation;
using explain::WhatIf;

namespace {

constexpr Cause causes[] = {Cause::WeightStall,  Cause::WeightShift,  Cause::Activations, Cause::Input,
                            Cause::Accumulators, Cause::OutputBuffer, Cause::VectorWork,  Cause::Setup,
                            Cause::Ports,        Cause::Issue,        Cause::Sync,        Cause::BeginAndEnd,
                            Cause::Host,         Cause::UnusedCells,  Cause::UsefulCells};

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
    return {.config = config, .machine = machine_of(config), .inferences = 64};
}

std::vector<std::string> changes_against(Cause cause, const Situation& situation) {
    std::vector<std::string> changes;
    for (const WhatIf& what_if : what_ifs(cause, situation)) changes.push_back(what_if.change);
    return changes;
}

}  // namespace

TEST_CASE("Every what-if gives a valid machine that differs from the original", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram", "tpu_v1_published");
    const Situation situation = situation_of(network_run(name));
    for (const Cause cause : causes) {
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
    for (const Cause cause : causes) {
        // TPU v1 has a port for every unit.
        CHECK(changes_against(cause, fitted).empty() == (cause == Cause::Ports));
    }
    const std::string latency = "an activation latency of one cycle";
    CHECK(changes_against(Cause::Activations, fitted).at(0) == latency);
    const Situation published = situation_of(network_run("tpu_v1_published"));
    for (const std::string& change : changes_against(Cause::Activations, published)) CHECK(change != latency);

    run::RunConfig config = network_run("tpu_v1");
    config.machine_settings = {{"unified_buffer.read_ports", 1}};
    CHECK(changes_against(Cause::Ports, situation_of(config)).size() == 1);
}

TEST_CASE("A compiled program keeps its array and its batch", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    config.model.clear();
    config.program = "net.tpu";
    const Situation situation = situation_of(config);
    CHECK(what_ifs(Cause::WeightShift, situation).empty());
    CHECK(what_ifs(Cause::UnusedCells, situation).empty());
    for (const Cause cause : causes) {
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
    CHECK(what_ifs(Cause::WeightShift, situation_of(config)).size() == 1);  // makes its own input
    config.input = {"images"};
    CHECK(what_ifs(Cause::WeightShift, situation_of(config)).size() == 1);  // 64 of them
    config.batch = 17;
    CHECK(what_ifs(Cause::WeightShift, situation_of(config)).empty());
    config.input.clear();
    config.limit = 64;
    CHECK(what_ifs(Cause::WeightShift, situation_of(config)).empty());
}

TEST_CASE("Four times the weight bandwidth is exact for both memory models", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram");
    const Situation situation = situation_of(network_run(name));
    const WhatIf what_if = what_ifs(Cause::WeightStall, situation).at(0);
    const Rate before = situation.machine.weight_rate();
    const Rate after = machine_of(explain::changed(situation.config, what_if)).weight_rate();
    CHECK(after.bytes * before.cycles == 4 * before.bytes * after.cycles);
}

TEST_CASE("A smaller array keeps the bytes of its unified buffer", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    const Situation situation = situation_of(config);
    const WhatIf what_if = what_ifs(Cause::UnusedCells, situation).at(0);
    const machine::MachineConfig smaller = machine_of(explain::changed(config, what_if));
    CHECK(smaller.tile_bytes() * 4 == situation.machine.tile_bytes());
    CHECK(smaller.unified_buffer_bytes() == situation.machine.unified_buffer_bytes());

    config.machine_settings = {{"matrix_unit.columns", 255}};  // no half of it
    CHECK(what_ifs(Cause::UnusedCells, situation_of(config)).empty());
}

TEST_CASE("A run for its cycles keeps only the settings on which they depend", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    config.input = {"digits"};
    config.resize = "256";
    config.crop = "224";
    config.layout = run::Layout::Chw;
    config.preset = run::Preset::Raw;
    config.outputs = config.float_outputs = "arrays";
    config.labels = config.label_names = "labels";
    config.limit = 7;
    config.batch = 3;
    config.out = "folder";
    config.trace.kinds = {"csv"};
    config.float_reference = true;
    config.baselines = {"haswell"};
    config.machine_settings = {{"clock_mhz", 500}, {"matrix_unit.engine", "pe"}};
    const run::RunConfig timed = explain::for_cycles(config);
    CHECK(timed.timing_only);
    CHECK(timed.model == config.model);
    CHECK(timed.input == config.input);
    CHECK(timed.limit == 7);
    CHECK(timed.batch == 3);
    CHECK(timed.out.empty());
    CHECK(timed.trace.kinds.empty());
    CHECK(timed.labels.empty());
    CHECK(timed.label_names.empty());
    CHECK(timed.outputs.empty());
    CHECK(timed.float_outputs.empty());
    CHECK(timed.resize == "256");  // the images must fit the network
    CHECK(timed.crop == "224");
    CHECK(timed.layout == run::Layout::Chw);
    CHECK(timed.baselines.empty());
    CHECK_FALSE(timed.float_reference);
    CHECK(machine_of(timed).clock_mhz == 500);
    CHECK(machine_of(timed).matrix_unit.engine == machine::Engine::Wavefront);
}
