#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/user_error.h"

namespace systole::sweep {

/// An expression breaks a rule. The message is the rule alone: its caller knows the file and the key.
class ExpressionError : public UserError {
public:
    using UserError::UserError;
};

/// A function of two numbers that formulas may call besides muParser's own.
struct BinaryFunction {
    const char* name;
    double (*of)(double, double);  ///< NaN: there is no value
};

/// A formula of numbers in muParser's language: + - * / ^, comparisons, && || !, a ? b : c, and functions
/// (min, max, sqrt, log2, floor, ...). Names may have dots: "machine.matrix_unit.rows".
class Expression {
public:
    /// Throws ExpressionError where the text is no formula.
    explicit Expression(std::string text, std::span<const BinaryFunction> more = {});
    ~Expression();
    Expression(Expression&&) noexcept;
    Expression& operator=(Expression&&) noexcept;
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;

    const std::string& text() const;
    /// The names in it, each once, sorted.
    const std::vector<std::string>& names() const;
    /// The value with these values of the names, in their order. Throws ExpressionError where the formula, or
    /// a part of it that is computed, has no value, as 1 / 0 > 2. Both sides of && and || are computed; of
    /// a ? b : c, only the side that is chosen.
    double value(std::span<const double> values) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace systole::sweep
