#pragma once

#include <cstdint>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/schedule.h"
#include "hw/isa/program.h"

namespace systole::emit {

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
