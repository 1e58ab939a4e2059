#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies an image from host memory, where its elements lie packed in the order line, column, channel, into
/// the narrow memories, which the result.* registers describe: each tile gets its patch. Margins are not
/// changed.
struct ReadTensor {
    static constexpr std::string_view mnemonic = "read_tensor";
    static constexpr std::uint8_t opcode = 0x42;
    static constexpr std::size_t encoded_bytes = 9;
    static constexpr bool needs_tiles = true;

    std::uint64_t host_address = 0;  ///< byte; 5 bytes encoded
    std::uint32_t address = 0;       ///< in narrow memory; 3 bytes encoded

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostRead; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReadTensor&) const = default;
};

}  // namespace systole::isa
