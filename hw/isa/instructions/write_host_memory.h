#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies blocks from the unified buffer to host memory: the reverse of `read_host_memory`.
struct WriteHostMemory {
    static constexpr std::string_view mnemonic = "write_host";
    static constexpr std::uint8_t opcode = 0x11;
    static constexpr std::size_t encoded_bytes = 15;

    std::uint64_t host_address = 0;        ///< byte; 5 bytes encoded
    std::uint32_t unified_buffer_row = 0;  ///< 3 bytes encoded
    std::uint32_t block_bytes = 0;         ///< at least 1
    std::uint16_t blocks = 1;              ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostWrite; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const WriteHostMemory&) const = default;
};

}  // namespace systole::isa
