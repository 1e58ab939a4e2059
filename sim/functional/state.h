#pragma once

#include <cstdint>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/loaded_values.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "sim/functional/activation_parameters.h"
#include "sim/functional/host_memory.h"
#include "sim/functional/memory.h"
#include "sim/functional/weight_queue.h"

namespace systole::functional {

/// All that instructions read and write. The chip's memories begin as zeros, except for the program's initial
/// rows.
struct State {
    /// Throws ProgramError if the machine has not all initial rows.
    /// `weight_address`: of the program's first tile, in weight memory.
    State(const isa::Program& executed, const machine::MachineConfig& machine, HostMemory& host_memory,
          isa::HostProcessor* host_processor, std::uint64_t weight_address);

    std::uint64_t row_bytes() const { return unified_buffer.row_elements(); }

    /// Throws ProgramError if the machine has not all rows of the footprint.
    void check_fits(const isa::Footprint& touched) const;

    const isa::Program& program;
    isa::Geometry array;
    isa::Registers registers;
    HostMemory& host;
    isa::HostProcessor* processor;  ///< null if there is none
    RowMemory<std::uint8_t> unified_buffer;
    RowMemory<std::int32_t> accumulators;
    std::uint32_t sum_bits;  ///< of an accumulator
    WeightQueue weights;
    machine::WeightMemoryConfig weight_memory;
    std::vector<std::uint64_t> tile_ends;  ///< in weight memory
    ActivationParameters parameters;
    isa::LoadedValues loaded;
};

}  // namespace systole::functional
