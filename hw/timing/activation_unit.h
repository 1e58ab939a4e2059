#pragma once

#include <cstdint>

#include "base/cycle.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"

/// The cost of activate and vector in the activation unit (docs/timing.md, rule 7).
namespace systole::timing {

struct ActivationCost {
    Cycle cycles = 0;  ///< of the pipeline until the next instruction may begin
    Cycle loads = 0;   ///< those of `cycles` at the beginning that load parameters and tables
    std::uint64_t buffer_reads = 0;
    std::uint64_t buffer_writes = 0;
    std::uint64_t accumulator_reads = 0;  ///< rows
    std::uint64_t elements = 0;           ///< sums requantized, also those for pixels outside the image
    std::uint64_t lookups = 0;
    std::uint64_t operand_elements = 0;
    std::uint64_t pooled_elements = 0;

    bool operator==(const ActivationCost&) const = default;
};

/// The cost with the register values bound to the instruction.
ActivationCost activation_cost(const isa::Activate& activate, const isa::Registers& registers,
                               const machine::MachineConfig& machine);
ActivationCost activation_cost(const isa::Vector& vector, const isa::Registers& registers,
                               const machine::MachineConfig& machine);

}  // namespace systole::timing
