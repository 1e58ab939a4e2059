#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/panels.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "sim/functional/host_memory.h"
#include "sim/functional/memory.h"

namespace systole::functional {

/// Numbers of a machine with a tensor core that its program does not say.
struct TensorSizes {
    std::uint64_t vector_rows = 0;  ///< of vector memory; at least 1
    std::uint64_t hbm_rows = 0;     ///< of the core's part of high-bandwidth memory; at least 1
    std::uint32_t core = 0;         ///< its number in the system
};

/// A matrix of weights, row by row.
struct WeightMatrix {
    std::uint64_t depth = 0;
    std::uint64_t columns = 0;
    std::vector<float> weights = {};
};

/// All that the instructions of a tensor core read and write. Its memories begin as zeros.
struct TensorState {
    TensorState(const isa::Program& executed, const TensorSizes& machine, HostMemory& host_memory,
                isa::HostProcessor* host_processor);

    /// Throws ProgramError if the memories end before the footprint does.
    void check_fits(const isa::Footprint& touched) const;

    /// A word of vector memory.
    std::uint32_t& word(std::uint64_t row, std::uint64_t lane) { return vector_memory.rows(row, 1)[lane]; }
    /// The word of an element of a matrix that is not packed.
    std::uint32_t& word_of(const isa::Panels& panels, std::uint64_t row, std::uint64_t column) {
        return word(panels.first_row_of(column / lanes) + row, column % lanes);
    }
    /// A float32 of a matrix; packed ones are widened.
    float number(const isa::Panels& panels, std::uint64_t row, std::uint64_t column);

    const isa::Program& program;
    std::uint64_t lanes;
    isa::Registers registers;
    HostMemory& host;
    isa::HostProcessor* processor;           ///< null if there is none
    RowMemory<std::uint32_t> vector_memory;  ///< in rows of lanes
    RowMemory<std::uint32_t> hbm;            ///< in rows of lanes
    std::deque<WeightMatrix> loaded;         ///< not taken by a product yet
    std::optional<WeightMatrix> in_array;
};

/// The part of a float32, as a bfloat16: see docs/isa.md, "Sums in order".
float part_of(float x, unsigned part);

}  // namespace systole::functional
