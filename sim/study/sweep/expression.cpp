#include "sim/study/sweep/expression.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>

namespace systole::sweep {

struct Expression::Parts {
    std::string text;
    mu::Parser parser;
    std::deque<double> places;  ///< the parser keeps their addresses
    std::vector<double*> by_name;
    std::vector<std::string> names;
};

namespace {

/// muParser's message as a rule: without its capital letter and its own position.
std::string rule_of(const mu::Parser::exception_type& error) {
    std::string message = error.GetMsg();
    while (!message.empty() && (message.back() == '.' || message.back() == ' ')) message.pop_back();
    if (!message.empty() && message[0] >= 'A' && message[0] <= 'Z') {
        message[0] = static_cast<char>(message[0] - 'A' + 'a');
    }
    return message;
}

double floor_of(double value) {
    return std::floor(value);
}
double ceil_of(double value) {
    return std::ceil(value);
}
double round_of(double value) {
    return std::round(value);
}
double mod_of(double value, double divisor) {
    return std::fmod(value, divisor);
}
double not_of(double value) {
    return value == 0.0 ? 1.0 : 0.0;
}

/// Whether some operation since `std::feclearexcept` had no finite result: a division by zero, a logarithm of
/// 0, a root of a negative number, a sum beyond double. Its result may be compared and so be lost.
bool lost_a_value() {
    return std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW) != 0;
}

/// Whether the text assigns: muParser's "=" would change the value of a name.
bool assigns(std::string_view text) {
    constexpr std::string_view before = "=<>!";
    for (std::size_t at = text.find('='); at != std::string_view::npos; at = text.find('=', at + 1)) {
        const bool is_compared = at > 0 && before.find(text[at - 1]) != std::string_view::npos;
        const bool is_first_of_two = at + 1 < text.size() && text[at + 1] == '=';
        if (!is_compared && !is_first_of_two) return true;
    }
    return false;
}

}  // namespace

Expression::Expression(std::string text, std::span<const BinaryFunction> more)
    : parts_(std::make_unique<Parts>()) {
    parts_->text = std::move(text);
    if (assigns(parts_->text)) {
        throw ExpressionError(fmt::format("\"{}\": \"=\" assigns; \"==\" compares", parts_->text));
    }
    mu::Parser& parser = parts_->parser;
    try {
        parser.DefineNameChars("0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        parser.DefineFun("floor", floor_of);
        parser.DefineFun("ceil", ceil_of);
        parser.DefineFun("round", round_of);
        parser.DefineFun("mod", mod_of);
        for (const BinaryFunction& function : more) parser.DefineFun(function.name, function.of);
        parser.DefineInfixOprt("!", not_of);
        // Otherwise 1 / 0 > 2 would be computed here once, and no evaluation would divide.
        parser.EnableOptimizer(false);
        parser.SetVarFactory(
            [](const char*, void* places) {
                return &static_cast<std::deque<double>*>(places)->emplace_back(1.0);
            },
            &parts_->places);
        parser.SetExpr(parts_->text);
        for (const auto& [name, place] : parser.GetUsedVar()) {  // sorted by name
            parts_->names.push_back(name);
            parts_->by_name.push_back(place);
        }
        parser.Eval();  // GetUsedVar accepts more than Eval does
        if (parser.GetNumResults() != 1) {
            throw ExpressionError(fmt::format("\"{}\": it must be one formula", parts_->text));
        }
    } catch (const mu::Parser::exception_type& error) {
        throw ExpressionError(fmt::format("\"{}\": {}", parts_->text, rule_of(error)));
    }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

const std::string& Expression::text() const {
    return parts_->text;
}

const std::vector<std::string>& Expression::names() const {
    return parts_->names;
}

double Expression::value(std::span<const double> values) const {
    for (std::size_t i = 0; i < parts_->by_name.size(); ++i) *parts_->by_name[i] = values[i];
    double value = 0.0;
    std::feclearexcept(FE_ALL_EXCEPT);
    try {
        value = parts_->parser.Eval();
    } catch (const mu::Parser::exception_type& error) {
        throw ExpressionError(fmt::format("\"{}\": {}", parts_->text, rule_of(error)));
    }
    if (!std::isfinite(value) || lost_a_value()) {
        throw ExpressionError(fmt::format("\"{}\": it has no value here; a division by zero?", parts_->text));
    }
    return value;
}

}  // namespace systole::sweep
