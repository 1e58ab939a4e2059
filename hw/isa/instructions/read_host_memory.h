#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies `blocks` blocks of `block_bytes` bytes from host memory into the unified buffer. In host memory
/// they begin at `host_address`, host.block_stride bytes apart (0: contiguous). Block i begins at row
/// `unified_buffer_row` + i * host.block_rows (0: the ceil(block_bytes / row bytes) rows that a block fills).
/// The rest of a block's last row is not changed.
struct ReadHostMemory {
    static constexpr std::string_view mnemonic = "read_host";
    static constexpr std::uint8_t opcode = 0x10;
    static constexpr std::size_t encoded_bytes = 15;

    std::uint64_t host_address = 0;        ///< byte; 5 bytes encoded
    std::uint32_t unified_buffer_row = 0;  ///< 3 bytes encoded
    std::uint32_t block_bytes = 0;         ///< at least 1
    std::uint16_t blocks = 1;              ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostRead; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReadHostMemory&) const = default;
};

}  // namespace systole::isa
