#pragma once

#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <stdexcept>

namespace systole::emit {

/// The value as a field of an instruction. Throws std::logic_error where the schedule gave more than the
/// field holds.
template <std::unsigned_integral Field>
Field narrow(std::unsigned_integral auto value) {
    if (value > std::numeric_limits<Field>::max()) {
        throw std::logic_error(
            fmt::format("{} does not fit an instruction's field of {} bytes", value, sizeof(Field)));
    }
    return static_cast<Field>(value);
}

}  // namespace systole::emit
