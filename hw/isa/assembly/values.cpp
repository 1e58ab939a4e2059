#include "hw/isa/assembly/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace systole::isa {
namespace {

void append_element(std::vector<std::uint8_t>& bytes, std::uint64_t bits, unsigned element_bytes) {
    for (unsigned i = 0; i < element_bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
}

/// The splitmix64 generator.
std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

std::vector<std::uint8_t> random_values(std::uint64_t seed, std::uint64_t count) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(count + sizeof seed);
    while (bytes.size() < count) append_element(bytes, next_random(seed), sizeof seed);
    bytes.resize(count);
    return bytes;
}

std::vector<std::uint8_t> filled_values(std::uint64_t bits, unsigned element_bytes, std::uint64_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::uint8_t>(bits >> (8 * (i % element_bytes)));
    }
    return bytes;
}

void take_budget(const Operands& operands, const Token& token, std::uint64_t bytes,
                 GenerationBudget& budget) {
    if (budget.take(bytes)) return;
    operands.fail(
        token, fmt::format("a text generates at most {} bytes of values", GenerationBudget::bytes_of_text));
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void append_hex(const Operands& operands, const Token& token, std::vector<std::uint8_t>& bytes) {
    if (token.is_quoted || token.value.size() % 2 != 0) {
        operands.fail(token, "must be pairs of hexadecimal digits");
    }
    for (std::size_t i = 0; i < token.value.size(); i += 2) {
        const int high = hex_digit(token.value[i]);
        const int low = hex_digit(token.value[i + 1]);
        if (high < 0 || low < 0) operands.fail(token, "must be pairs of hexadecimal digits");
        bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
}

struct IntegerStatement {
    std::string_view name;
    unsigned element_bytes = 1;
    bool is_signed = true;
};
constexpr std::array<IntegerStatement, 6> integer_statements = {{{".int8", 1, true},
                                                                 {".uint8", 1, false},
                                                                 {".int16", 2, true},
                                                                 {".uint16", 2, false},
                                                                 {".int32", 4, true},
                                                                 {".uint32", 4, false}}};

std::uint64_t integer_of(const Operands& operands, const Token& token, const std::string& value,
                         const IntegerStatement& statement, const ElementRules& element) {
    if (!statement.is_signed) return operands.integer(token, value, statement.element_bytes, false);
    if (!element.is_signed) return operands.bits(token, value, statement.element_bytes);
    return operands.integer(
        token, value, statement.element_bytes, true,
        fmt::format("; .u{} takes larger ones, as the same bits", statement.name.substr(1)));
}

/// `VALUE` or `COUNT*VALUE`.
void append_integers(const Operands& operands, const Token& token, const IntegerStatement& statement,
                     const ElementRules& element, std::vector<std::uint8_t>& bytes,
                     GenerationBudget& budget) {
    const std::size_t star = token.value.find('*');
    std::uint64_t count = 1;
    if (star != std::string::npos) {
        Token times = token;
        times.value = token.value.substr(0, star);
        count = operands.number(times, 1, GenerationBudget::bytes_of_text);
    }
    const std::string value = star == std::string::npos ? token.value : token.value.substr(star + 1);
    const std::uint64_t bits = integer_of(operands, token, value, statement, element);
    take_budget(operands, token, count * statement.element_bytes, budget);
    for (std::uint64_t i = 0; i < count; ++i) append_element(bytes, bits, statement.element_bytes);
}

bool all_elements_equal(const std::vector<std::uint8_t>& bytes, unsigned element_bytes) {
    return std::equal(bytes.begin() + element_bytes, bytes.end(), bytes.begin());
}

std::string hex_lines(const std::vector<std::uint8_t>& bytes) {
    constexpr std::size_t bytes_of_line = 32;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size() + bytes.size() / bytes_of_line * 10 + 16);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i % bytes_of_line == 0) text += "\n  .data ";
        text += digits[bytes[i] >> 4];
        text += digits[bytes[i] & 15];
    }
    return text + '\n';
}

}  // namespace

bool GenerationBudget::take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
}

std::vector<std::uint8_t> generated_values(Operands& operands, std::uint64_t bytes,
                                           const ElementRules& element, GenerationBudget& budget) {
    const Token* const generator = operands.word_if_any("fill VALUE or random SEED");
    if (generator == nullptr) return {};
    if (generator->text != "fill" && generator->text != "random") {
        operands.fail(*generator, "must be fill or random");
    }
    take_budget(operands, *generator, bytes, budget);
    if (generator->text == "random") return random_values(operands.number("seed", 0, UINT64_MAX), bytes);
    const Token& value = operands.word("value");
    const std::uint64_t bits = element.is_signed ? operands.integer(value, value.value, element.bytes, true)
                                                 : operands.bits(value, value.value, element.bytes);
    return filled_values(bits, element.bytes, bytes);
}

bool append_values(Operands& operands, std::vector<std::uint8_t>& bytes, const ElementRules& element,
                   GenerationBudget& budget) {
    constexpr std::string_view what = "values";
    if (operands.name() == ".data") {
        for (const Token* token = &operands.word(what); token != nullptr;
             token = operands.word_if_any(what)) {
            append_hex(operands, *token, bytes);
        }
        return true;
    }
    for (const IntegerStatement& statement : integer_statements) {
        if (operands.name() != statement.name) continue;
        for (const Token* token = &operands.word(what); token != nullptr;
             token = operands.word_if_any(what)) {
            append_integers(operands, *token, statement, element, bytes, budget);
        }
        return true;
    }
    return false;
}

std::string values_text(const std::vector<std::uint8_t>& bytes, unsigned element_bytes,
                        GenerationBudget& budget) {
    if (!all_elements_equal(bytes, element_bytes) || !budget.take(bytes.size())) return hex_lines(bytes);
    std::int32_t value = static_cast<std::int8_t>(bytes.at(element_bytes - 1));
    for (unsigned i = element_bytes - 1; i > 0; --i) value = value * 256 + bytes.at(i - 1);
    return fmt::format(" fill {}\n", value);
}

}  // namespace systole::isa
