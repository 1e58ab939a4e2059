#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/word_operation.h"
#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Makes one number of each row: the columns of a panel by halves, and the panels in order (docs/isa.md). All
/// lanes of the result's row get it. source.panel_rows: rows from a panel to the next.
struct ReduceLanes {
    static constexpr std::string_view mnemonic = "reduce_lanes";
    static constexpr std::uint8_t opcode = 0x78;
    static constexpr std::size_t encoded_bytes = 16;
    static constexpr bool needs_tensor_core = true;

    Reduction reduction = Reduction::Sum;
    std::uint32_t result = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t source = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t rows = 0;     ///< at least 1
    std::uint32_t columns = 0;  ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::CrossLane; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReduceLanes&) const = default;
};

}  // namespace systole::isa
