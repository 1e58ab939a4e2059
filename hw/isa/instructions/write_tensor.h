#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies the image that the source.* registers describe from the narrow memories into host memory, packed in
/// the order line, column, channel. With `over_lanes`, it is the vector over the tiles' lanes that
/// `tile_multiply dense` leaves, of source.channels elements.
struct WriteTensor {
    static constexpr std::string_view mnemonic = "write_tensor";
    static constexpr std::uint8_t opcode = 0x43;
    static constexpr std::size_t encoded_bytes = 10;
    static constexpr bool needs_tiles = true;

    std::uint64_t host_address = 0;  ///< byte; 5 bytes encoded
    std::uint32_t address = 0;       ///< in narrow memory; 3 bytes encoded
    bool over_lanes = false;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostWrite; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const WriteTensor&) const = default;
};

}  // namespace systole::isa
