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

FormulaChain chain_of(const std::vector<FormulaOperand>& operands, const WordFormula& formula) {
    FormulaChain chain;
    const auto is_word = [](const FormulaOperand& operand) { return operand.word.has_value(); };
    const bool has_words_alone = std::ranges::all_of(operands, is_word);
    const auto is_read = [&](std::size_t i) { return !operands[i].word || (has_words_alone && i == 0); };
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool is_new = std::ranges::find(chain.inputs, operands[i].value) == chain.inputs.end();
        if (is_read(i) && is_new) chain.inputs.push_back(operands[i].value);
    }
    WordSteps steps(chain.inputs.size());
    std::vector<Word> words;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!is_read(i)) {
            words.push_back(constant_word(steps, *operands[i].word));
            continue;
        }
        const auto place = std::ranges::find(chain.inputs, operands[i].value) - chain.inputs.begin();
        words.emplace_back(steps, static_cast<std::uint8_t>(place));
    }
    const Word result = formula(words);
    if (result.number() < chain.inputs.size()) {
        chain.result = result.number();
        return chain;
    }
    for (const WordStep& step : steps.up_to(result.number())) chain.steps.push_back(to_text(step));
    return chain;
}

}  // namespace systole::ir
