#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Writes a weight tile of int8 from bytes of the unified buffer: activations become weights.
///
/// The source is `rows` rows of `blocks` * `columns` bytes each; row n begins at byte
/// first_byte + n * stride, counted from the beginning of unified_buffer_row. Its bytes b * columns to
/// (b + 1) * columns - 1 are row n of block b, a matrix of rows x columns. The blocks lie on the diagonal of
/// the tile: block b begins at row b * rows and column b * columns or, with `transposed`, is transposed and
/// begins at row b * columns and column b * rows. All other elements of the tile's rows and columns get
/// multiply.weight_zero_point, so that they add nothing.
struct WriteWeights {
    static constexpr std::string_view mnemonic = "write_weights";
    static constexpr std::uint8_t opcode = 0x14;
    static constexpr std::size_t encoded_bytes = 21;

    std::uint32_t tile = 0;
    std::uint32_t unified_buffer_row = 0;  ///< 3 bytes encoded
    std::uint16_t first_byte = 0;
    std::uint32_t stride = 0;   ///< bytes from one source row to the next
    std::uint16_t rows = 1;     ///< of a block; at least 1
    std::uint16_t columns = 1;  ///< of a block; at least 1
    std::uint16_t blocks = 1;   ///< at least 1
    /// Source bytes are int8 and are stored as they are; otherwise they are uint8, and 128 is subtracted.
    bool is_signed = false;
    bool transposed = false;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::WeightWrite; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    /// The part of the tile that the blocks take, from its first row and column on.
    std::uint64_t tile_rows() const { return std::uint64_t{blocks} * (transposed ? columns : rows); }
    std::uint64_t tile_columns() const { return std::uint64_t{blocks} * (transposed ? rows : columns); }
    std::uint64_t source_bytes() const { return std::uint64_t{blocks} * columns; }

    bool operator==(const WriteWeights&) const = default;
};

}  // namespace systole::isa
