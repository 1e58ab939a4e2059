#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies `blocks` blocks of `rows` rows from high-bandwidth memory into vector memory. Blocks are
/// dma.hbm_rows rows apart in one and dma.memory_rows rows in the other.
struct DmaIn {
    static constexpr std::string_view mnemonic = "dma_in";
    static constexpr std::uint8_t opcode = 0x72;
    static constexpr std::size_t encoded_bytes = 14;
    static constexpr bool needs_tensor_core = true;

    std::uint32_t hbm_row = 0;
    std::uint32_t row = 0;     ///< of vector memory; 3 bytes encoded
    std::uint32_t rows = 0;    ///< of a block; at least 1; 3 bytes encoded
    std::uint32_t blocks = 0;  ///< at least 1; 3 bytes encoded

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::DmaIn; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const DmaIn&) const = default;
};

}  // namespace systole::isa
