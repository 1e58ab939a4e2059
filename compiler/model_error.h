#pragma once

#include <stdexcept>

namespace systole {

/// A network cannot be read or compiled. The message names file, layer, value and rule in one line.
class ModelError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace systole
