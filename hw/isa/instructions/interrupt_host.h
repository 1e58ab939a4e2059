#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Tells the host that every earlier write to host memory is done. Runs in the `host_write` queue.
struct InterruptHost {
    static constexpr std::string_view mnemonic = "interrupt";
    static constexpr std::uint8_t opcode = 0x05;
    static constexpr std::size_t encoded_bytes = 1;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostWrite; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const InterruptHost&) const = default;
};

}  // namespace systole::isa
