#include "compiler/ir/word_expression.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace systole::ir {

std::uint8_t WordSteps::add(WordStep step) {
    const auto same = std::ranges::find(steps_, step);
    const auto number = inputs_ + static_cast<std::size_t>(same - steps_.begin());
    if (same != steps_.end()) return static_cast<std::uint8_t>(number);
    if (number >= most_word_values) throw std::logic_error("a chain of words has too many values");
    steps_.push_back(std::move(step));
    return static_cast<std::uint8_t>(number);
}

std::vector<WordStep> WordSteps::up_to(std::uint8_t value) const {
    if (value < inputs_) throw std::logic_error("an input of a chain is no step");
    return {steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(value - inputs_ + 1)};
}

std::uint8_t WordOperand::in(WordSteps& steps) const {
    return steps_ == nullptr ? constant(steps, number_).number() : word_;
}

Word apply(WordOperation operation, const std::vector<WordOperand>& operands) {
    const auto word =
        std::ranges::find_if(operands, [](const WordOperand& x) { return x.steps() != nullptr; });
    if (word == operands.end()) throw std::logic_error("a formula of words has none");
    WordSteps& steps = *word->steps();
    WordStep step{.operation = operation};
    for (const WordOperand& operand : operands) step.operands.push_back(operand.in(steps));
    return {steps, steps.add(std::move(step))};
}

Word constant_word(WordSteps& steps, std::uint32_t word) {
    return {steps, steps.add({.operation = WordOperation::Constant, .constant = word})};
}

Word constant(WordSteps& steps, float number) {
    return constant_word(steps, std::bit_cast<std::uint32_t>(number));
}

}  // namespace systole::ir
