#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/matrix_unit.h"

/// Machines whose costs can be worked out by hand, and schedules on them.
namespace systole::tests {

/// An array of 8 x 4 cells. Weight memory and both directions of the host link move a byte a cycle, so a tile
/// of int8 weights takes 32 cycles.
inline machine::MachineConfig small_machine() {
    machine::MachineConfig machine;
    machine.clock_mhz = 1000.0;
    machine.matrix_unit.rows = 8;
    machine.matrix_unit.columns = 4;
    machine.accumulators.rows = 64;
    machine.weight_memory.bandwidth_gb_per_s = 1.0;
    machine.host_interface.read_gb_per_s = 1.0;
    machine.host_interface.write_gb_per_s = 1.0;
    return machine;
}
inline machine::MachineConfig with_fast_memory(machine::MachineConfig machine) {
    machine.weight_memory.bandwidth_gb_per_s = 1000.0;
    return machine;
}

/// What the compiler takes of a machine, with its costs and the mapping's own choices.
inline schedule::Target target_of(const machine::MachineConfig& machine) {
    schedule::Target target{
        .geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns},
        .accumulator_rows = machine.accumulators.rows,
        .unified_buffer_rows = machine.unified_buffer.rows,
        .weight_memory_bytes = machine.weight_memory.bytes,
        .spill_weights = machine.weight_memory.spill,
        .row_sums = machine.matrix_unit.row_sums,
        .sum_bits = machine.accumulators.sum_bits,
        .activation_delay = timing::matrix_latency(machine) + machine.activation_latency()};
    target.mapping.costs = std::make_shared<const schedule::Costs>(schedule::Costs{.machine = machine});
    return target;
}

/// The same, where slices go through stages of which the second and later ones begin with these layers.
inline schedule::Target pipelined(const machine::MachineConfig& machine,
                                  std::vector<std::uint32_t> stages = {}, bool weights_first = false) {
    schedule::Target target = target_of(machine);
    target.mapping.pipeline = {.stages = std::move(stages), .weights_first = weights_first};
    return target;
}

/// Layers and memory of a schedule, for slices of so many images.
inline schedule::Schedule planned(const mapping::Network& network, const schedule::Target& target,
                                  std::uint32_t slice_images = 1, std::uint64_t slices = 1) {
    return schedule::plan_schedule(network, target,
                                   {.batch = slice_images, .inferences = slice_images * slices});
}

}  // namespace systole::tests
