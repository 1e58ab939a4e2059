#include "hw/isa/assembly/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hw/isa/program_error.h"

namespace systole::isa {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f;
}

/// A token in a message; a token may be very long, so only its beginning is shown.
std::string shown(std::string_view text) {
    constexpr std::size_t longest = 40;
    const std::string_view begin = text.substr(0, longest);
    for (const char c : begin) {
        if (c != ' ' && !is_plain(c)) return isa::quoted(begin);
    }
    return text.size() > longest ? std::string(begin) + "..." : std::string(begin);
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

void fail_at(const Place& place, std::string_view rule) {
    throw ProgramError(
        fmt::format("{}:{}:{}: {}: {}", place.file, place.line, place.column, shown(place.text), rule));
}

std::optional<Statement> Lexer::next() {
    Statement statement;
    while (!at_end()) {
        const char c = text_[position_];
        if (is_space(c)) {
            ++position_;
        } else if (c == '#') {
            while (!at_end() && text_[position_] != '\n') ++position_;
        } else if (c == '\n' || c == ';') {
            const bool complete = !statement.tokens.empty();
            if (complete) statement.line = line_;
            ++position_;
            if (c == '\n') {
                ++line_;
                line_begin_ = position_;
            }
            if (complete) return statement;
        } else {
            statement.tokens.push_back(token());
        }
    }
    if (statement.tokens.empty()) return std::nullopt;
    statement.line = line_;
    return statement;
}

bool Lexer::at_break() const {
    if (at_end()) return true;
    const char c = text_[position_];
    return is_space(c) || c == '\n' || c == ';' || c == '#';
}

Token Lexer::token() {
    const std::size_t begin = position_;
    Token token;
    token.column = begin - line_begin_ + 1;
    while (!at_break() && text_[position_] != '=' && text_[position_] != '"') ++position_;
    if (!at_end() && text_[position_] == '=' && position_ > begin) {
        token.key = text_.substr(begin, position_ - begin);
        ++position_;
    } else {
        position_ = begin;
    }
    if (!at_end() && text_[position_] == '"') {
        quoted_value(token);
    } else {
        bare_value(token);
    }
    token.text = text_.substr(begin, position_ - begin);
    if (!at_break()) fail(token, "a blank must follow");
    for (const char c : token.is_quoted ? token.key : token.text) {
        if (!is_plain(c)) fail(token, "outside of quotes, words are of printable ASCII characters");
    }
    return token;
}

void Lexer::bare_value(Token& token) {
    const std::size_t begin = position_;
    while (!at_break() && text_[position_] != '"') ++position_;
    token.value = text_.substr(begin, position_ - begin);
}

void Lexer::quoted_value(Token& token) {
    token.is_quoted = true;
    const std::size_t begin = position_;
    for (++position_; !at_end() && text_[position_] != '\n'; ++position_) {
        const char c = text_[position_];
        if (c == '"') {
            ++position_;
            return;
        }
        token.value += c == '\\' ? escape(token) : c;
    }
    token.text = text_.substr(begin, position_ - begin);
    fail(token, "the closing quote is missing");
}

/// Reads an escape sequence from its backslash on and stops at its last character.
char Lexer::escape(const Token& token) {
    const std::string_view rest = text_.substr(position_ + 1, 3);
    if (!rest.empty() && (rest[0] == '"' || rest[0] == '\\')) {
        ++position_;
        return rest[0];
    }
    unsigned value = 0;
    if (rest.size() == 3 && rest[0] == 'x' &&
        std::from_chars(rest.data() + 1, rest.data() + 3, value, 16).ptr == rest.data() + 3) {
        position_ += 3;
        return static_cast<char>(value);
    }
    Token backslash;
    backslash.column = token.column;
    backslash.text = "\\";
    fail(backslash, "in quotes, \\\" \\\\ and \\x with two hexadecimal digits follow a backslash");
}

void Lexer::fail(const Token& token, std::string_view rule) const {
    fail_at({.file = file_, .line = line_, .column = token.column, .text = token.text}, rule);
}

bool is_name(std::string_view text) {
    constexpr std::string_view inner = ".:/-";
    return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || is_digit(c) || inner.find(c) != std::string_view::npos;
    });
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += {'\\', c};
        } else if (byte < 0x20 || byte == 0x7f) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string as_word(std::string_view text) {
    return is_name(text) ? std::string(text) : isa::quoted(text);
}

}  // namespace systole::isa
