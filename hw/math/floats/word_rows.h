#pragma once

#include <cstddef>
#include <cstdint>

// Rows of words of a memory, as other numbers (docs/isa.md, "Matrices in panels" and "Sums in order").
namespace systole::math {

/// The bfloat16 in one half of each word.
enum class WordHalf : std::uint8_t { Lower, Upper };

/// Part `part` (0 to 2) of each float32: the bfloat16 nearest to what the parts before it leave over.
void take_part(const std::uint32_t* words, std::size_t count, unsigned part, float* out);

/// The bfloat16 in a half of each word, as float32.
void widen(const std::uint32_t* words, std::size_t count, WordHalf half, float* out);
/// The same as words.
void widen(const std::uint32_t* words, std::size_t count, WordHalf half, std::uint32_t* out);

/// Rounds each float32 to a bfloat16 in a half of a word, whose other half stays.
void narrow(const std::uint32_t* words, std::size_t count, WordHalf half, std::uint32_t* out);

}  // namespace systole::math
