#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cycle.h"
#include "hw/isa/chain.h"
#include "hw/isa/instruction.h"
#include "hw/isa/panels.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/matrix_unit.h"

/// The cost of instructions in the units of a tensor core (docs/timing.md, "Machines with a tensor core").
/// The instructions' footprints must have been computed before.
namespace systole::timing {

/// The lanes of a machine; none for one of another family.
isa::TensorShape tensor_shape_of(const machine::MachineConfig& machine);

/// The rows of a `product` as they enter the array: all of them follow each other, unless vector memory, of
/// which vector_unit.sublanes rows are read in a cycle, takes longer.
struct StreamedProduct {
    StreamShape shape;
    std::uint64_t fetched_rows = 0;  ///< of vector memory
};
StreamedProduct streamed_product(const isa::Product& product, const isa::Registers& registers,
                                 const machine::MachineConfig& machine);

/// Work of the vector unit, or of the unit between lanes.
struct VectorCost {
    std::uint64_t operations = 0;  ///< on whole vectors
    std::uint64_t loads = 0;       ///< vectors
    std::uint64_t stores = 0;      ///< vectors
    Cycle cycles = 0;
};
VectorCost chain_cost(const isa::RunChain& run, const isa::Chain& chain,
                      const machine::MachineConfig& machine);
VectorCost reduction_cost(const isa::ReduceRows& reduce, const machine::MachineConfig& machine);
VectorCost reduction_cost(const isa::ReduceLanes& reduce, const machine::MachineConfig& machine);
VectorCost transposition_cost(const isa::Transpose& transpose, const machine::MachineConfig& machine);
VectorCost move_cost(const isa::MoveLanes& move, const machine::MachineConfig& machine);

/// What a collective takes in a core from the cycle in which all cores have begun it, and what the core sends
/// to its neighbours.
struct CollectiveCost {
    Cycle cycles = 0;
    std::uint64_t sent_bytes = 0;
};
CollectiveCost collective_cost(const isa::Collective& collective, std::size_t core,
                               const machine::MachineConfig& machine);

/// The whole cycles in which high-bandwidth memory moves this many bytes without a pause.
Cycle hbm_cycles(std::uint64_t bytes, const machine::MachineConfig& machine);

/// The operations on whole vectors that a chain takes for each vector of its results: one for each step, but
/// for words that an instruction carries, and for each packed source and result; as many as the machine says
/// for functions.
std::uint64_t chain_operations(const isa::Chain& chain, const machine::MachineConfig& machine);

}  // namespace systole::timing
