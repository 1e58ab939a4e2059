#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/word_operation.h"
#include "compiler/ir/word_step.h"

/// The steps of a `word_chain`, written as formulas: `x * logistic(x)`, `maximum(x, 0.0F)`.
namespace systole::ir {

/// Collects the steps of a chain. A step that is there already is not added again.
class WordSteps {
public:
    explicit WordSteps(std::size_t inputs) : inputs_(inputs) {}

    /// The number of the step's value.
    std::uint8_t add(WordStep step);
    /// The steps up to a value, which is none of the inputs.
    std::vector<WordStep> up_to(std::uint8_t value) const;

private:
    std::size_t inputs_;
    std::vector<WordStep> steps_;
};

/// A value of a chain: an input or the result of a step.
class Word {
public:
    Word(WordSteps& steps, std::uint8_t number) : steps_(&steps), number_(number) {}

    WordSteps& steps() const { return *steps_; }
    std::uint8_t number() const { return number_; }

private:
    WordSteps* steps_;
    std::uint8_t number_;
};

/// A word of a formula, or a number in it, which must be settled (hw/math/floats/float_values.h). One operand
/// of each operation must be a word.
class WordOperand {
public:
    // NOLINTNEXTLINE(google-explicit-constructor)
    WordOperand(Word word) : steps_(&word.steps()), word_(word.number()) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    WordOperand(float number) : number_(number) {}

    WordSteps* steps() const { return steps_; }
    /// The value in the steps; adds a number as a constant.
    std::uint8_t in(WordSteps& steps) const;

private:
    WordSteps* steps_ = nullptr;  ///< null: a number
    std::uint8_t word_ = 0;
    float number_ = 0.0F;
};

Word apply(WordOperation operation, const std::vector<WordOperand>& operands);
/// The same word for every element, and the same number, which must be settled.
Word constant_word(WordSteps& steps, std::uint32_t word);
Word constant(WordSteps& steps, float number);

/// The word of a result as a formula of the words of its operands.
using WordFormula = std::function<Word(std::span<const Word>)>;

/// An operand of a formula: the elements of a value, or a word that all elements have.
struct FormulaOperand {
    std::uint32_t value = 0;
    std::optional<std::uint32_t> word{};
};

/// A formula as a `word_chain` has it.
struct FormulaChain {
    std::vector<std::uint32_t> inputs{};  ///< the values that it reads, each once
    std::vector<std::string> steps{};     ///< empty if the result is the input `result`
    std::size_t result = 0;
};

/// If all operands are words, the first one is an input all the same: a chain has one.
FormulaChain chain_of(const std::vector<FormulaOperand>& operands, const WordFormula& formula);

inline Word operator+(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Add, {a, b});
}
inline Word operator-(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Subtract, {a, b});
}
inline Word operator*(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Multiply, {a, b});
}
inline Word operator/(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Divide, {a, b});
}
inline Word operator-(const Word& x) {
    return apply(WordOperation::Negate, {x});
}
inline Word maximum(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Maximum, {a, b});
}
inline Word minimum(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Minimum, {a, b});
}
inline Word absolute(const Word& x) {
    return apply(WordOperation::Absolute, {x});
}
inline Word floor(const Word& x) {
    return apply(WordOperation::Floor, {x});
}
inline Word ceil(const Word& x) {
    return apply(WordOperation::Ceil, {x});
}
inline Word round_to_bfloat16(const Word& x) {
    return apply(WordOperation::RoundToBfloat16, {x});
}
inline Word round_to_even(const Word& x) {
    return apply(WordOperation::RoundToEven, {x});
}
inline Word exp(const Word& x) {
    return apply(WordOperation::Exp, {x});
}
inline Word expm1(const Word& x) {
    return apply(WordOperation::Expm1, {x});
}
inline Word log(const Word& x) {
    return apply(WordOperation::Log, {x});
}
inline Word log1p(const Word& x) {
    return apply(WordOperation::Log1p, {x});
}
inline Word tanh(const Word& x) {
    return apply(WordOperation::Tanh, {x});
}
inline Word logistic(const Word& x) {
    return apply(WordOperation::Logistic, {x});
}
inline Word erf(const Word& x) {
    return apply(WordOperation::Erf, {x});
}
inline Word sqrt(const Word& x) {
    return apply(WordOperation::Sqrt, {x});
}
inline Word rsqrt(const Word& x) {
    return apply(WordOperation::Rsqrt, {x});
}
inline Word sine(const Word& x) {
    return apply(WordOperation::Sine, {x});
}
inline Word cosine(const Word& x) {
    return apply(WordOperation::Cosine, {x});
}
inline Word remainder(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Remainder, {a, b});
}
inline Word less(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Less, {a, b});
}
inline Word less_equal(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::LessEqual, {a, b});
}
inline Word equal(const WordOperand& a, const WordOperand& b) {
    return apply(WordOperation::Equal, {a, b});
}
/// `yes` where the truth value holds, else `no`.
inline Word select(const Word& truth, const WordOperand& yes, const WordOperand& no) {
    return apply(WordOperation::Select, {truth, yes, no});
}

}  // namespace systole::ir
