#pragma once

#include <stdexcept>

namespace systole::input {

/// A file of images or labels cannot be used. The message is one line: file, place, value, rule.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace systole::input
