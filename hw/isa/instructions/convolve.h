#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/operands.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Streams the windows of `lines` output lines through the array. The window.* registers describe the windows
/// in the tensor whose first image begins at `unified_buffer_row`. Output lines are numbered through all
/// images: line l is line l % output_height of image l / output_height. Windows go from left to right and
/// line by line, each into the next accumulator row. The elements of a window are counted in kernel row,
/// kernel column, channel order; repetition r streams them from element (window.tile + r) * array rows on
/// against the r-th next weight tile. 12 bytes encoded.
struct Convolve {
    static constexpr std::string_view mnemonic = "convolve";
    static constexpr std::uint8_t opcode = 0x21;
    static constexpr std::size_t encoded_bytes = 12;

    std::uint32_t unified_buffer_row = 0;  ///< 3 bytes encoded
    std::uint16_t accumulator_row = 0;
    std::uint16_t first_line = 0;  ///< below output_height * images
    std::uint16_t lines = 0;       ///< at least 1
    MatrixFlags flags = {};
    std::uint8_t repeat = 0;  ///< repetitions after the first; 0 with keep_weights

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Matrix; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Convolve&) const = default;
};

}  // namespace systole::isa
