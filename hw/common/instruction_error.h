#pragma once

#include <stdexcept>
#include <string>

#include "hw/common/order_checker.h"

namespace systole::hw {

/// An instruction cannot do what it says, which shows only as it runs: the message is the rule it breaks.
class InstructionError : public std::runtime_error {
public:
    InstructionError(InstructionNumber instruction, const std::string& rule)
        : std::runtime_error(rule), number(instruction) {}

    const InstructionNumber number;
};

}  // namespace systole::hw
