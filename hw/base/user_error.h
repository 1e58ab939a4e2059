#pragma once

#include <stdexcept>

namespace systole {

/// What a user gave the simulator breaks a rule: a machine, a network, a program, data. The message says in
/// one line the place, the value and the rule. Each kind of input derives its own error; whoever reports
/// them to the user catches this one. A std::logic_error, in contrast, is a mistake of the simulator's.
class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace systole
