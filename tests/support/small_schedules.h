#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"

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
inline tpu_v1::Target target_of(const machine::MachineConfig& machine) {
    machine::Mapping mapping;
    mapping.skip_zero_tiles = true;
    mapping.pipeline = true;
    return tpu_v1::target_of(machine, mapping);
}

/// The same, where slices go through stages of which the second and later ones begin with these layers.
inline tpu_v1::Target pipelined(const machine::MachineConfig& machine, std::vector<std::uint32_t> stages = {},
                                bool weights_first = false) {
    tpu_v1::Target target = target_of(machine);
    target.choices.pipeline = {.stages = std::move(stages), .weights_first = weights_first};
    return target;
}

/// Layers and memory of a schedule, for slices of so many images.
inline tpu_v1::Schedule planned(const tpu_v1::AnalysedNetwork& analysed, const tpu_v1::Target& target,
                                std::uint32_t slice_images = 1, std::uint64_t slices = 1) {
    return tpu_v1::plan_schedule(analysed, target,
                                 {.batch = slice_images, .inferences = slice_images * slices});
}

inline tpu_v1::Schedule planned(const tpu_v1::Network& network, const tpu_v1::Target& target,
                                std::uint32_t slice_images = 1, std::uint64_t slices = 1) {
    return planned(tpu_v1::analyse(network, target), target, slice_images, slices);
}

}  // namespace systole::tests
