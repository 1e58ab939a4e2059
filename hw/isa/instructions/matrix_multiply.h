#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/operands.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Streams `length` unified-buffer rows through the array into as many accumulator rows.
/// Streamed row b of repetition r is read from row
/// `unified_buffer_row` + b * multiply.row_stride + r * (bytes of an activation); its first element enters
/// array row 0. Repetition r uses the r-th next weight tile: repetitions are the loop over the tiles of a
/// product with more elements than the array has rows. 12 bytes encoded.
struct MatrixMultiply {
    static constexpr std::string_view mnemonic = "matmul";
    static constexpr std::uint8_t opcode = 0x20;
    static constexpr std::size_t encoded_bytes = 12;

    std::uint32_t unified_buffer_row = 0;  ///< 3 bytes encoded
    std::uint16_t accumulator_row = 0;
    std::uint32_t length = 0;  ///< rows; at least 1
    MatrixFlags flags = {};
    std::uint8_t repeat = 0;  ///< repetitions after the first; 0 with keep_weights

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Matrix; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const MatrixMultiply&) const = default;
};

}  // namespace systole::isa
