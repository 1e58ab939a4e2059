#include "compiler/frontend/hlo/to_graph/words.h"

#include <bit>

namespace systole::hlo {

bool is_float(ElementType type) {
    return traits_of(type).is_float;
}

bool is_signed(ElementType type) {
    return traits_of(type).is_integer && traits_of(type).is_signed;
}

bool is_unsigned(ElementType type) {
    return !is_float(type) && !is_signed(type);
}

bool has_64_bits(ElementType type) {
    return traits_of(type).bytes == sizeof(std::uint64_t);
}

std::uint32_t word_bits(ElementType type) {
    constexpr std::uint32_t of_byte = 8;
    if (is_float(type) || type == ElementType::Pred || traits_of(type).bytes > 2) return 4 * of_byte;
    return traits_of(type).bytes * of_byte;
}

ir::Word apply(WordOperation operation, const ir::Word& a) {
    return ir::apply(operation, {a});
}

ir::Word apply(WordOperation operation, const ir::Word& a, const ir::Word& b) {
    return ir::apply(operation, {a, b});
}

ir::Word apply(WordOperation operation, const ir::Word& a, const ir::Word& b, const ir::Word& c) {
    return ir::apply(operation, {a, b, c});
}

ir::Word word(const ir::Word& beside, std::uint32_t bits) {
    return ir::constant_word(beside.steps(), bits);
}

ir::Word float_word(const ir::Word& beside, float value) {
    return ir::constant(beside.steps(), value);
}

ir::Word same_bits(const ir::Word& x) {
    return apply(WordOperation::Or, x, x);
}

ir::Word wrapped(ElementType type, const ir::Word& x) {
    const std::uint32_t bits = word_bits(type);
    if (bits == 32 || is_float(type)) return x;
    if (is_unsigned(type)) return apply(WordOperation::And, x, word(x, (1U << bits) - 1));
    const ir::Word shift = word(x, 32 - bits);
    return apply(WordOperation::ShiftRightArithmetic, apply(WordOperation::ShiftLeft, x, shift), shift);
}

ir::Word rounded(ElementType type, const ir::Word& x) {
    if (type == ElementType::Bf16) return apply(WordOperation::RoundToBfloat16, x);
    if (type == ElementType::F16) return apply(WordOperation::RoundToFloat16, x);
    return x;
}

ir::Word fitted(ElementType type, const ir::Word& x) {
    return is_float(type) ? rounded(type, x) : wrapped(type, x);
}

ir::Word opposite(const ir::Word& truth) {
    return apply(WordOperation::Xor, truth, word(truth, 1));
}

std::uint32_t lowest_word(ElementType type) {
    if (is_float(type)) return sign_bit | infinity_bits;
    if (is_unsigned(type)) return 0;
    return ~std::uint32_t{0} << (word_bits(type) - 1);
}

std::uint32_t highest_word(ElementType type) {
    if (is_float(type)) return infinity_bits;
    if (type == ElementType::Pred) return 1;
    if (is_signed(type)) return ~lowest_word(type);
    return ~std::uint32_t{0} >> (32 - word_bits(type));
}

std::uint32_t word_of_number(ElementType type, std::uint32_t number) {
    return is_float(type) ? std::bit_cast<std::uint32_t>(static_cast<float>(number)) : number;
}

}  // namespace systole::hlo
