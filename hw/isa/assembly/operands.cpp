#include "hw/isa/assembly/operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/isa/fields.h"

namespace systole::isa {
namespace {

std::string listed(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) {
        if (!text.empty()) text += ", ";
        text += word;
    }
    return text;
}

}  // namespace

Operands::Operands(const Statement& statement, std::string_view file, const Constants& constants)
    : statement_(statement), file_(file), constants_(constants), taken_(statement.tokens.size()) {
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

std::optional<WholeNumber> Operands::find_number(const Token& token, std::string_view text) const {
    if (token.is_quoted) return std::nullopt;
    const auto found = constants_.number(text);
    if (!found && is_name(text.substr(0, text.find('+'))) &&
        !constants_.has(text.substr(0, text.find('+')))) {
        fail(token, fmt::format("there is no constant {}; a number must stand here",
                                text.substr(0, text.find('+'))));
    }
    return found;
}

std::uint64_t Operands::number(const Token& token, std::uint64_t minimum, std::uint64_t maximum) const {
    const auto value = find_number(token, token.value);
    if (!value || value->is_negative || value->magnitude < minimum || value->magnitude > maximum) {
        fail(token, fmt::format("must be a whole number from {} to {}", minimum, maximum));
    }
    return value->magnitude;
}

std::uint64_t Operands::number(std::string_view what, std::uint64_t minimum, std::uint64_t maximum) {
    return number(word(what), minimum, maximum);
}

std::uint64_t Operands::keyed_number(std::string_view key, std::uint64_t absent, std::uint64_t minimum,
                                     std::uint64_t maximum) {
    const Token* const token = keyed(key);
    return token == nullptr ? absent : number(*token, minimum, maximum);
}

std::uint64_t Operands::bounded(const Token& token, std::string_view text, std::uint64_t most_negative,
                                std::uint64_t largest, std::string_view hint) const {
    const auto value = find_number(token, text);
    if (!value || value->magnitude > (value->is_negative ? most_negative : largest)) {
        constexpr std::size_t longest = 40;
        fail(token, fmt::format("{} must be a whole number from {}{} to {}{}", text.substr(0, longest),
                                most_negative == 0 ? "" : "-", most_negative, largest, hint));
    }
    return value->is_negative ? 0 - value->magnitude : value->magnitude;
}

std::uint64_t Operands::bits(const Token& token, std::string_view text, unsigned bytes) const {
    const std::uint64_t largest = largest_of(static_cast<std::uint8_t>(bytes));
    return bounded(token, text, largest / 2 + 1, largest, {}) & largest;
}

std::uint64_t Operands::integer(const Token& token, std::string_view text, unsigned bytes, bool is_signed,
                                std::string_view hint) const {
    const std::uint64_t mask = largest_of(static_cast<std::uint8_t>(bytes));
    return bounded(token, text, is_signed ? mask / 2 + 1 : 0, is_signed ? mask / 2 : mask, hint) & mask;
}

WholeNumber Operands::whole_number(std::string_view what) {
    const Token& token = word(what);
    const auto value = find_number(token, token.value);
    if (!value) fail(token, "must be a whole number");
    return *value;
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
