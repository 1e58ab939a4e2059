#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace systole::tests {

/// SYSTOLE_RANDOM_PERCENT scales random tests: sanitizers make a tenth of the runs of `make test`, `make
/// random` ten times as many.
inline std::uint64_t random_percent() {
    static const std::uint64_t percent = [] {
        const char* const text = std::getenv("SYSTOLE_RANDOM_PERCENT");
        const std::uint64_t value = text == nullptr ? 100 : std::stoul(text);
        if (value == 0 || value > 100000) {
            throw std::runtime_error("SYSTOLE_RANDOM_PERCENT is not in 1 to 100000: " + std::string(text));
        }
        return value;
    }();
    return percent;
}

/// The runs of a random test that makes `count` of them in `make test`, at least one. Seeds count up from the
/// same first one, so a failing seed of a longer test can be run by itself.
inline std::uint32_t random_runs(std::uint32_t count) {
    return std::max(1U, static_cast<std::uint32_t>(count * random_percent() / 100));
}

/// How often a random test expects to have met a case, if it expects `count` in `make test`. A shortened test
/// expects nothing: too few runs remain.
inline std::uint32_t random_share(std::uint32_t count) {
    return random_percent() < 100 ? 0 : random_runs(count);
}

}  // namespace systole::tests
