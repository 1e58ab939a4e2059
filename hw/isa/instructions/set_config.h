#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"
#include "hw/isa/registers.h"

namespace systole::isa {

/// Writes a register; `Register` says when it takes effect.
struct SetConfig {
    static constexpr std::string_view mnemonic = "set";
    static constexpr std::uint8_t opcode = 0x07;
    static constexpr std::size_t encoded_bytes = 6;

    Register reg = Register::WindowInputHeight;
    std::uint32_t value = 0;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return std::nullopt; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const SetConfig&) const = default;
};

}  // namespace systole::isa
