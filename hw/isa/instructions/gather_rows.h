#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies the rows of a table in high-bandwidth memory that the words of one of its rows name into vector
/// memory, one behind the other: row `indices`, lane i has the number of the table's row that row i of a
/// block is. Each block has the same rows of a further table, as panels of a matrix are; blocks are
/// dma.hbm_rows rows apart in one memory and dma.memory_rows rows in the other. A number that no row of the
/// table has ends the run with a ProgramError.
struct GatherRows {
    static constexpr std::string_view mnemonic = "gather_rows";
    static constexpr std::uint8_t opcode = 0x7c;
    static constexpr std::size_t encoded_bytes = 21;
    static constexpr bool needs_tensor_core = true;

    std::uint32_t hbm_row = 0;     ///< of the table
    std::uint32_t table_rows = 0;  ///< at least 1
    std::uint32_t indices = 0;     ///< row of high-bandwidth memory
    std::uint32_t row = 0;         ///< of vector memory; 3 bytes encoded
    std::uint16_t rows = 0;        ///< of a block; from 1 to the number of lanes
    std::uint32_t blocks = 0;      ///< at least 1; 3 bytes encoded

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::DmaIn; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const GatherRows&) const = default;
};

/// The row of the table that a word names. Throws ProgramError, without the instruction, if it has no such
/// row.
std::uint32_t gathered_row(const GatherRows& gather, std::uint64_t place, std::uint32_t word);

}  // namespace systole::isa
