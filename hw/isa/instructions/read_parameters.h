#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies `units` units of wide memory, from `unit` on, from host memory at `host_address`. Units are
/// numbered through all tiles.
struct ReadParameters {
    static constexpr std::string_view mnemonic = "read_parameters";
    static constexpr std::uint8_t opcode = 0x41;
    static constexpr std::size_t encoded_bytes = 13;
    static constexpr bool needs_tiles = true;

    std::uint64_t host_address = 0;  ///< byte; 5 bytes encoded
    std::uint32_t unit = 0;          ///< 3 bytes encoded
    std::uint32_t units = 0;         ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostRead; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const ReadParameters&) const = default;
};

}  // namespace systole::isa
