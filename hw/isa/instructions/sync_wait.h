#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/unit.h"

namespace systole::isa {

/// Holds the unit's queue until the semaphore is above zero, then takes one from it.
/// A semaphore has one waiting unit in a program.
struct SyncWait {
    static constexpr std::string_view mnemonic = "sync.wait";
    static constexpr std::uint8_t opcode = 0x03;
    static constexpr std::size_t encoded_bytes = 3;

    Unit unit = Unit::Matrix;
    std::uint8_t semaphore = 0;

    /// Shows every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; none: the sequencer runs it.
    std::optional<Unit> queue() const { return unit; }
    /// See hw/isa/footprint.h; errors do not name the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const SyncWait&) const = default;
};

}  // namespace systole::isa
