#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Fetches `tiles` weight tiles, `first_tile` onwards, from weight memory into the weight FIFO.
/// The tiles of a program are contiguous in weight memory; each takes the size of the whole array.
struct ReadWeights {
    static constexpr std::string_view mnemonic = "read_weights";
    static constexpr std::uint8_t opcode = 0x12;
    static constexpr std::size_t encoded_bytes = 7;

    std::uint32_t first_tile = 0;
    std::uint16_t tiles = 1;  ///< at least 1: the repeat field

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Weights; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReadWeights&) const = default;
};

}  // namespace systole::isa
