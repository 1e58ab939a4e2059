#pragma once

#include <cstdint>
#include <span>

#include "base/data_type.h"

namespace systole::math {

/// Elements of a number format as words of 32 bits, as machines that compute in floats hold them, and back.
/// Floats of 16 bits become the float32 that they are, narrow integers get the sign or zeros before them, and
/// truth values are 1 or 0. `stored` has as many elements as `words` and may lie at any address.
void to_words(const void* stored, DataType type, std::span<std::uint32_t> words);
/// Floats of 16 bits are rounded to the nearest, halves to the even number; integers keep their low bits; a
/// truth value is whether the word is not 0.
void from_words(std::span<const std::uint32_t> words, DataType type, void* stored);

}  // namespace systole::math
