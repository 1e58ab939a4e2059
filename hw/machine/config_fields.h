#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace systole::machine {

/// What is known of a configuration key besides its place: declared once, next to the struct, and
/// used by the reader, the writer and the reference documentation.
struct Field {
    std::string_view key = {};
    std::string_view unit = {};       ///< "cycles", "bytes", "GB/s", ...; empty for names and switches
    std::string_view meaning = {};    ///< one sentence
    bool needed = false;              ///< an object without it is an error
    std::string_view if_absent = {};  ///< what holds then, where the default says too little
    std::string_view rule = {};       ///< with other keys, beyond the range of this one
};

/// A field that every such object has.
constexpr Field needed(std::string_view key, std::string_view unit, std::string_view meaning) {
    return {.key = key, .unit = unit, .meaning = meaning, .needed = true};
}

/// Bounds of a whole number, both included.
struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
};

/// Bounds of a real number: above `above`, at most `most`.
struct RealRange {
    double least = 0.0;
    double most = 1e12;
};

}  // namespace systole::machine
