#include "compiler/ir/word_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::ir {
namespace {

/// The words of a text between blanks.
std::vector<std::string_view> split_at_blanks(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t first = text.find_first_not_of(' ');
        if (first == std::string_view::npos) return words;
        text.remove_prefix(first);
        const std::size_t end = std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

template <typename Number>
std::optional<Number> number_of(std::string_view text, int base) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

[[noreturn]] void fail_at(std::string_view text, const std::string& rule) {
    throw ModelError(fmt::format("its step is {}; {}", in_quotes(std::string(text)), rule));
}

}  // namespace

std::string to_text(const WordStep& step) {
    std::string text(traits_of(step.operation).name);
    if (step.operation == WordOperation::Constant) text += fmt::format(" {:#010x}", step.constant);
    for (const std::uint8_t operand : step.operands) text += fmt::format(" {}", operand);
    return text;
}

WordStep word_step_of(std::string_view text) {
    const std::vector<std::string_view> words = split_at_blanks(text);
    const auto operation = words.empty() ? std::nullopt : find_word_operation(words.front());
    if (!operation) fail_at(text, "it must begin with an operation of a chain");
    if (*operation == WordOperation::Row || *operation == WordOperation::Column) {
        fail_at(text, "a tensor has no rows and columns");
    }
    WordStep step{.operation = *operation};
    if (*operation == WordOperation::Constant) {
        constexpr int hexadecimal = 16;
        const bool has_word = words.size() == 2 && words[1].starts_with("0x");
        const auto word = has_word ? number_of<std::uint32_t>(words[1].substr(2), hexadecimal) : std::nullopt;
        if (!word) fail_at(text, "a constant is a word of 32 bits, such as 0x3f800000");
        step.constant = *word;
        return step;
    }
    constexpr int decimal = 10;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto operand = number_of<std::uint8_t>(words[i], decimal);
        if (!operand) fail_at(text, fmt::format("operands are numbers of values, 0 to {}", most_word_values));
        step.operands.push_back(*operand);
    }
    if (step.operands.size() != traits_of(*operation).operands) {
        fail_at(text,
                fmt::format("{} has {}", words.front(), counted(traits_of(*operation).operands, "operand")));
    }
    return step;
}

}  // namespace systole::ir
