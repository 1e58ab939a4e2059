#include "hw/math/floats/word_operations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/circle_functions.h"
#include "hw/math/floats/float_functions.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/power_functions.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

SYSTOLE_ALWAYS_INLINE float as_float(std::uint32_t word) {
    return std::bit_cast<float>(word);
}

SYSTOLE_ALWAYS_INLINE std::uint32_t word_of(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

/// A number in two's complement; its order is that of numbers.
SYSTOLE_ALWAYS_INLINE std::int32_t as_int(std::uint32_t word) {
    return static_cast<std::int32_t>(word);
}

SYSTOLE_ALWAYS_INLINE std::uint32_t truth(bool holds) {
    return holds ? 1 : 0;
}

/// The nearest whole number, halves to the even one: adding 2^23 leaves no bits behind the point. Larger
/// numbers are whole.
SYSTOLE_ALWAYS_INLINE float whole(float x) {
    constexpr float no_fraction = 0x1p23F;
    const float size = std::abs(x);
    const float rounded = (size + no_fraction) - no_fraction;
    return size < no_fraction ? std::copysign(rounded, x) : x;
}

SYSTOLE_ALWAYS_INLINE std::uint32_t int_of(float x) {
    constexpr float beyond = 0x1p31F;
    const bool is_inside = std::abs(x) < beyond;
    const auto inside = static_cast<std::int32_t>(is_inside ? x : 0.0F);
    const std::int32_t end =
        x > 0.0F ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
    return static_cast<std::uint32_t>(is_inside ? inside : x == x ? end : 0);
}

SYSTOLE_ALWAYS_INLINE std::uint32_t uint_of(float x) {
    constexpr float beyond = 0x1p32F;
    const bool is_inside = x > 0.0F && x < beyond;
    const auto inside = static_cast<std::uint32_t>(is_inside ? x : 0.0F);
    return x >= beyond ? std::numeric_limits<std::uint32_t>::max() : inside;
}

SYSTOLE_ALWAYS_INLINE float whole_half_away(float x) {
    const float size = std::abs(x);
    const float near = whole(size);
    return std::copysign(size - near == 0.5F ? near + 1.0F : near, x);
}

/// The only quotient without a number is that of the least number by -1, which wraps around.
SYSTOLE_ALWAYS_INLINE std::uint32_t int_quotient(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t minus_one = 0xFFFFFFFF;
    const bool is_simple = b == 0 || b == minus_one;
    const std::int32_t quotient = as_int(a) / (is_simple ? 1 : as_int(b));
    return b == 0 ? minus_one : is_simple ? 0 - a : static_cast<std::uint32_t>(quotient);
}

SYSTOLE_ALWAYS_INLINE std::uint32_t int_remainder(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t minus_one = 0xFFFFFFFF;
    const bool is_simple = b == 0 || b == minus_one;
    const std::int32_t rest = as_int(a) % (is_simple ? 1 : as_int(b));  // 0 by -1 as by 1
    return b == 0 ? a : static_cast<std::uint32_t>(rest);
}

/// Of settled numbers, by long division in whole numbers.
std::uint32_t remainder_of(std::uint32_t dividend, std::uint32_t divisor) {
    constexpr std::uint32_t sign = 0x80000000;
    constexpr std::uint32_t infinite = 0x7F800000;
    constexpr std::uint32_t hidden = 0x00800000;
    constexpr unsigned exponent_at = 23;
    const std::uint32_t a = dividend & ~sign;
    const std::uint32_t b = divisor & ~sign;
    if (a >= infinite || b > infinite || b == 0) return float_nan_bits;
    if (a < b) return dividend;
    const auto significand = [](std::uint32_t size) { return std::uint64_t{size & (hidden - 1)} | hidden; };
    std::uint64_t rest = significand(a) % significand(b);
    constexpr std::uint32_t most_bits = 40;  // with the 24 of a rest, 64
    for (std::uint32_t left = (a >> exponent_at) - (b >> exponent_at); left > 0;) {
        const std::uint32_t bits = std::min(left, most_bits);
        rest = (rest << bits) % significand(b);
        left -= bits;
    }
    // The last bit of the divisor, as a float64.
    constexpr std::uint64_t bias = 1023 - 150;
    const auto last = std::bit_cast<double>(((b >> exponent_at) + bias) << 52);
    const auto size = settled(static_cast<float>(static_cast<double>(rest) * last));
    return word_of(size) | (dividend & sign);
}

template <WordOperation Operation>
SYSTOLE_ALWAYS_INLINE std::uint32_t result_of(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    using enum WordOperation;
    constexpr std::uint32_t bits = 32;
    if constexpr (Operation == Add) return word_of(settled(as_float(a) + as_float(b)));
    if constexpr (Operation == Subtract) return word_of(settled(as_float(a) - as_float(b)));
    if constexpr (Operation == Multiply) return word_of(settled(as_float(a) * as_float(b)));
    if constexpr (Operation == Divide) return word_of(settled(as_float(a) / as_float(b)));
    if constexpr (Operation == Maximum) return word_of(larger_of(as_float(a), as_float(b)));
    if constexpr (Operation == Minimum) return word_of(smaller_of(as_float(a), as_float(b)));
    if constexpr (Operation == Negate) return word_of(settled(-as_float(a)));
    if constexpr (Operation == Absolute) return word_of(settled(std::abs(as_float(a))));
    if constexpr (Operation == Floor) {
        const float near = whole(as_float(a));
        return word_of(settled(std::copysign(near > as_float(a) ? near - 1.0F : near, as_float(a))));
    }
    if constexpr (Operation == Ceil) {
        const float near = whole(as_float(a));
        return word_of(settled(std::copysign(near < as_float(a) ? near + 1.0F : near, as_float(a))));
    }
    if constexpr (Operation == RoundToEven) return word_of(settled(whole(as_float(a))));
    if constexpr (Operation == RoundToBfloat16) return word_of(rounded_to_bfloat16(as_float(a)));
    if constexpr (Operation == Less) return truth(as_float(a) < as_float(b));
    if constexpr (Operation == LessEqual) return truth(as_float(a) <= as_float(b));
    if constexpr (Operation == Equal) return truth(as_float(a) == as_float(b));
    if constexpr (Operation == AddInt) return a + b;
    if constexpr (Operation == SubtractInt) return a - b;
    if constexpr (Operation == MultiplyInt) return a * b;
    if constexpr (Operation == MaximumInt) return as_int(a) > as_int(b) ? a : b;
    if constexpr (Operation == MinimumInt) return as_int(a) < as_int(b) ? a : b;
    if constexpr (Operation == LessInt) return truth(as_int(a) < as_int(b));
    if constexpr (Operation == LessUint) return truth(a < b);
    if constexpr (Operation == EqualInt) return truth(a == b);
    if constexpr (Operation == And) return a & b;
    if constexpr (Operation == Or) return a | b;
    if constexpr (Operation == Xor) return a ^ b;
    if constexpr (Operation == ShiftLeft) return b < bits ? a << (b % bits) : 0;
    if constexpr (Operation == ShiftRight) return b < bits ? a >> (b % bits) : 0;
    if constexpr (Operation == ShiftRightArithmetic) {
        return static_cast<std::uint32_t>(as_int(a) >> (b < bits ? b % bits : bits - 1));
    }
    if constexpr (Operation == IntToFloat) return word_of(static_cast<float>(as_int(a)));
    if constexpr (Operation == FloatToInt) return int_of(as_float(a));
    if constexpr (Operation == Select) return a != 0 ? b : c;
    if constexpr (Operation == MultiplyAdd) {
        return word_of(settled(__builtin_fmaf(as_float(a), as_float(b), as_float(c))));
    }
    if constexpr (Operation == DivideInt) return int_quotient(a, b);
    if constexpr (Operation == RemainderInt) return int_remainder(a, b);
    if constexpr (Operation == DivideUint) return b == 0 ? 0xFFFFFFFF : a / b;
    if constexpr (Operation == RemainderUint) return b == 0 ? a : a % b;
    if constexpr (Operation == MaximumUint) return std::max(a, b);
    if constexpr (Operation == MinimumUint) return std::min(a, b);
    if constexpr (Operation == MultiplyHighUint) {
        return static_cast<std::uint32_t>(std::uint64_t{a} * std::uint64_t{b} >> bits);
    }
    if constexpr (Operation == LeadingZeros) return static_cast<std::uint32_t>(std::countl_zero(a));
    if constexpr (Operation == CountOnes) return static_cast<std::uint32_t>(std::popcount(a));
    if constexpr (Operation == UintToFloat) return word_of(static_cast<float>(a));
    if constexpr (Operation == FloatToUint) return uint_of(as_float(a));
    if constexpr (Operation == RoundToFloat16) return word_of(rounded_to_float16(as_float(a)));
    if constexpr (Operation == RoundHalfAway) return word_of(settled(whole_half_away(as_float(a))));
    if constexpr (Operation == ArcTangent) {
        return word_of(settled(static_cast<float>(arc_tangent_of(as_float(a), as_float(b)))));
    }
    if constexpr (Operation == Power) {
        return word_of(settled(static_cast<float>(power_of(as_float(a), as_float(b)))));
    }
    if constexpr (Operation == Remainder) {
        return remainder_of(word_of(settled(as_float(a))), word_of(settled(as_float(b))));
    }
}

/// The operands that an operation doesn't have are read as its first.
struct Rows {
    std::array<Words, 3> operands;
    const WordsOut& out;
};

template <WordOperation Operation>
SYSTOLE_ALWAYS_INLINE bool apply_one(const Rows& rows) {
    for (std::size_t row = 0; row < rows.out.rows; ++row) {
        const auto row_of = [row](const Words& words) { return words.data + row * words.row_elements; };
        const std::uint32_t* const a = row_of(rows.operands[0]);
        const std::uint32_t* const b = row_of(rows.operands[1]);
        const std::uint32_t* const c = row_of(rows.operands[2]);
        std::uint32_t* const to = rows.out.data + row * rows.out.row_elements;
        for (std::size_t i = 0; i < rows.out.columns; ++i) to[i] = result_of<Operation>(a[i], b[i], c[i]);
    }
    return true;
}

/// False for operations without operands and for functions of one number.
SYSTOLE_TARGET_CLONES bool apply_to(WordOperation operation, const Rows& rows) {
    using enum WordOperation;
    switch (operation) {
        case Add:
            return apply_one<Add>(rows);
        case Subtract:
            return apply_one<Subtract>(rows);
        case Multiply:
            return apply_one<Multiply>(rows);
        case Divide:
            return apply_one<Divide>(rows);
        case Maximum:
            return apply_one<Maximum>(rows);
        case Minimum:
            return apply_one<Minimum>(rows);
        case Negate:
            return apply_one<Negate>(rows);
        case Absolute:
            return apply_one<Absolute>(rows);
        case Floor:
            return apply_one<Floor>(rows);
        case Ceil:
            return apply_one<Ceil>(rows);
        case RoundToEven:
            return apply_one<RoundToEven>(rows);
        case RoundToBfloat16:
            return apply_one<RoundToBfloat16>(rows);
        case Less:
            return apply_one<Less>(rows);
        case LessEqual:
            return apply_one<LessEqual>(rows);
        case Equal:
            return apply_one<Equal>(rows);
        case AddInt:
            return apply_one<AddInt>(rows);
        case SubtractInt:
            return apply_one<SubtractInt>(rows);
        case MultiplyInt:
            return apply_one<MultiplyInt>(rows);
        case MaximumInt:
            return apply_one<MaximumInt>(rows);
        case MinimumInt:
            return apply_one<MinimumInt>(rows);
        case LessInt:
            return apply_one<LessInt>(rows);
        case LessUint:
            return apply_one<LessUint>(rows);
        case EqualInt:
            return apply_one<EqualInt>(rows);
        case And:
            return apply_one<And>(rows);
        case Or:
            return apply_one<Or>(rows);
        case Xor:
            return apply_one<Xor>(rows);
        case ShiftLeft:
            return apply_one<ShiftLeft>(rows);
        case ShiftRight:
            return apply_one<ShiftRight>(rows);
        case ShiftRightArithmetic:
            return apply_one<ShiftRightArithmetic>(rows);
        case IntToFloat:
            return apply_one<IntToFloat>(rows);
        case FloatToInt:
            return apply_one<FloatToInt>(rows);
        case Select:
            return apply_one<Select>(rows);
        case MultiplyAdd:
            return apply_one<MultiplyAdd>(rows);
        case Remainder:
            return apply_one<Remainder>(rows);
        case DivideInt:
            return apply_one<DivideInt>(rows);
        case RemainderInt:
            return apply_one<RemainderInt>(rows);
        case DivideUint:
            return apply_one<DivideUint>(rows);
        case RemainderUint:
            return apply_one<RemainderUint>(rows);
        case MaximumUint:
            return apply_one<MaximumUint>(rows);
        case MinimumUint:
            return apply_one<MinimumUint>(rows);
        case MultiplyHighUint:
            return apply_one<MultiplyHighUint>(rows);
        case LeadingZeros:
            return apply_one<LeadingZeros>(rows);
        case CountOnes:
            return apply_one<CountOnes>(rows);
        case UintToFloat:
            return apply_one<UintToFloat>(rows);
        case FloatToUint:
            return apply_one<FloatToUint>(rows);
        case RoundToFloat16:
            return apply_one<RoundToFloat16>(rows);
        case RoundHalfAway:
            return apply_one<RoundHalfAway>(rows);
        case ArcTangent:
            return apply_one<ArcTangent>(rows);
        case Power:
            return apply_one<Power>(rows);
        default:
            return false;
    }
}

std::uint32_t word_without_operands(WordOperation operation, std::uint32_t constant, std::size_t row,
                                    std::size_t column) {
    switch (operation) {
        case WordOperation::Constant:
            return constant;
        case WordOperation::Row:
            return static_cast<std::uint32_t>(row);
        case WordOperation::Column:
            return static_cast<std::uint32_t>(column);
        default:
            break;
    }
    throw std::logic_error("an operation without operands that does not exist");
}

void apply_function_to(WordOperation function, const Words& in, const WordsOut& out) {
    std::array<float, 256> numbers;
    for (std::size_t row = 0; row < out.rows; ++row) {
        for (std::size_t first = 0; first < out.columns; first += numbers.size()) {
            const std::size_t count = std::min(numbers.size(), out.columns - first);
            const std::uint32_t* const from = in.data + row * in.row_elements + first;
            for (std::size_t i = 0; i < count; ++i) numbers[i] = as_float(from[i]);
            apply_function(function, {numbers.data(), count}, {numbers.data(), count});
            std::uint32_t* const to = out.data + row * out.row_elements + first;
            for (std::size_t i = 0; i < count; ++i) to[i] = word_of(numbers[i]);
        }
    }
}

}  // namespace

void apply_operation(WordOperation operation, std::span<const Words> operands, std::uint32_t constant,
                     const WordsOut& out) {
    if (operands.size() != traits_of(operation).operands) {
        throw std::logic_error("an operation with another number of operands");
    }
    if (operands.empty()) {
        for (std::size_t row = 0; row < out.rows; ++row) {
            for (std::size_t column = 0; column < out.columns; ++column) {
                out.data[row * out.row_elements + column] = word_without_operands(
                    operation, constant, out.first_row + row, out.first_column + column);
            }
        }
        return;
    }
    Rows rows{.operands = {operands[0], operands[0], operands[0]}, .out = out};
    std::copy(operands.begin(), operands.end(), rows.operands.begin());
    if (!apply_to(operation, rows)) apply_function_to(operation, operands[0], out);
}

void add_settled(std::span<const std::uint32_t* const> parts, std::span<std::uint32_t> sums) {
    const auto settle = [](std::uint32_t word) { return word_of(settled(as_float(word))); };
    const std::size_t count = sums.size();
    std::transform(parts.front(), parts.front() + count, sums.begin(), settle);
    std::vector<std::uint32_t> more(count);
    for (const std::uint32_t* const part : parts.subspan(1)) {
        std::transform(part, part + count, more.begin(), settle);
        const std::array operands{Words{.data = sums.data()}, Words{.data = more.data()}};
        apply_operation(WordOperation::Add, operands, 0, {.data = sums.data(), .rows = 1, .columns = count});
    }
}

}  // namespace systole::math
