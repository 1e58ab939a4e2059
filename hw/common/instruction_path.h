#pragma once

#include <cstdint>

#include "hw/common/clock.h"

namespace systole::hw {

/// The way of the instructions from the host to the instruction buffer.
class InstructionPath {
public:
    virtual ~InstructionPath() = default;
    /// The host sends an instruction of so many bytes; returns the cycle in which it has arrived.
    virtual Cycle send_instruction(std::uint64_t bytes) = 0;
};

}  // namespace systole::hw
