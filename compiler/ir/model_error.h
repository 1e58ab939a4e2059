#pragma once

#include "base/user_error.h"

namespace systole {

/// A network cannot be read or compiled. The message names file, layer, value and rule in one line.
class ModelError : public UserError {
public:
    using UserError::UserError;
};

}  // namespace systole
