#pragma once

#include <concepts>

namespace systole::schedule {

/// a / b rounded up, without the overflow of (a + b - 1) / b.
template <std::unsigned_integral Integer>
constexpr Integer divide_up(Integer a, Integer b) {
    return static_cast<Integer>(a / b + (a % b == 0 ? 0 : 1));
}

}  // namespace systole::schedule
