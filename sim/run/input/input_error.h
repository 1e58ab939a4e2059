#pragma once

#include "hw/base/user_error.h"

namespace systole::input {

/// A file of images or labels cannot be used. The message is one line: file, place, value, rule.
class InputError : public UserError {
public:
    using UserError::UserError;
};

}  // namespace systole::input
