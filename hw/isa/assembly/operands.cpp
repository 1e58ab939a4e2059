#include "hw/isa/assembly/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "hw/isa/fields.h"

namespace systole::isa {
namespace {

std::optional<std::uint64_t> unsigned_number(std::string_view text) {
    const bool is_hexadecimal = text.starts_with("0x");
    if (is_hexadecimal) text.remove_prefix(2);
    const char* const end = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [stopped, error] = std::from_chars(text.data(), end, value, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return value;
}

std::string listed(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) {
        if (!text.empty()) text += ", ";
        text += word;
    }
    return text;
}

}  // namespace

Operands::Operands(const Statement& statement, std::string_view file)
    : statement_(statement), file_(file), taken_(statement.tokens.size()) {
    taken_.front() = true;
}

const Token* Operands::word_if_any(std::string_view what) {
    if (asked_.empty() || asked_.back() != what) asked_.push_back(what);
    for (; next_word_ < taken_.size(); ++next_word_) {
        if (!taken_[next_word_] && statement_.tokens[next_word_].key.empty()) {
            taken_[next_word_] = true;
            return &statement_.tokens[next_word_];
        }
    }
    return nullptr;
}

const Token& Operands::word(std::string_view what) {
    const Token* const found = word_if_any(what);
    if (found == nullptr) fail(fmt::format("{} is missing", what));
    return *found;
}

const Token* Operands::keyed(std::string_view key) {
    asked_.push_back(key);
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i] && statement_.tokens[i].key == key) {
            taken_[i] = true;
            return &statement_.tokens[i];
        }
    }
    return nullptr;
}

bool Operands::flag(std::string_view word) {
    asked_.push_back(word);
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i] && !statement_.tokens[i].is_quoted && statement_.tokens[i].text == word) {
            taken_[i] = true;
            return true;
        }
    }
    return false;
}

std::size_t Operands::choice(std::string_view what, std::span<const std::string_view> words) {
    const Token& token = word(what);
    const auto found = std::find(words.begin(), words.end(), token.text);
    if (found == words.end()) fail(token, fmt::format("{} must be one of {}", what, listed(words)));
    return static_cast<std::size_t>(found - words.begin());
}

std::uint64_t Operands::number(const Token& token, std::uint64_t minimum, std::uint64_t maximum) const {
    const auto value = token.is_quoted ? std::nullopt : unsigned_number(token.value);
    if (!value || *value < minimum || *value > maximum) {
        fail(token, fmt::format("must be a whole number from {} to {}", minimum, maximum));
    }
    return *value;
}

std::uint64_t Operands::number(std::string_view what, std::uint64_t minimum, std::uint64_t maximum) {
    return number(word(what), minimum, maximum);
}

std::uint64_t Operands::keyed_number(std::string_view key, std::uint64_t absent, std::uint64_t minimum,
                                     std::uint64_t maximum) {
    const Token* const token = keyed(key);
    return token == nullptr ? absent : number(*token, minimum, maximum);
}

std::uint64_t Operands::bits(const Token& token, std::string_view text, unsigned bytes) const {
    const std::uint64_t largest = largest_of(static_cast<std::uint8_t>(bytes));
    const std::uint64_t most_negative = largest / 2 + 1;
    const bool is_negative = text.starts_with('-');
    const auto size = token.is_quoted ? std::nullopt : unsigned_number(text.substr(is_negative ? 1 : 0));
    if (!size || *size > (is_negative ? most_negative : largest)) {
        fail(token, fmt::format("{} must be a whole number from -{} to {}", text.substr(0, 40), most_negative,
                                largest));
    }
    return (is_negative ? 0 - *size : *size) & largest;
}

void Operands::finish() const {
    const auto left = std::find(taken_.begin(), taken_.end(), false);
    if (left == taken_.end()) return;
    const Token& token = statement_.tokens[static_cast<std::size_t>(left - taken_.begin())];
    if (asked_.empty()) fail(token, fmt::format("{} takes no operands", name()));
    fail(token, fmt::format("not an operand of {}, or one too many; it takes {}", name(), listed(asked_)));
}

void Operands::fail(const Token& token, std::string_view rule) const {
    fail_at(place_of(token), rule);
}

void Operands::fail(std::string_view rule) const {
    fail(statement_.tokens.front(), rule);
}

}  // namespace systole::isa
