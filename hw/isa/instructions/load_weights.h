#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Shifts a matrix of weights (depth x columns) from vector memory into the shadow plane of the array, as
/// soon as that is free. `product` takes the matrices in the order in which they are loaded. A weight becomes
/// part `part` of its float32: the bfloat16 nearest to what the parts before it leave over.
/// weights.panel_rows: rows from a panel to the next.
struct LoadWeights {
    static constexpr std::string_view mnemonic = "load_weights";
    static constexpr std::uint8_t opcode = 0x74;
    static constexpr std::size_t encoded_bytes = 10;
    static constexpr bool needs_tensor_core = true;

    std::uint32_t source = 0;   ///< in vector memory; 3 bytes encoded
    std::uint16_t depth = 0;    ///< at least 1
    std::uint16_t columns = 0;  ///< at least 1
    std::uint8_t part = 0;      ///< 0 to 2; 0 if `packed`
    bool transposed = false;    ///< the rows in vector memory are the columns of the matrix
    bool packed = false;        ///< of bfloat16, two rows in one

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Weights; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const LoadWeights&) const = default;
};

}  // namespace systole::isa
