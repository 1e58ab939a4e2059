// Element-wise instructions as chains of operations on words.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using ir::Word;
using Op = WordOperation;
using Words = std::span<const Word>;

/// The operation that the type asks for: of floats, of two's complement, or of numbers without a sign.
WordOperation of_type(ElementType type, WordOperation of_floats, WordOperation of_signed,
                      WordOperation of_unsigned) {
    if (is_float(type)) return of_floats;
    return is_signed(type) ? of_signed : of_unsigned;
}

Word absolute(ElementType type, const Word& x) {
    if (is_float(type)) return apply(Op::Absolute, x);
    if (is_unsigned(type)) return x;
    const Word mask = apply(Op::ShiftRightArithmetic, x, word(x, 31));
    return wrapped(type, apply(Op::SubtractInt, apply(Op::Xor, x, mask), mask));
}

Word sign_of(ElementType type, const Word& x) {
    if (is_unsigned(type)) return apply(Op::LessUint, word(x, 0), x);
    if (is_signed(type))
        return apply(Op::Or, apply(Op::ShiftRightArithmetic, x, word(x, 31)),
                     apply(Op::LessInt, word(x, 0), x));
    const Word one = apply(Op::Or, apply(Op::And, x, word(x, sign_bit)), float_word(x, 1.0F));
    return apply(Op::Select, apply(Op::Less, float_word(x, 0.0F), apply(Op::Absolute, x)), one, x);
}

Word inverted(ElementType type, const Word& x) {
    if (type == ElementType::Pred) return opposite(x);
    const std::uint32_t bits = is_unsigned(type) ? word_bits(type) : 32;
    return apply(Op::Xor, x, word(x, std::numeric_limits<std::uint32_t>::max() >> (32 - bits)));
}

/// What an arithmetic shift of the type moves in is the sign of its top bit, also of types without a sign.
Word shifted_right(ElementType type, const Word& x, const Word& amount, bool is_arithmetic) {
    const std::uint32_t bits = word_bits(type);
    if (is_arithmetic) {
        if (is_signed(type) || bits == 32) return apply(Op::ShiftRightArithmetic, x, amount);
        const Word unused = word(x, 32 - bits);
        const Word with_sign = apply(Op::ShiftRightArithmetic, apply(Op::ShiftLeft, x, unused), unused);
        return wrapped(type, apply(Op::ShiftRightArithmetic, with_sign, amount));
    }
    if (is_unsigned(type) || bits == 32) return apply(Op::ShiftRight, x, amount);
    const Word without_sign = apply(Op::And, x, word(x, (1U << bits) - 1));
    return wrapped(type, apply(Op::ShiftRight, without_sign, amount));
}

/// The bits of an element alone, without those of its sign before them.
Word own_bits(ElementType type, const Word& x) {
    const std::uint32_t bits = word_bits(type);
    return bits == 32 || is_unsigned(type) ? x : apply(Op::And, x, word(x, (1U << bits) - 1));
}

/// The order of floats with -inf < ... < -0 < +0 < ... < inf < NaN as that of whole numbers.
Word total_order(const Word& x) {
    const Word mask = apply(Op::ShiftRight, apply(Op::ShiftRightArithmetic, x, word(x, 31)), word(x, 1));
    return apply(Op::Xor, x, mask);
}

Word truth_of(ElementType type, const Word& x) {
    if (type == ElementType::Pred) return x;
    return opposite(is_float(type) ? apply(Op::Equal, x, float_word(x, 0.0F))
                                   : apply(Op::EqualInt, x, word(x, 0)));
}

/// Numbers outside of the type become its nearest end, and NaN becomes 0.
Word integer_of_float(ElementType to, const Word& x) {
    if (is_unsigned(to)) {
        const Word whole = apply(Op::FloatToUint, x);
        return word_bits(to) == 32 ? whole : apply(Op::MinimumUint, whole, word(x, highest_word(to)));
    }
    const Word whole = apply(Op::FloatToInt, x);
    if (word_bits(to) == 32) return whole;
    return apply(Op::MinimumInt, apply(Op::MaximumInt, whole, word(x, lowest_word(to))),
                 word(x, highest_word(to)));
}

Word converted_word(ElementType from, ElementType to, const Word& x) {
    if (to == ElementType::Pred) return truth_of(from, x);
    if (is_float(from) && is_float(to)) return to == ElementType::F32 ? x : rounded(to, x);
    if (is_float(from)) return integer_of_float(to, x);
    if (is_float(to)) {
        const bool fits = is_signed(from) || word_bits(from) < 32 || from == ElementType::Pred;
        return rounded(to, apply(fits ? Op::IntToFloat : Op::UintToFloat, x));
    }
    // Of a pred, or of a narrower type that all of its numbers fit: nothing.
    const bool fits = from == ElementType::Pred ||
                      (word_bits(from) < word_bits(to) && (is_unsigned(from) || is_signed(to)));
    return fits ? x : wrapped(to, x);
}

/// The exact rounding of a float to fewer bits, to the nearest, halves to the even number.
Word reduced_precision(ElementType type, const ReducedPrecision& to, const Word& x) {
    constexpr int float_mantissa = 23;
    constexpr int float_bias = 127;
    constexpr int float_exponent = 8;
    if (type != ElementType::F32) {
        throw ModelError(
            fmt::format("its type is {}; programs are compiled with reduce-precision of f32 alone",
                        traits_of(type).name));
    }
    Word r = x;
    if (to.mantissa_bits < float_mantissa) {
        const auto cut = static_cast<std::uint32_t>(float_mantissa - to.mantissa_bits);
        const std::uint32_t unit = 1U << cut;
        const Word odd = apply(Op::And, apply(Op::ShiftRight, x, word(x, cut)), word(x, 1));
        r = apply(Op::AddInt, x, apply(Op::AddInt, odd, word(x, (unit >> 1U) - 1)));
        r = apply(Op::And, r, word(x, ~(unit - 1)));
    }
    if (to.exponent_bits < float_exponent) {
        const int bias = (1 << (to.exponent_bits - 1)) - 1;
        const auto least = static_cast<std::uint32_t>(float_bias - bias) << 23U;
        const std::uint32_t most = (static_cast<std::uint32_t>(float_bias + bias) << 23U) | 0x7FFFFFU;
        const Word size = apply(Op::And, r, word(x, ~sign_bit));
        const Word own_sign = apply(Op::And, r, word(x, sign_bit));
        r = apply(Op::Select, apply(Op::LessUint, word(x, most), size),
                  apply(Op::Or, own_sign, word(x, infinity_bits)), r);
        r = apply(Op::Select, apply(Op::LessUint, size, word(x, least + 0x800000U)), own_sign, r);
    }
    return apply(Op::Select, apply(Op::Equal, x, x), r, x);
}

/// Integer powers, bit by bit of the exponent, which must be a constant number.
Word integer_power(ElementType type, const Word& x, std::uint32_t exponent) {
    Word result = word(x, 1);
    Word square = x;
    for (; exponent != 0; exponent >>= 1U) {
        if ((exponent & 1U) != 0) result = apply(Op::MultiplyInt, result, square);
        if (exponent > 1) square = apply(Op::MultiplyInt, square, square);
    }
    return wrapped(type, result);
}

/// Functions of one float, whose result is rounded to the type.
std::optional<WordOperation> function_of(Opcode opcode) {
    switch (opcode) {
        case Opcode::Cbrt:
            return Op::CubeRoot;
        case Opcode::Cosine:
            return Op::Cosine;
        case Opcode::Erf:
            return Op::Erf;
        case Opcode::Exponential:
            return Op::Exp;
        case Opcode::ExponentialMinusOne:
            return Op::Expm1;
        case Opcode::Log:
            return Op::Log;
        case Opcode::LogPlusOne:
            return Op::Log1p;
        case Opcode::Logistic:
            return Op::Logistic;
        case Opcode::Rsqrt:
            return Op::Rsqrt;
        case Opcode::Sine:
            return Op::Sine;
        case Opcode::Sqrt:
            return Op::Sqrt;
        case Opcode::Tan:
            return Op::Tangent;
        case Opcode::Tanh:
            return Op::Tanh;
        case Opcode::Ceil:
            return Op::Ceil;
        case Opcode::Floor:
            return Op::Floor;
        case Opcode::RoundNearestEven:
            return Op::RoundToEven;
        case Opcode::RoundNearestAfz:
            return Op::RoundHalfAway;
        default:
            return std::nullopt;
    }
}

Word element(const Operation& operation, ElementType type, Words in) {
    const Opcode opcode = operation.instruction.opcode;
    if (const auto function = function_of(opcode)) return rounded(type, apply(*function, in[0]));
    switch (opcode) {
        case Opcode::Abs:
            return absolute(type, in[0]);
        case Opcode::Negate:
            if (is_float(type)) return apply(Op::Negate, in[0]);
            return wrapped(type, apply(Op::SubtractInt, word(in[0], 0), in[0]));
        case Opcode::Not:
            return inverted(type, in[0]);
        case Opcode::Sign:
            return sign_of(type, in[0]);
        case Opcode::IsFinite:
            return apply(Op::Less, apply(Op::Absolute, in[0]), word(in[0], infinity_bits));
        case Opcode::Popcnt:
            return apply(Op::CountOnes, own_bits(type, in[0]));
        case Opcode::CountLeadingZeros: {
            const Word zeros = apply(Op::LeadingZeros, own_bits(type, in[0]));
            return word_bits(type) == 32 ? zeros
                                         : apply(Op::SubtractInt, zeros, word(in[0], 32 - word_bits(type)));
        }
        case Opcode::ReducePrecision:
            return reduced_precision(type, operation.attributes<ReducedPrecision>(), in[0]);
        case Opcode::Subtract:
            return fitted(type, apply(is_float(type) ? Op::Subtract : Op::SubtractInt, in[0], in[1]));
        case Opcode::Divide:
            return fitted(type,
                          apply(of_type(type, Op::Divide, Op::DivideInt, Op::DivideUint), in[0], in[1]));
        case Opcode::Remainder:
            return apply(of_type(type, Op::Remainder, Op::RemainderInt, Op::RemainderUint), in[0], in[1]);
        case Opcode::Atan2:
            return rounded(type, apply(Op::ArcTangent, in[0], in[1]));
        case Opcode::Power:
            return rounded(type, apply(Op::Power, in[0], in[1]));
        case Opcode::ShiftLeft:
            return wrapped(type, apply(Op::ShiftLeft, in[0], in[1]));
        case Opcode::ShiftRightLogical:
            return shifted_right(type, in[0], in[1], false);
        case Opcode::ShiftRightArithmetic:
            return shifted_right(type, in[0], in[1], true);
        case Opcode::Clamp:
            return combined(Opcode::Minimum, type, combined(Opcode::Maximum, type, in[0], in[1]), in[2]);
        case Opcode::Select:
            return apply(Op::Select, in[0], in[1], in[2]);
        case Opcode::Compare:
            return compared(type, operation.attributes<Compare>(), in[0], in[1]);
        default:
            return combined(opcode, type, in[0], in[1]);
    }
}

/// Bits that become a float: no subnormal number, and one NaN.
Word settled(const Word& x) {
    return apply(Op::Multiply, x, float_word(x, 1.0F));
}

Word float_of_half_bits(const Word& given) {
    const Word bits = apply(Op::And, given, word(given, 0xFFFF));
    const Word size = apply(Op::And, bits, word(bits, 0x7FFF));
    const Word shifted = apply(Op::ShiftLeft, size, word(bits, 13));
    const Word subnormal = apply(Op::Multiply, apply(Op::UintToFloat, size), float_word(bits, 0x1p-24F));
    Word result = apply(Op::Select, apply(Op::LessUint, size, word(bits, 0x400)), subnormal,
                        apply(Op::AddInt, shifted, word(bits, 0x38000000)));
    result = apply(Op::Select, apply(Op::LessUint, size, word(bits, 0x7C00)), result,
                   apply(Op::AddInt, shifted, word(bits, 0x70000000)));
    const Word own_sign = apply(Op::ShiftLeft, apply(Op::And, bits, word(bits, 0x8000)), word(bits, 16));
    return settled(apply(Op::Or, result, own_sign));
}

/// A shift of a 64-bit integer that is known to have 32 bits: by as many or more, nothing but the sign is
/// left. Numbers without a sign have none in their lower half.
Word shifted_half(Opcode opcode, ElementType half, Words in) {
    if (opcode == Opcode::ShiftLeft) return apply(Op::ShiftLeft, in[0], in[1]);
    return shifted_right(half, in[0], in[1], is_signed(half) && opcode == Opcode::ShiftRightArithmetic);
}

}  // namespace

Word compared(ElementType type, const Compare& compare, const Word& a, const Word& b) {
    if (is_float(type) && compare.type != ComparisonType::TotalOrder) {
        switch (compare.direction) {
            case Direction::Eq:
                return apply(Op::Equal, a, b);
            case Direction::Ne:
                return opposite(apply(Op::Equal, a, b));
            case Direction::Ge:
                return apply(Op::LessEqual, b, a);
            case Direction::Gt:
                return apply(Op::Less, b, a);
            case Direction::Le:
                return apply(Op::LessEqual, a, b);
            case Direction::Lt:
                return apply(Op::Less, a, b);
        }
    }
    const WordOperation less = is_unsigned(type) ? Op::LessUint : Op::LessInt;
    const Word x = is_float(type) ? total_order(a) : a;
    const Word y = is_float(type) ? total_order(b) : b;
    switch (compare.direction) {
        case Direction::Eq:
            return apply(Op::EqualInt, x, y);
        case Direction::Ne:
            return opposite(apply(Op::EqualInt, x, y));
        case Direction::Ge:
            return opposite(apply(less, x, y));
        case Direction::Gt:
            return apply(less, y, x);
        case Direction::Le:
            return opposite(apply(less, y, x));
        case Direction::Lt:
            return apply(less, x, y);
    }
    throw std::logic_error("a direction that does not exist");
}

Word combined(Opcode opcode, ElementType type, const Word& a, const Word& b) {
    switch (opcode) {
        case Opcode::Add:
            if (type == ElementType::Pred) return apply(Op::Or, a, b);
            return fitted(type, apply(is_float(type) ? Op::Add : Op::AddInt, a, b));
        case Opcode::Multiply:
            if (type == ElementType::Pred) return apply(Op::And, a, b);
            return fitted(type, apply(is_float(type) ? Op::Multiply : Op::MultiplyInt, a, b));
        case Opcode::Maximum:
            return apply(of_type(type, Op::Maximum, Op::MaximumInt, Op::MaximumUint), a, b);
        case Opcode::Minimum:
            return apply(of_type(type, Op::Minimum, Op::MinimumInt, Op::MinimumUint), a, b);
        case Opcode::And:
            return apply(Op::And, a, b);
        case Opcode::Or:
            return apply(Op::Or, a, b);
        case Opcode::Xor:
            return apply(Op::Xor, a, b);
        default:
            throw std::logic_error("an element-wise instruction without a rule");
    }
}

Array converted(GraphMaker& maker, const Array& array, ElementType to) {
    return maker.chain(to, array.dimensions, {array},
                       [&](Words in) { return converted_word(array.type, to, in[0]); });
}

Array floats_of_half_bits(GraphMaker& maker, const Array& bits) {
    return maker.chain(ElementType::F16, bits.dimensions, {bits},
                       [](Words in) { return float_of_half_bits(in[0]); });
}

Arrays map_element_wise(GraphMaker& maker, const Operation& operation) {
    const Opcode opcode = operation.instruction.opcode;
    const ElementType result = maker.result_of(operation).type;
    // The type whose rule it is: that of the operands; of a choice, that of its second one.
    ElementType type = operation.operand(opcode == Opcode::Select ? 1 : 0).type;
    std::vector<Array> operands = operation.all_arrays();
    const bool is_wide =
        std::ranges::any_of(operands, [](const Array& operand) { return has_64_bits(operand.type); });
    if (is_wide) {
        for (Array& operand : operands) {
            if (!has_64_bits(operand.type)) continue;
            if (!needs_lower_halves(opcode, result)) number_in_32_bits(maker, operand);
        }
        // A logical shift moves in zeros far above the lower half, which gets the upper half of numbers below
        // 0.
        const bool is_shift = opcode == Opcode::ShiftRightLogical;
        if (const auto range = operands[0].range; is_shift && range && range->low < 0) {
            throw ModelError(
                "it may shift a 64-bit integer below 0 to the right with zeros, which is not compiled");
        }
        if (has_64_bits(type)) type = is_signed(type) ? ElementType::S32 : ElementType::U32;
        if (opcode == Opcode::CountLeadingZeros || opcode == Opcode::Popcnt || opcode == Opcode::Power)
            throw ModelError("it is of 64-bit integers; programs are compiled with those of 32 bits");
    }
    if (has_64_bits(result) && is_float(type)) {
        throw ModelError(
            fmt::format("it makes {} of floats; programs are compiled that make integers of 32 bits",
                        traits_of(result).name));
    }
    const Numbers& dimensions =
        operation.lifted != nullptr ? *operation.lifted : maker.result_of(operation).dimensions;
    const auto exponent = opcode == Opcode::Power && !is_float(type) ? maker.word_of(operands[1])
                                                                     : std::optional<std::uint32_t>();
    if (opcode == Opcode::Power && !is_float(type)) {
        if (!exponent || (is_signed(type) && (*exponent >> 31U) != 0))
            throw ModelError("its exponent is computed or below 0; powers of integers have a constant one");
    }
    Array array = maker.chain(result, dimensions, operands, [&](Words in) {
        if (opcode == Opcode::Convert) return converted_word(type, result, in[0]);
        if (exponent) return integer_power(type, in[0], *exponent);
        if (is_wide && (opcode == Opcode::ShiftLeft || opcode == Opcode::ShiftRightLogical ||
                        opcode == Opcode::ShiftRightArithmetic)) {
            return shifted_half(opcode, type, in);
        }
        return element(operation, type, in);
    });
    if (has_64_bits(result)) array.range = result_range(maker, operation, result);
    return {array};
}

Arrays map_bitcast_convert(GraphMaker& maker, const Operation& operation) {
    const Array& from = operation.operand(0);
    const ElementType to = maker.result_of(operation).type;
    if (traits_of(from.type).bytes != traits_of(to).bytes || has_64_bits(to)) {
        throw ModelError(fmt::format("it makes {} of {}; both must have the same number of bits, at most 32",
                                     traits_of(to).name, traits_of(from.type).name));
    }
    const auto half_bits = [&](const Word& x) { return apply(Op::ShiftRight, x, word(x, 16)); };
    const auto bits_of = [&](const Word& x) {
        switch (from.type) {
            case ElementType::Bf16:
                return half_bits(x);
            case ElementType::F16: {
                constexpr std::uint32_t smallest = 0x38800000;  // normal float16, as a float32
                const Word size = apply(Op::And, x, word(x, ~sign_bit));
                Word bits =
                    apply(Op::Select, apply(Op::LessUint, size, word(x, smallest)),
                          apply(Op::FloatToUint, apply(Op::Multiply, size, float_word(x, 0x1p24F))),
                          apply(Op::SubtractInt, apply(Op::ShiftRight, size, word(x, 13)), word(x, 0x1C000)));
                const Word beyond = apply(Op::Select, apply(Op::EqualInt, size, word(x, infinity_bits)),
                                          word(x, 0x7C00), word(x, 0x7E00));
                bits = apply(Op::Select, apply(Op::LessUint, size, word(x, infinity_bits)), bits, beyond);
                return apply(Op::Or, bits, half_bits(apply(Op::And, x, word(x, sign_bit))));
            }
            default:
                return x;
        }
    };
    const auto element_of = [&](const Word& bits) {
        switch (to) {
            case ElementType::F32:
                return settled(bits);
            case ElementType::Bf16:
                return settled(apply(Op::ShiftLeft, bits, word(bits, 16)));
            case ElementType::F16:
                return float_of_half_bits(bits);
            default:
                return wrapped(to, bits);
        }
    };
    Array array = maker.chain(to, operation.lifted != nullptr ? *operation.lifted : from.dimensions, {from},
                              [&](Words in) { return from.type == to ? in[0] : element_of(bits_of(in[0])); });
    return {array};
}

}  // namespace systole::hlo
