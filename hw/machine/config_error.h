#pragma once

#include "base/user_error.h"

namespace systole::machine {

/// A configuration file breaks a rule. The message names file, key, value and rule in one line.
class ConfigError : public UserError {
public:
    using UserError::UserError;
};

}  // namespace systole::machine
