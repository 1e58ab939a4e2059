#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/isa/assembly/lexer.h"

namespace systole::isa {

/// The operands of a statement. The parser of the statement takes them one by one; `finish` reports operands
/// that were not taken. Errors are ProgramErrors with file, line and column.
class Operands {
public:
    /// Both must outlive the operands. The statement's first word is its name.
    Operands(const Statement& statement, std::string_view file);

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

    /// Numbers are decimal, or hexadecimal after 0x.
    std::uint64_t number(const Token& token, std::uint64_t minimum, std::uint64_t maximum) const;
    std::uint64_t number(std::string_view what, std::uint64_t minimum, std::uint64_t maximum);
    std::uint64_t keyed_number(std::string_view key, std::uint64_t absent, std::uint64_t minimum,
                               std::uint64_t maximum);
    /// The lowest `bytes` bytes of a number, which may be negative: from the smallest signed to the largest
    /// unsigned number of that size.
    std::uint64_t bits(const Token& token, std::string_view text, unsigned bytes) const;

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

    const Statement& statement_;
    std::string_view file_;
    std::vector<bool> taken_;
    std::size_t next_word_ = 1;            ///< words without a key before it are taken
    std::vector<std::string_view> asked_;  ///< operands that the statement takes, for the message of finish()
};

}  // namespace systole::isa
