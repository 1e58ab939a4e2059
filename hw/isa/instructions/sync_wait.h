#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Holds the unit's queue until the semaphore is above zero, then subtracts one. In a program, only one unit
/// may wait for a semaphore.
struct SyncWait {
    static constexpr std::string_view mnemonic = "sync.wait";
    static constexpr std::uint8_t opcode = 0x03;
    static constexpr std::size_t encoded_bytes = 3;

    QueueId unit = QueueId::Matrix;
    std::uint8_t semaphore = 0;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return unit; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const SyncWait&) const = default;
};

}  // namespace systole::isa
