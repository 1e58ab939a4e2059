#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Begins a call: takes the host's part of it, and then `bytes` bytes of the link, those of a compiled
/// network's instructions, of which this instruction set needs fewer.
struct ReadProgram {
    static constexpr std::string_view mnemonic = "read_program";
    static constexpr std::uint8_t opcode = 0x40;
    static constexpr std::size_t encoded_bytes = 5;
    static constexpr bool needs_tiles = true;

    std::uint32_t bytes = 0;  ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostRead; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReadProgram&) const = default;
};

}  // namespace systole::isa
