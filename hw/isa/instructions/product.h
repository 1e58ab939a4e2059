#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Streams `rows` rows through the array: result (row, column) is the sum over k of element k of the row
/// times weight (k, column), in the order of k, rounded once and settled after each. An element is part
/// `part` of its float32, as in `load_weights`. Elements begin at element product.first of a row of the
/// source; with `windows`, of a window (window.* registers) in the order kernel line, kernel column, channel:
/// a row is then a pixel, and what lies outside the image is zero. source.panel_rows, result.panel_rows: rows
/// from a panel to the next.
struct Product {
    static constexpr std::string_view mnemonic = "product";
    static constexpr std::uint8_t opcode = 0x75;
    static constexpr std::size_t encoded_bytes = 17;
    static constexpr bool needs_tensor_core = true;

    std::uint32_t result = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t source = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t rows = 0;     ///< at least 1
    std::uint16_t depth = 0;    ///< elements; at least 1; that of the weights
    std::uint16_t columns = 0;  ///< at least 1; those of the weights
    std::uint8_t part = 0;      ///< 0 to 2; 0 if `packed`
    bool accumulate = false;    ///< sums are added to the result, else they replace it
    bool keep_weights = false;  ///< the weights are those in the array, else the next ones that were loaded
    bool windows = false;
    bool packed = false;  ///< the source is of bfloat16, two rows in one

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Matrix; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Product&) const = default;
};

}  // namespace systole::isa
