#pragma once

#include <stdexcept>

namespace systole::machine {

/// A configuration file breaks a rule. The message names file, key, value and rule in one line.
class ConfigError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace systole::machine
