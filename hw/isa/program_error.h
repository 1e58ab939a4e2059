#pragma once

#include <stdexcept>

namespace systole::isa {

/// A program, its text or its file breaks a rule. The message names the place (file and line, byte
/// offset or instruction number), the value and the rule, in one line.
class ProgramError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace systole::isa
