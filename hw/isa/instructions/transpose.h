#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Writes row c of the result from column c of the source, of at most as many rows and columns as there are
/// lanes. Lanes behind the last keep their words.
struct Transpose {
    static constexpr std::string_view mnemonic = "transpose";
    static constexpr std::uint8_t opcode = 0x79;
    static constexpr std::size_t encoded_bytes = 11;
    static constexpr bool needs_tensor_core = true;

    std::uint32_t result = 0;   ///< in vector memory; 3 bytes encoded
    std::uint32_t source = 0;   ///< in vector memory; 3 bytes encoded
    std::uint16_t rows = 0;     ///< of the source; at least 1
    std::uint16_t columns = 0;  ///< of the source; at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::CrossLane; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Transpose&) const = default;
};

}  // namespace systole::isa
