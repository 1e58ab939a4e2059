#include "sim/explain/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace systole::explain {
namespace {

constexpr std::string_view machine_prefix = "machine.";
constexpr std::uint32_t times_more = 4;

WhatIf more_weight_bandwidth(const machine::MachineConfig& machine) {
    std::string change = fmt::format("{}x the weight bandwidth", times_more);
    const machine::WeightMemoryConfig& memory = machine.weight_memory;
    if (memory.model == machine::WeightMemoryModel::Dram) {
        return {std::move(change),
                {{"machine.weight_memory.dram.channels", memory.dram.channels * times_more}}};
    }
    return {std::move(change),
            {{"machine.weight_memory.bandwidth_gb_per_s", memory.bandwidth_gb_per_s * times_more}}};
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

WhatIf more_fetches(const machine::MachineConfig& machine) {
    return {"2x the fetches of the data setup",
            {{"machine.systolic_data_setup.fetches_per_cycle",
              machine.systolic_data_setup.fetches_per_cycle * 2}}};
}

WhatIf more_ports(const machine::MachineConfig& machine) {
    return {"one more of each memory port",
            {{"machine.unified_buffer.read_ports", machine.unified_buffer.read_ports + 1},
             {"machine.unified_buffer.write_ports", machine.unified_buffer.write_ports + 1},
             {"machine.accumulators.ports", machine.accumulators.ports + 1}}};
}

WhatIf faster_clock(const machine::MachineConfig& machine) {
    return {"2x the clock", {{"machine.clock_mhz", machine.clock_mhz * 2.0}}};
}

WhatIf larger_batch(const run::RunConfig& config) {
    return {fmt::format("{}x the batch", times_more), {{"batch", std::max(config.batch, 1U) * times_more}}};
}

/// A quarter of the cells, with a unified buffer of as many bytes.
WhatIf smaller_array(const machine::MachineConfig& machine) {
    const std::uint32_t rows = machine.matrix_unit.rows / 2;
    const std::uint32_t columns = machine.matrix_unit.columns / 2;
    return {fmt::format("an array of {} x {} (a quarter of the cells)", rows, columns),
            {{"machine.matrix_unit.rows", rows},
             {"machine.matrix_unit.columns", columns},
             {"machine.unified_buffer.rows", machine.unified_buffer.rows * 2}}};
}

/// A program is compiled already: for its array and its batch.
bool compiles(const run::RunConfig& config) {
    return config.program.empty();
}

}  // namespace

std::vector<WhatIf> what_ifs(Cause cause, const run::RunConfig& config,
                             const machine::MachineConfig& machine) {
    switch (cause) {
        case Cause::WeightStall:
            return {more_weight_bandwidth(machine)};
        case Cause::WeightShift:
            return compiles(config) ? std::vector{larger_batch(config)} : std::vector<WhatIf>{};
        case Cause::Activations:
            return {no_activation_latency()};
        case Cause::Input:
            return {more_host_bandwidth(machine)};
        case Cause::Setup:
            return {more_fetches(machine)};
        case Cause::Ports:
            return {more_ports(machine)};
        case Cause::Idle: {
            std::vector<WhatIf> all{more_host_bandwidth(machine), no_activation_latency()};
            if (compiles(config)) all.push_back(more_accumulators(machine));
            return all;
        }
        case Cause::UnusedCells:
            return compiles(config) && machine.matrix_unit.rows > 1 && machine.matrix_unit.columns > 1
                       ? std::vector{smaller_array(machine)}
                       : std::vector<WhatIf>{};
        case Cause::UsefulCells:
            return {faster_clock(machine)};
    }
    throw std::logic_error("a cause without what-ifs");
}

run::RunConfig for_cycles(const run::RunConfig& config) {
    run::RunConfig timed;
    timed.file = config.file;
    timed.machine = config.machine;
    timed.machine_settings = config.machine_settings;
    // The engines give the same cycles; this one gives them at once.
    timed.machine_settings.push_back({"matrix_unit.engine", "wavefront"});
    timed.model = config.model;
    timed.program = config.program;
    timed.input = config.input;  // for their number
    timed.random_input = config.random_input;
    timed.batch = config.batch;
    timed.limit = config.limit;
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
