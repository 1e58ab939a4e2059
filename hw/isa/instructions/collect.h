#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies an image that is spread over the tiles (source.* registers) into every tile, packed in the order
/// line, column, channel. With `over_lanes`, it copies the vector over the tiles' lanes that `tile_multiply
/// dense` leaves, of source.channels elements.
struct Collect {
    static constexpr std::string_view mnemonic = "collect";
    static constexpr std::uint8_t opcode = 0x51;
    static constexpr std::size_t encoded_bytes = 8;
    static constexpr bool needs_tiles = true;

    std::uint32_t destination = 0;  ///< in narrow memory; 3 bytes encoded
    std::uint32_t source = 0;       ///< in narrow memory; 3 bytes encoded
    bool over_lanes = false;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Ring; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Collect&) const = default;
};

}  // namespace systole::isa
