#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace systole::machine {

/// The declaration of a configuration key. It stands once, next to the struct; the reader, the writer and the
/// reference documentation use it.
struct Field {
    std::string_view key = {};
    std::string_view unit = {};     ///< "cycles", "bytes", "GB/s", ...; empty for names and switches
    std::string_view meaning = {};  ///< one sentence
    bool needed = false;            ///< an object without it is an error
    std::string_view if_absent =
        {};                      ///< the effect of leaving the key out, if the default value does not tell
    std::string_view rule = {};  ///< beyond the range, such as a relation to other keys
};

/// A field that an object must have.
constexpr Field needed(std::string_view key, std::string_view unit, std::string_view meaning) {
    return {.key = key, .unit = unit, .meaning = meaning, .needed = true};
}

/// Bounds of a whole number, both included.
struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
};

/// Bounds of a real number, both included.
struct RealRange {
    double least = 0.0;
    double most = 1e12;
};

}  // namespace systole::machine
