#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/word_operation.h"

namespace systole::ir {

/// A step of a `word_chain`: an operation on values before it. The inputs are values 0, 1, ..., then come the
/// steps' results in order.
struct WordStep {
    WordOperation operation = WordOperation::Constant;
    std::vector<std::uint8_t> operands = {};  ///< as many as the operation has
    std::uint32_t constant = 0;               ///< of WordOperation::Constant

    bool operator==(const WordStep&) const = default;
};

/// The most values of a chain, inputs included.
inline constexpr std::size_t most_word_values = 255;

/// "multiply 0 3", "constant 0x3f800000".
std::string to_text(const WordStep& step);
/// The step that a text states. Throws ModelError with the text and the rule that it breaks.
WordStep word_step_of(std::string_view text);

}  // namespace systole::ir
