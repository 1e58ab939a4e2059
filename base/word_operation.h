#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace systole {

/// Operations on words of 32 bits, as machines that compute in floats do them element by element. A word is a
/// float32, a whole number, or a truth value, which is 1 or 0. Results of floats are settled
/// (hw/math/floats/float_values.h). The enumerators' values are codes in program files (docs/isa.md): they
/// must not change.
enum class WordOperation : std::uint8_t {
    Constant,  ///< the same word for every element
    Row,       ///< the number of the element's row
    Column,    ///< the number of the element's column
    // Of float32.
    Add,
    Subtract,
    Multiply,
    Divide,
    Maximum,  ///< NaN if one of the two is; +0 is above -0
    Minimum,  ///< NaN if one of the two is; -0 is below +0
    Negate,
    Absolute,
    Floor,
    Ceil,
    RoundToEven,      ///< to the nearest whole number, halves to the even one
    RoundToBfloat16,  ///< to the nearest bfloat16
    Less,             ///< false if one of the two is NaN
    LessEqual,        ///< false if one of the two is NaN
    Equal,            ///< false if one of the two is NaN
    Exp,
    Expm1,  ///< e^x - 1
    Log,
    Log1p,  ///< ln(1 + x)
    Tanh,
    Logistic,  ///< 1 / (1 + e^-x)
    Erf,
    Sqrt,
    Rsqrt,  ///< 1 / sqrt(x)
    // Of whole numbers, which wrap around.
    AddInt,
    SubtractInt,
    MultiplyInt,
    MaximumInt,  ///< of two's complement
    MinimumInt,  ///< of two's complement
    LessInt,     ///< of two's complement
    LessUint,
    EqualInt,
    And,
    Or,
    Xor,
    ShiftLeft,             ///< by 32 or more: 0
    ShiftRight,            ///< zeros move in; by 32 or more: 0
    ShiftRightArithmetic,  ///< the sign moves in; by 32 or more: as by 31
    // Between formats.
    IntToFloat,   ///< the nearest float32 of a number in two's complement, halves to the even one
    FloatToInt,   ///< towards zero; beyond two's complement its nearest end, NaN is 0
    Select,       ///< the second operand where the first is not 0, else the third
    MultiplyAdd,  ///< of float32: the first operand times the second, plus the third, rounded once
    // Of float32.
    Sine,
    Cosine,
    Remainder,  ///< what the quotient, rounded towards 0, leaves of the first operand, with its sign; exact
    // Of whole numbers.
    DivideInt,      ///< of two's complement, towards zero; by 0: -1; of the least number by -1: that number
    RemainderInt,   ///< what DivideInt leaves of the first operand; by 0: the first operand
    DivideUint,     ///< by 0: the largest number
    RemainderUint,  ///< by 0: the first operand
    MaximumUint,
    MinimumUint,
    MultiplyHighUint,  ///< the upper 32 bits of the product's 64
    LeadingZeros,      ///< how many zeros stand above the first one bit; of 0: 32
    CountOnes,         ///< how many bits are one
    // Between formats.
    UintToFloat,     ///< the nearest float32, halves to the even one
    FloatToUint,     ///< towards zero; below 0 it is 0, above the largest number that, of NaN 0
    RoundToFloat16,  ///< to the nearest float16, a subnormal one too; beyond the largest one infinity
    // Of float32.
    RoundHalfAway,  ///< to the nearest whole number, halves away from zero
    Tangent,
    CubeRoot,
    ArcTangent,  ///< of the first operand over the second, in the quadrant of both: IEEE 754's atan2
    Power,       ///< the first operand to the power of the second: IEEE 754's pow
};

/// What belongs to an operation.
struct WordOperationTraits {
    std::string_view name;  ///< in assembly and messages
    std::uint8_t operands = 2;
    /// Computed as a series of other operations: a division, its remainder, a root or one of the functions
    /// with a curve.
    bool is_function = false;
};

inline constexpr std::size_t word_operation_count = static_cast<std::size_t>(WordOperation::Power) + 1;

/// In the order of the enumeration.
inline constexpr std::array<WordOperationTraits, word_operation_count> word_operation_traits{{
    {"constant", 0},
    {"row", 0},
    {"column", 0},
    {"add"},
    {"subtract"},
    {"multiply"},
    {"divide", 2, true},
    {"maximum"},
    {"minimum"},
    {"negate", 1},
    {"absolute", 1},
    {"floor", 1},
    {"ceil", 1},
    {"round_to_even", 1},
    {"round_to_bfloat16", 1},
    {"less"},
    {"less_equal"},
    {"equal"},
    {"exp", 1, true},
    {"expm1", 1, true},
    {"log", 1, true},
    {"log1p", 1, true},
    {"tanh", 1, true},
    {"logistic", 1, true},
    {"erf", 1, true},
    {"sqrt", 1, true},
    {"rsqrt", 1, true},
    {"add_int"},
    {"subtract_int"},
    {"multiply_int"},
    {"maximum_int"},
    {"minimum_int"},
    {"less_int"},
    {"less_uint"},
    {"equal_int"},
    {"and"},
    {"or"},
    {"xor"},
    {"shift_left"},
    {"shift_right"},
    {"shift_right_arithmetic"},
    {"int_to_float", 1},
    {"float_to_int", 1},
    {"select", 3},
    {"multiply_add", 3},
    {"sine", 1, true},
    {"cosine", 1, true},
    {"remainder", 2, true},
    {"divide_int", 2, true},
    {"remainder_int", 2, true},
    {"divide_uint", 2, true},
    {"remainder_uint", 2, true},
    {"maximum_uint"},
    {"minimum_uint"},
    {"multiply_high_uint"},
    {"leading_zeros", 1},
    {"count_ones", 1},
    {"uint_to_float", 1},
    {"float_to_uint", 1},
    {"round_to_float16", 1},
    {"round_half_away", 1},
    {"tangent", 1, true},
    {"cube_root", 1, true},
    {"arc_tangent", 2, true},
    {"power", 2, true},
}};

/// In the order of the enumeration.
inline constexpr std::array<std::string_view, word_operation_count> word_operation_names = [] {
    std::array<std::string_view, word_operation_count> names;
    std::transform(word_operation_traits.begin(), word_operation_traits.end(), names.begin(),
                   [](const WordOperationTraits& traits) { return traits.name; });
    return names;
}();

constexpr const auto& names_of(WordOperation) {
    return word_operation_names;
}

constexpr const WordOperationTraits& traits_of(WordOperation operation) {
    return word_operation_traits[static_cast<std::size_t>(operation)];
}

/// The operation of that name, if there is one.
constexpr std::optional<WordOperation> find_word_operation(std::string_view name) {
    const auto* const found = std::find(word_operation_names.begin(), word_operation_names.end(), name);
    if (found == word_operation_names.end()) return std::nullopt;
    return static_cast<WordOperation>(found - word_operation_names.begin());
}

/// What becomes of many words when they become one. The enumerators' values are codes in program files
/// (docs/isa.md): they must not change.
enum class Reduction : std::uint8_t {
    // Of float32.
    Sum,
    Product,
    Maximum,
    Minimum,
    // Of whole numbers.
    SumInt,
    ProductInt,
    MaximumInt,
    MinimumInt,
    MaximumUint,
    MinimumUint,
    And,
    Or,
    Xor,
};

/// What belongs to a reduction.
struct ReductionTraits {
    std::string_view name;  ///< in assembly, graphs and messages
    WordOperation operation = WordOperation::Add;
    std::uint32_t neutral_word = 0;
    bool is_of_integers = false;
};

inline constexpr std::size_t reduction_count = static_cast<std::size_t>(Reduction::Xor) + 1;

/// In the order of the enumeration.
inline constexpr std::array<ReductionTraits, reduction_count> reduction_traits{{
    {"sum", WordOperation::Add, 0x80000000},  // -0: +0 would lose the sign of -0
    {"product", WordOperation::Multiply, 0x3F800000},
    {"maximum", WordOperation::Maximum, 0xFF800000},
    {"minimum", WordOperation::Minimum, 0x7F800000},
    {"sum_int", WordOperation::AddInt, 0, true},
    {"product_int", WordOperation::MultiplyInt, 1, true},
    {"maximum_int", WordOperation::MaximumInt, 0x80000000, true},
    {"minimum_int", WordOperation::MinimumInt, 0x7FFFFFFF, true},
    {"maximum_uint", WordOperation::MaximumUint, 0, true},
    {"minimum_uint", WordOperation::MinimumUint, 0xFFFFFFFF, true},
    {"and", WordOperation::And, 0xFFFFFFFF, true},
    {"or", WordOperation::Or, 0, true},
    {"xor", WordOperation::Xor, 0, true},
}};

/// In the order of the enumeration.
inline constexpr std::array<std::string_view, reduction_count> reduction_names = [] {
    std::array<std::string_view, reduction_count> names;
    std::transform(reduction_traits.begin(), reduction_traits.end(), names.begin(),
                   [](const ReductionTraits& traits) { return traits.name; });
    return names;
}();

constexpr const auto& names_of(Reduction) {
    return reduction_names;
}

constexpr const ReductionTraits& traits_of(Reduction reduction) {
    return reduction_traits[static_cast<std::size_t>(reduction)];
}

/// What a reduction does with two words.
constexpr WordOperation operation_of(Reduction reduction) {
    return traits_of(reduction).operation;
}

/// Taken together with any word, it leaves that word as it is (floats must be settled).
constexpr std::uint32_t neutral_word(Reduction reduction) {
    return traits_of(reduction).neutral_word;
}

}  // namespace systole
