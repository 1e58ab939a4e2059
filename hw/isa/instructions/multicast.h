#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Sends blocks of parameters over the ring to all tiles: all groups, `repeats` times. They come from wide
/// memory, from unit `parameters` on, or, with `streamed`, from the staging buffer, where they were sent from
/// host address `parameters`. A group has `rows` rows of `units` units; groups lie one after the other.
/// `tile_multiply` takes the blocks in the order in which they are sent.
struct Multicast {
    static constexpr std::string_view mnemonic = "multicast";
    static constexpr std::uint8_t opcode = 0x50;
    static constexpr std::size_t encoded_bytes = 18;
    static constexpr bool needs_tiles = true;

    std::uint64_t parameters = 0;  ///< a unit, or a byte of host memory; 5 bytes encoded
    std::uint32_t rows = 0;        ///< of a group; at least 1
    std::uint8_t units = 0;        ///< of a row; at least 1
    std::uint16_t groups = 0;      ///< at least 1
    std::uint32_t repeats = 0;     ///< at least 1
    bool streamed = false;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Ring; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Multicast&) const = default;
};

}  // namespace systole::isa
