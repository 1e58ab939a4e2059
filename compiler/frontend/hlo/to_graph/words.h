#pragma once

#include <cstdint>

#include "base/word_operation.h"
#include "compiler/frontend/hlo/shape.h"
#include "compiler/ir/word_expression.h"

/// How elements lie in words of 32 bits: floats are the float32 that they are, integers have their sign or
/// zeros before them, and a truth value is 1 or 0. Of 64-bit integers, a word has the lower half.
namespace systole::hlo {

inline constexpr std::uint32_t sign_bit = 0x80000000;  ///< of a float32
inline constexpr std::uint32_t infinity_bits = 0x7F800000;

bool is_float(ElementType type);
bool is_signed(ElementType type);    ///< s8 to s64
bool is_unsigned(ElementType type);  ///< u8 to u64, and pred
bool has_64_bits(ElementType type);
/// The bits of a narrow integer; 32 for all other types.
std::uint32_t word_bits(ElementType type);

ir::Word apply(WordOperation operation, const ir::Word& a);
ir::Word apply(WordOperation operation, const ir::Word& a, const ir::Word& b);
ir::Word apply(WordOperation operation, const ir::Word& a, const ir::Word& b, const ir::Word& c);
/// A word in the chain of another one.
ir::Word word(const ir::Word& beside, std::uint32_t bits);
ir::Word float_word(const ir::Word& beside, float value);

/// The word as a result of a step.
ir::Word same_bits(const ir::Word& x);
/// An integer that may have left its type, as an element of the type.
ir::Word wrapped(ElementType type, const ir::Word& x);
/// A float32 as an element of a float type.
ir::Word rounded(ElementType type, const ir::Word& x);
/// The one of these that the type asks for.
ir::Word fitted(ElementType type, const ir::Word& x);
/// The truth value that it is not.
ir::Word opposite(const ir::Word& truth);

/// The least and the largest element of a type as words: infinities of floats.
std::uint32_t lowest_word(ElementType type);
std::uint32_t highest_word(ElementType type);
/// The word of a small whole number.
std::uint32_t word_of_number(ElementType type, std::uint32_t number);

}  // namespace systole::hlo
