#pragma once

#include <stdexcept>

namespace systole::trace {

/// A trace cannot be written. The message is one line: file and reason.
class TraceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace systole::trace
