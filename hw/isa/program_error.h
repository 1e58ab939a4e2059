#pragma once

#include "hw/base/user_error.h"

namespace systole::isa {

/// A program, its text or its file breaks a rule. The message names the place (file and line, byte
/// offset or instruction number), the value and the rule, in one line.
class ProgramError : public UserError {
public:
    using UserError::UserError;
};

}  // namespace systole::isa
