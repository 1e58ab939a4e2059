#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "tests/support/random_program/judge.h"
#include "tests/support/random_program/random_case.h"

namespace systole::tests {

/// Returns the failure of a case, if any.
using Judge = std::function<std::optional<Failure>(const Case&)>;

/// A case that failed, and how.
struct FailingCase {
    Case failing;
    Failure failure;
};

/// Makes a failing case smaller as long as it fails in the same kind: instructions are taken out (and `sync`
/// laid anew), fields, values and the machine's parameters are made simple, one after the other, until none
/// of it can be done any more or `most_judged` cases have been judged.
FailingCase shrink(FailingCase found, const Judge& judge, std::size_t most_judged = 5000);

}  // namespace systole::tests
