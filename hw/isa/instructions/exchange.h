#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Fills the margins of the image that the source.* registers describe: pixels that another tile owns are
/// copied from there, and pixels outside the image get window.pad_value in every channel.
struct Exchange {
    static constexpr std::string_view mnemonic = "exchange";
    static constexpr std::uint8_t opcode = 0x58;
    static constexpr std::size_t encoded_bytes = 4;
    static constexpr bool needs_tiles = true;

    std::uint32_t address = 0;  ///< in narrow memory; 3 bytes encoded

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Mesh; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Exchange&) const = default;
};

}  // namespace systole::isa
