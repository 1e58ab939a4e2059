#include "sim/study/explain/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/run/path_finder.h"
#include "sim/run/run_config.h"

namespace systole::explain {
namespace {

constexpr std::string_view machine_prefix = "machine.";
constexpr std::uint32_t times_more = 4;

WhatIf more_weight_bandwidth(const machine::MachineConfig& machine) {
    std::string change = fmt::format("{}x the weight bandwidth", times_more);
    const machine::WeightMemoryConfig& memory = machine.weight_memory;
    switch (memory.model) {
        case machine::WeightMemoryModel::Dram:
            return {std::move(change),
                    {{"machine.weight_memory.dram.channels", memory.dram.channels * times_more}}};
        case machine::WeightMemoryModel::Bandwidth:
            return {std::move(change),
                    {{"machine.weight_memory.bandwidth_gb_per_s", memory.bandwidth_gb_per_s * times_more}}};
    }
    throw std::logic_error("a weight memory without a bandwidth to multiply");
}

WhatIf more_host_bandwidth(const machine::MachineConfig& machine) {
    const machine::HostInterfaceConfig& host = machine.host_interface;
    return {fmt::format("{}x the host's bandwidth", times_more),
            {{"machine.host_interface.read_gb_per_s", host.read_gb_per_s * times_more},
             {"machine.host_interface.write_gb_per_s", host.write_gb_per_s * times_more}}};
}

/// A machine whose rows leave the activation unit in the cycle after they entered it.
WhatIf no_activation_latency() {
    return {"an activation latency of one cycle",
            {{"machine.activation_unit.latency_cycles", 1}, {"machine.activation_unit.latency_ns", 0}}};
}

WhatIf more_accumulators(const machine::MachineConfig& machine) {
    return {fmt::format("{}x the accumulators", times_more),
            {{"machine.accumulators.rows", machine.accumulators.rows * times_more}}};
}

WhatIf larger_buffer(const machine::MachineConfig& machine) {
    return {"2x the unified buffer", {{"machine.unified_buffer.rows", machine.unified_buffer.rows * 2}}};
}

WhatIf deeper_queues(const machine::MachineConfig& machine) {
    return {fmt::format("{}x the depth of the instruction queues", times_more),
            {{"machine.sequencer.queue_depth", machine.sequencer.queue_depth * times_more}}};
}

WhatIf more_fetches(const machine::MachineConfig& machine) {
    return {"2x the fetches of the data setup",
            {{"machine.systolic_data_setup.fetches_per_cycle",
              machine.systolic_data_setup.fetches_per_cycle * 2}}};
}

/// A port for each unit that uses the memory; more are not possible.
WhatIf ports_for_all() {
    return {"memory ports for all units at once",
            {{"machine.unified_buffer.read_ports", 3},
             {"machine.unified_buffer.write_ports", 2},
             {"machine.accumulators.ports", 2}}};
}

WhatIf faster_clock(const machine::MachineConfig& machine) {
    return {"2x the clock", {{"machine.clock_mhz", machine.clock_mhz * 2.0}}};
}

/// Absent if the run has fewer inferences than the batch; a run on files has as many as the files.
std::vector<WhatIf> larger_batch(const Situation& situation) {
    const run::RunConfig& config = situation.config;
    const std::uint64_t batch = std::uint64_t{std::max(config.batch, 1U)} * times_more;
    const bool makes_its_own = config.input.empty() && config.limit == 0;
    if (!makes_its_own && batch > situation.inferences) return {};
    return {{fmt::format("{}x the batch", times_more), {{"batch", batch}}}};
}

/// A quarter of the cells; the unified buffer keeps its number of bytes.
std::vector<WhatIf> smaller_array(const machine::MachineConfig& machine) {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    if (array.rows % 2 != 0 || array.columns % 2 != 0) return {};
    return {{fmt::format("an array of {} x {} (a quarter of the cells)", array.rows / 2, array.columns / 2),
             {{"machine.matrix_unit.rows", array.rows / 2},
              {"machine.matrix_unit.columns", array.columns / 2},
              {"machine.unified_buffer.rows", machine.unified_buffer.rows * 2}}}};
}

/// All changes against the cause, including those that would not change this machine.
std::vector<WhatIf> candidates(Cause cause, const Situation& situation) {
    const machine::MachineConfig& machine = situation.machine;
    const bool compiles = situation.config.program.empty();  // a program is for one array and one batch
    switch (cause) {
        case Cause::WeightStall:
            return {more_weight_bandwidth(machine)};
        case Cause::WeightShift:
            return compiles ? larger_batch(situation) : std::vector<WhatIf>{};
        case Cause::Activations:
            return {no_activation_latency(), more_host_bandwidth(machine), faster_clock(machine)};
        case Cause::Input:
            return {more_host_bandwidth(machine)};
        case Cause::Setup:
            return {more_fetches(machine)};
        case Cause::Ports:
            return {ports_for_all()};
        case Cause::Accumulators: {
            std::vector<WhatIf> all{no_activation_latency()};
            if (compiles) all.push_back(more_accumulators(machine));
            return all;
        }
        case Cause::OutputBuffer: {
            std::vector<WhatIf> all{more_host_bandwidth(machine)};
            if (compiles) all.push_back(larger_buffer(machine));
            return all;
        }
        case Cause::VectorWork:
            return {no_activation_latency(), faster_clock(machine)};
        case Cause::Issue:
            return {deeper_queues(machine), more_host_bandwidth(machine)};
        case Cause::Sync:
            return {no_activation_latency(), more_host_bandwidth(machine), deeper_queues(machine)};
        case Cause::Host:
            return {more_host_bandwidth(machine)};
        case Cause::BeginAndEnd:
            return {more_host_bandwidth(machine), no_activation_latency()};
        case Cause::UnusedCells:
            return compiles ? smaller_array(machine) : std::vector<WhatIf>{};
        case Cause::UsefulCells:
            return {faster_clock(machine)};
    }
    throw std::logic_error("a cause without what-ifs");
}

/// Whether the machine has these values already. A machine that cannot be built counts as different.
bool changes_nothing(const WhatIf& what_if, const Situation& situation) {
    const run::RunConfig config = changed(situation.config, what_if);
    if (config.batch != situation.config.batch) return false;
    try {
        return to_json(run::read_machine(config, run::PathFinder(config.file))) == to_json(situation.machine);
    } catch (const machine::ConfigError&) {
        return false;
    }
}

}  // namespace

std::vector<WhatIf> what_ifs(Cause cause, const Situation& situation) {
    std::vector<WhatIf> all = candidates(cause, situation);
    std::erase_if(all, [&](const WhatIf& what_if) { return changes_nothing(what_if, situation); });
    return all;
}

run::RunConfig for_cycles(const run::RunConfig& config) {
    run::RunConfig timed;
    timed.file = config.file;
    timed.machine = config.machine;
    timed.machine_object = config.machine_object;
    timed.machine_settings = config.machine_settings;
    timed.settings_place = config.settings_place;
    // The engines give the same cycles; this one is faster.
    timed.machine_settings.push_back({"matrix_unit.engine", "wavefront"});
    timed.model = config.model;
    timed.input_shape = config.input_shape;
    timed.tflite_runtime = config.tflite_runtime;
    timed.signature = config.signature;
    timed.size_multiplier = config.size_multiplier;
    timed.program = config.program;
    timed.input = config.input;  // determines the number of inferences
    timed.resize = config.resize;
    timed.crop = config.crop;
    timed.layout = config.layout;
    timed.random_input = config.random_input;
    timed.mapping = config.mapping;
    timed.overlap = config.overlap;
    timed.cut_images = config.cut_images;
    timed.batch = config.batch;
    timed.limit = config.limit;
    timed.host = config.host;  // its time in the middle of the network is the run's
    timed.timing_only = true;
    return timed;
}

run::RunConfig changed(run::RunConfig config, const WhatIf& what_if) {
    for (const run::Setting& setting : what_if.settings) {
        if (setting.key == "batch") {
            config.batch = setting.value.get<std::uint32_t>();
        } else {
            config.machine_settings.push_back({setting.key.substr(machine_prefix.size()), setting.value});
        }
    }
    return config;
}

std::string to_text(const run::Setting& setting) {
    return fmt::format("{}={}", setting.key, setting.value.dump());
}

}  // namespace systole::explain
