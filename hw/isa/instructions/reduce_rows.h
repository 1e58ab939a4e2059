#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/word_operation.h"
#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Makes one row of `rows` rows: each column by itself, in blocks of as many rows as there are lanes, each
/// block by halves, and the blocks in order (docs/isa.md). With `accumulate`, the result's row is what is
/// there before the first block. source.panel_rows, result.panel_rows: rows from a panel to the next.
struct ReduceRows {
    static constexpr std::string_view mnemonic = "reduce_rows";
    static constexpr std::uint8_t opcode = 0x77;
    static constexpr std::size_t encoded_bytes = 17;
    static constexpr bool needs_tensor_core = true;

    Reduction reduction = Reduction::Sum;
    bool accumulate = false;
    std::uint32_t result = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t source = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t rows = 0;     ///< at least 1
    std::uint32_t columns = 0;  ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Vector; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReduceRows&) const = default;
};

}  // namespace systole::isa
