#pragma once

#include "hw/base/user_error.h"

namespace systole::trace {

/// A trace cannot be written. The message is one line: file and reason.
class TraceError : public UserError {
public:
    using UserError::UserError;
};

}  // namespace systole::trace
