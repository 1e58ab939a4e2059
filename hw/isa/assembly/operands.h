#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/isa/assembly/constants.h"
#include "hw/isa/assembly/lexer.h"

namespace systole::isa {

/// The operands of a statement. The parser of the statement takes them one by one; `finish` reports operands
/// that were not taken. Errors are ProgramErrors with file, line and column.
class Operands {
public:
    /// All must outlive the operands. The statement's first word is its name.
    Operands(const Statement& statement, std::string_view file, const Constants& constants);

    std::string_view name() const { return statement_.tokens.front().text; }

    /// The next word without a key. If there is none, `word` throws and `word_if_any` returns nullptr.
    const Token& word(std::string_view what);
    const Token* word_if_any(std::string_view what);

    /// The `key=value` with this key, or nullptr.
    const Token* keyed(std::string_view key);

    /// Whether the word is among the operands.
    bool flag(std::string_view word);

    /// The index of the next word, which must be one of `words`.
    std::size_t choice(std::string_view what, std::span<const std::string_view> words);

    /// Numbers are decimal, hexadecimal after 0x, or constants (see Constants).
    std::uint64_t number(const Token& token, std::uint64_t minimum, std::uint64_t maximum) const;
    std::uint64_t number(std::string_view what, std::uint64_t minimum, std::uint64_t maximum);
    std::uint64_t keyed_number(std::string_view key, std::uint64_t absent, std::uint64_t minimum,
                               std::uint64_t maximum);
    /// The lowest `bytes` bytes of a number, which may be negative: from the smallest signed to the largest
    /// unsigned number of that size.
    std::uint64_t bits(const Token& token, std::string_view text, unsigned bytes) const;
    /// Whether the word is a number.
    bool is_number(const Token& token) const {
        return !token.is_quoted && constants_.number(token.value).has_value();
    }
    /// Any number, negative ones included.
    WholeNumber whole_number(std::string_view what);
    /// The bytes of an integer of `bytes` bytes, which must be one of that type. `hint` ends the message of
    /// another number.
    std::uint64_t integer(const Token& token, std::string_view text, unsigned bytes, bool is_signed,
                          std::string_view hint = {}) const;

    /// Throws if an operand was not taken.
    void finish() const;

    /// The place of the statement's name.
    Place place() const { return place_of(statement_.tokens.front()); }

    /// Throws an error at the word, or at the statement's name.
    [[noreturn]] void fail(const Token& token, std::string_view rule) const;
    [[noreturn]] void fail(std::string_view rule) const;

private:
    Place place_of(const Token& token) const {
        return {.file = file_, .line = statement_.line, .column = token.column, .text = token.text};
    }

    /// The number of a text between two bounds, the lower of them -`most_negative`.
    std::uint64_t bounded(const Token& token, std::string_view text, std::uint64_t most_negative,
                          std::uint64_t largest, std::string_view hint) const;
    std::optional<WholeNumber> find_number(const Token& token, std::string_view text) const;

    const Statement& statement_;
    std::string_view file_;
    const Constants& constants_;
    std::vector<bool> taken_;
    std::size_t next_word_ = 1;            ///< words without a key before it are taken
    std::vector<std::string_view> asked_;  ///< operands that the statement takes, for the message of finish()
};

}  // namespace systole::isa
