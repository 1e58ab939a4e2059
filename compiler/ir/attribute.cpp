#include "compiler/ir/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/message_text.h"

namespace systole::ir {
namespace {

struct WriteAttribute {
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return real_text(value); }
    std::string operator()(const std::string& value) const { return escaped(value); }
    template <typename Element>
    std::string operator()(const std::vector<Element>& list) const {
        std::string text;
        for (const Element& element : list) text += (text.empty() ? "" : ", ") + (*this)(element);
        return "[" + text + "]";
    }
};

/// Finds the rule that a value breaks, by its alternative.
struct FindBrokenRule {
    const AttributeDeclaration& declaration;

    template <typename Number>
    std::optional<std::string> number(Number value) const {
        const auto real = static_cast<double>(value);
        if (real < declaration.minimum) {
            return fmt::format("it must be at least {}", declaration.minimum);
        }
        if (real > declaration.maximum) return fmt::format("it must be at most {}", declaration.maximum);
        if (std::isnan(real)) return "it must be a number";
        return std::nullopt;
    }
    std::optional<std::string> operator()(std::int64_t value) const { return number(value); }
    std::optional<std::string> operator()(double value) const { return number(value); }
    std::optional<std::string> operator()(const std::string& value) const {
        const std::vector<std::string>& choices = declaration.choices;
        if (choices.empty() || std::ranges::find(choices, value) != choices.end()) return std::nullopt;
        return fmt::format("it must be one of {}", joined(choices));
    }
    template <typename Element>
    std::optional<std::string> operator()(const std::vector<Element>& list) const {
        if (declaration.size && list.size() != *declaration.size) {
            return fmt::format("it must have {} elements", *declaration.size);
        }
        for (const Element& element : list) {
            if (auto rule = (*this)(element)) return rule;
        }
        return std::nullopt;
    }
};

template <typename Real>
std::string shortest_text(Real value) {
    std::string text = fmt::format("{}", value);
    const bool is_integer = text.find_first_not_of("-0123456789") == std::string::npos;
    return is_integer ? text + ".0" : text;
}

}  // namespace

std::string real_text(double value) {
    return shortest_text(value);
}

std::string real_text(float value) {
    return shortest_text(value);
}

std::string escaped(std::string_view text) {
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char del = 0x7f;
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < first_printable || byte == del) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
    }
    return result + '"';
}

std::string to_text(const Attribute& attribute) {
    return std::visit(WriteAttribute{}, attribute);
}

std::optional<std::string> broken_rule(const AttributeDeclaration& declaration, const Attribute& value) {
    if (value.index() != declaration.absent.index()) return "it has another type";
    return std::visit(FindBrokenRule{declaration}, value);
}

}  // namespace systole::ir
