#pragma once

#include <cstdint>

namespace systole::isa {

/// The vector memory and vector unit of a machine of the family tensor_core.
struct TensorShape {
    std::uint32_t lanes =
        0;  ///< words of a row of vector memory; 0: the program is for a machine without one

    /// Cores of the machine that the program is for; 0: any number.
    std::uint32_t cores = 0;

    bool operator==(const TensorShape&) const = default;
};

/// Bytes of a word, in which vector memory and high-bandwidth memory are laid out.
inline constexpr std::uint32_t word_bytes = 4;
/// Parts of bfloat16 that make a float32.
inline constexpr std::uint8_t most_parts = 3;

}  // namespace systole::isa
