#pragma once

#include <cstdint>
#include <string>

#include "hw/machine/machine_config.h"

namespace systole::tests {

/// A rate as in the machine file, and its exact value at 700 MHz: `bytes` in every `cycles`.
struct Bandwidth {
    double gb_per_s;
    std::uint64_t bytes;
    std::uint64_t cycles;
};

/// A small machine in which all parameters of time differ.
inline machine::MachineConfig odd_machine() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 7;
    machine.matrix_unit.columns = 5;
    machine.matrix_unit.mac_latency_cycles = 3;
    machine.matrix_unit.setup_cycles = 2;
    machine.accumulators.write_cycles = 4;
    machine.accumulators.rows = 64;
    machine.unified_buffer.rows = 256;
    machine.activation_unit.latency_cycles = 6;
    machine.weight_memory.bandwidth_gb_per_s = 0.7;  // one byte a cycle
    machine.weight_memory.latency_cycles = 11;
    machine.host_interface.read_gb_per_s = 700;  // out of the way
    machine.host_interface.write_gb_per_s = 700;
    return machine;
}

/// Its latency from a row's last pass to its sums.
inline constexpr std::uint64_t odd_latency = 2 + 7 * 3 + (5 - 1) + 4;

/// Results of this number of columns, side by side.
inline std::string activation_setup(int columns) {
    return "set activation.columns " + std::to_string(columns) + "\nset activation.pixel_bytes " +
           std::to_string(columns) +
           "\nset activation.outputs_per_image 100\nset activation.image_rows 200\n";
}

}  // namespace systole::tests
