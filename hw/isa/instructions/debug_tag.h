#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Marks all later instructions, until the next tag, as belonging to one layer. Every counter can be reported
/// by tag. Before the first tag, tag 0 is in force.
struct DebugTag {
    static constexpr std::string_view mnemonic = "tag";
    static constexpr std::uint8_t opcode = 0x06;
    static constexpr std::size_t encoded_bytes = 3;

    std::uint16_t tag = 0;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return std::nullopt; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const DebugTag&) const = default;
};

}  // namespace systole::isa
