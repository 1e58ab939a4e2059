#pragma once

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace systole {

/// An input of the user breaks a rule: a machine, a network, a program, data. The message gives place, value
/// and rule in one line. Each kind of input derives an error of its own; code that reports errors to the user
/// catches this one. A std::logic_error, in contrast, is a fault of the simulator.
class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Whether an error is a fault of the simulator: neither an input's (UserError), nor the operating system's
/// refusal (std::system_error), nor a lack of memory.
bool is_internal(const std::exception& error);

/// The line about an error for people; that of a fault of the simulator begins with "internal error: ".
std::string line_of(const std::exception& error);

/// For suggestions in messages: the word of `known` that is most similar to `given`, whatever the case of its
/// letters, or empty if none is similar.
std::string_view nearest(std::string_view given, std::span<const std::string> known);

/// The end of a message that proposes a word: "; did you mean "batch"?"; nothing for an empty one.
std::string did_you_mean(std::string_view proposed);

/// The end of a message about an unknown word: "; did you mean "batch"?" if a known word is similar, else
/// "; there are a, b, c" if they are few, else nothing.
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace systole
