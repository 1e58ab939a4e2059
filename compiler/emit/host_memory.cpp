#include "compiler/emit/host_memory.h"

#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "hw/base/arithmetic.h"
#include "hw/isa/fields.h"

namespace systole::emit {
namespace {

/// Buffers are aligned to cache lines of the host.
constexpr std::uint64_t alignment = 64;

}  // namespace

HostMemory lay_out_host_memory(const mapping::Network& network, const schedule::Schedule& schedule) {
    HostMemory memory;
    const std::uint64_t inferences = schedule.options.inferences;
    memory.constants_bytes = std::uint64_t{schedule.constant_rows} * schedule.target.geometry.rows;
    memory.input_bytes_per_image = mapping::image_bytes(network.tensors[network.input]);
    memory.output_bytes_per_image = mapping::image_bytes(network.tensors[network.output]);
    const std::uint64_t overhead = memory.constants_bytes + 2 * alignment;
    const std::uint64_t bytes_per_image = memory.input_bytes_per_image + memory.output_bytes_per_image;
    if (overhead > isa::host_memory_limit ||
        inferences > (isa::host_memory_limit - overhead) / bytes_per_image) {
        throw ModelError(fmt::format("{}: {} inferences take {} bytes each; the host has {} bytes",
                                     network.name, inferences, bytes_per_image, isa::host_memory_limit));
    }
    memory.input_address = round_up(memory.constants_bytes, alignment);
    memory.output_address =
        round_up(memory.input_address + inferences * memory.input_bytes_per_image, alignment);
    return memory;
}

std::vector<isa::HostBuffer> host_buffers(const HostMemory& memory, std::uint64_t inferences,
                                          std::vector<std::uint8_t> constants) {
    std::vector<isa::HostBuffer> buffers;
    if (memory.constants_bytes > 0) {
        buffers.push_back({.name = "constants",
                           .kind = isa::BufferKind::Constant,
                           .address = memory.constants_address,
                           .bytes = memory.constants_bytes,
                           .contents = std::move(constants)});
    }
    buffers.push_back({.name = "input",
                       .kind = isa::BufferKind::Input,
                       .address = memory.input_address,
                       .bytes = inferences * memory.input_bytes_per_image,
                       .contents = {}});
    buffers.push_back({.name = "output",
                       .kind = isa::BufferKind::Output,
                       .address = memory.output_address,
                       .bytes = inferences * memory.output_bytes_per_image,
                       .contents = {}});
    return buffers;
}

}  // namespace systole::emit
