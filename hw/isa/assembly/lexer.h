#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace systole::isa {

/// A word of assembly: `value`, `key=value`, `"value"` or `key="value"`.
struct Token {
    std::size_t column = 0;  ///< bytes, from 1
    std::string_view text;   ///< as written
    std::string_view key;    ///< empty without one
    std::string value;       ///< without quotes and escapes
    bool is_quoted = false;
};

/// The words up to the end of a line or `;`; at least one.
struct Statement {
    std::size_t line = 0;  ///< from 1
    std::vector<Token> tokens;
};

/// The place of a word, for messages.
struct Place {
    std::string_view file;
    std::size_t line = 0;
    std::size_t column = 0;
    std::string_view text;
};

/// Throws ProgramError "file:line:column: text: rule".
[[noreturn]] void fail_at(const Place& place, std::string_view rule);

/// Splits assembly into statements.
class Lexer {
public:
    /// Both must outlive the lexer; tokens point into the text.
    Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    /// The next statement, or nullopt at the end. Throws ProgramError if a word is malformed.
    std::optional<Statement> next();

private:
    bool at_end() const { return position_ >= text_.size(); }
    bool at_break() const;
    Token token();
    void bare_value(Token& token);
    void quoted_value(Token& token);
    char escape(const Token& token);
    [[noreturn]] void fail(const Token& token, std::string_view rule) const;

    std::string_view text_;
    std::string_view file_;
    std::size_t position_ = 0;
    std::size_t line_ = 1;
    std::size_t line_begin_ = 0;
};

/// Whether assembly accepts the text without quotes: a letter or `_`, then letters, digits and `_ . : / -`.
bool is_name(std::string_view text);

/// The text in double quotes on one line; control characters, quotes and backslashes are escaped.
std::string quoted(std::string_view text);

/// The text in assembly: without quotes if `is_name`, else quoted.
std::string as_word(std::string_view text);

}  // namespace systole::isa
