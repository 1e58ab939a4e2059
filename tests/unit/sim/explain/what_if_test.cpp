#include "sim/explain/what_if.h"

#include <catch2/catch.hpp>
#include <string>

#include "sim/run/compile.h"
#include "sim/run/path_finder.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;
using explain::Cause;
using explain::WhatIf;

namespace {

constexpr Cause causes[] = {Cause::WeightStall, Cause::WeightShift, Cause::Activations,
                            Cause::Input,       Cause::Setup,       Cause::Ports,
                            Cause::Idle,        Cause::UnusedCells, Cause::UsefulCells};

run::RunConfig network_run(const std::string& machine) {
    run::RunConfig config;
    config.machine = tests::shipped_machine(machine + ".json");
    config.model = "net.h5";
    return config;
}

machine::MachineConfig machine_of(const run::RunConfig& config) {
    return run::read_machine(config, run::PathFinder(config.file));
}

}  // namespace

TEST_CASE("Every what-if makes a machine that can be built, and another one", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram");
    const run::RunConfig config = network_run(name);
    const machine::MachineConfig machine = machine_of(config);
    for (const Cause cause : causes) {
        const auto all = what_ifs(cause, config, machine);
        CHECK_FALSE(all.empty());
        for (const WhatIf& what_if : all) {
            INFO(name << ": " << what_if.change);
            const run::RunConfig changed = explain::changed(config, what_if);
            const bool differs =
                to_json(machine_of(changed)) != to_json(machine) || changed.batch != config.batch;
            CHECK(differs);
        }
    }
}

TEST_CASE("A compiled program keeps its array and its batch", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    config.model.clear();
    config.program = "net.tpu";
    const machine::MachineConfig machine = machine_of(config);
    CHECK(what_ifs(Cause::WeightShift, config, machine).empty());
    CHECK(what_ifs(Cause::UnusedCells, config, machine).empty());
    for (const Cause cause : causes) {
        for (const WhatIf& what_if : what_ifs(cause, config, machine)) {
            const run::RunConfig changed = explain::changed(config, what_if);
            INFO(what_if.change);
            CHECK(changed.batch == config.batch);
            CHECK(machine_of(changed).matrix_unit.rows == machine.matrix_unit.rows);
            CHECK(machine_of(changed).accumulators.rows == machine.accumulators.rows);
        }
    }
}

TEST_CASE("Four times the weight bandwidth is four times, of either memory", "[explain]") {
    const std::string name = GENERATE("tpu_v1", "tpu_v1_dram");
    const run::RunConfig config = network_run(name);
    const machine::MachineConfig machine = machine_of(config);
    const WhatIf what_if = what_ifs(Cause::WeightStall, config, machine).at(0);
    const machine::Rate before = machine.weight_rate();
    const machine::Rate after = machine_of(explain::changed(config, what_if)).weight_rate();
    CHECK(after.bytes * before.cycles == 4 * before.bytes * after.cycles);
}

TEST_CASE("A smaller array keeps the bytes of its unified buffer", "[explain]") {
    const run::RunConfig config = network_run("tpu_v1");
    const machine::MachineConfig machine = machine_of(config);
    const WhatIf what_if = what_ifs(Cause::UnusedCells, config, machine).at(0);
    const machine::MachineConfig smaller = machine_of(explain::changed(config, what_if));
    CHECK(smaller.tile_bytes() * 4 == machine.tile_bytes());
    CHECK(smaller.unified_buffer_bytes() == machine.unified_buffer_bytes());
}

TEST_CASE("A run for its cycles keeps what they depend on, and asks for nothing else", "[explain]") {
    run::RunConfig config = network_run("tpu_v1");
    config.input = {"digits"};
    config.labels = "labels";
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
    CHECK(timed.baselines.empty());
    CHECK_FALSE(timed.float_reference);
    CHECK(machine_of(timed).clock_mhz == 500);
    CHECK(machine_of(timed).matrix_unit.engine == machine::Engine::Wavefront);
}
