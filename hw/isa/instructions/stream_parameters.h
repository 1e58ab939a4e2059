#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Sends blocks of parameters from host memory into the staging buffer, for `multicast` with `streamed`,
/// which takes the same blocks in the same order: all groups, `repeats` times. A group has `rows` rows of
/// `units` units; groups lie one after the other.
struct StreamParameters {
    static constexpr std::string_view mnemonic = "stream_parameters";
    static constexpr std::uint8_t opcode = 0x44;
    static constexpr std::size_t encoded_bytes = 17;
    static constexpr bool needs_tiles = true;

    std::uint64_t host_address = 0;  ///< byte of the first group; 5 bytes encoded
    std::uint32_t rows = 0;          ///< of a group; at least 1
    std::uint8_t units = 0;          ///< of a row; at least 1
    std::uint16_t groups = 0;        ///< at least 1
    std::uint32_t repeats = 0;       ///< at least 1

    /// Bytes of a group.
    std::uint64_t group_bytes() const;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostRead; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const StreamParameters&) const = default;
};

}  // namespace systole::isa
