#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies columns [first, first + columns) of `rows` rows of the source to columns from `to` on of the
/// result, whose other columns keep their words. source.panel_rows, result.panel_rows: rows from a panel to
/// the next.
struct MoveLanes {
    static constexpr std::string_view mnemonic = "move_lanes";
    static constexpr std::uint8_t opcode = 0x7a;
    static constexpr std::size_t encoded_bytes = 23;
    static constexpr bool needs_tensor_core = true;

    std::uint32_t result = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t source = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t rows = 0;     ///< at least 1
    std::uint32_t columns = 0;  ///< at least 1
    std::uint32_t first = 0;    ///< column of the source
    std::uint32_t to = 0;       ///< column of the result

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::CrossLane; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const MoveLanes&) const = default;
};

}  // namespace systole::isa
