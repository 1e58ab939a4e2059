#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Ends the program once every unit has finished all earlier instructions.
struct Halt {
    static constexpr std::string_view mnemonic = "halt";
    static constexpr std::uint8_t opcode = 0x02;
    static constexpr std::size_t encoded_bytes = 1;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return std::nullopt; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Halt&) const = default;
};

}  // namespace systole::isa
