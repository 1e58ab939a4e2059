#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Moves the pixels of an image (source.* registers) to other places of another one (result.* registers),
/// from the tiles that own them to those that own the result. Line y comes from line (y * stride_y - pad_top)
/// / dilation_y, columns likewise (window.* registers); pixels whose quotient is no integer, or not in the
/// image, get window.pad_value in every channel.
struct Move {
    static constexpr std::string_view mnemonic = "move";
    static constexpr std::uint8_t opcode = 0x59;
    static constexpr std::size_t encoded_bytes = 8;
    static constexpr bool needs_tiles = true;

    bool keeps = false;        ///< pixels that come from none stay as they are
    bool repeats = false;      ///< quotients are rounded down
    std::uint32_t result = 0;  ///< in narrow memory; 3 bytes encoded
    std::uint32_t source = 0;  ///< in narrow memory; 3 bytes encoded

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Mesh; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Move&) const = default;
};

}  // namespace systole::isa
