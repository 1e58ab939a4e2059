#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "hw/isa/program.h"

namespace systole::emit {

/// The tiles of all layers in the schedule's numbering, which is the order of first use. A tile that is
/// fetched several times occurs once.
std::vector<isa::WeightTile> weight_image(const mapping::Network& network,
                                          const schedule::Schedule& schedule);

/// The contents of the unified buffer's constant rows: requantization parameters (int32 bias, int32
/// multiplier, int8 shift: three arrays, little endian, packed) and lookup tables, each at the row that the
/// schedule assigned.
std::vector<std::uint8_t> constant_rows(const mapping::Network& network, const schedule::Schedule& schedule);

/// The layout of the program's data in host memory. Input and output hold all inferences, packed.
struct HostMemory {
    std::uint64_t constants_address = 0;
    std::uint64_t constants_bytes = 0;  ///< 0: the program has none
    std::uint64_t input_address = 0;
    std::uint64_t input_bytes_per_image = 0;
    std::uint64_t output_address = 0;
    std::uint64_t output_bytes_per_image = 0;
};

/// Throws ModelError if the inferences take more host memory than instructions can address.
HostMemory lay_out_host_memory(const mapping::Network& network, const schedule::Schedule& schedule);

/// The host buffers; that of the constants has its contents.
std::vector<isa::HostBuffer> host_buffers(const HostMemory& memory, std::uint64_t inferences,
                                          std::vector<std::uint8_t> constants);

}  // namespace systole::emit
