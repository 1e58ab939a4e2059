#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Interrupts the host, which computes one of the program's segments for `images` inferences: it reads and
/// writes tensors of the segment in host memory.
struct HostWork {
    static constexpr std::string_view mnemonic = "host_work";
    static constexpr std::uint8_t opcode = 0x13;
    static constexpr std::size_t encoded_bytes = 11;

    std::uint16_t segment = 0;          ///< of Program::host_segments
    std::uint32_t first_inference = 0;  ///< 4 bytes encoded
    std::uint32_t images = 1;           ///< at least 1

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Host; }
    /// Empty: what it touches depends on the program's segment (hw/isa/footprint.h).
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const HostWork&) const = default;
};

}  // namespace systole::isa
