#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace systole::ir {

/// A parameter of a node: an integer, a real number, a text, or a list of one of these.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>>;

/// How older texts of graphs state an attribute: by another name, and an integer from 0.
struct FormerAttribute {
    std::string name;
    std::vector<Attribute> values;  ///< what each integer means now
};

/// The declaration of an attribute of an operator's nodes. Its type is the alternative of `absent`.
struct AttributeDeclaration {
    std::string name;
    std::string meaning = {};  ///< including the unit
    Attribute absent;          ///< the default value
    bool is_required = false;
    /// The least and the greatest number, or element of a list.
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    /// Number of elements of a list; nullopt: any number.
    std::optional<std::size_t> size = {};
    /// What a text may be; none: anything.
    std::vector<std::string> choices = {};
    /// Texts of graphs are read with it too, and written without it.
    std::optional<FormerAttribute> former = {};
};

using NamedAttribute = std::pair<std::string, Attribute>;

/// "[1, 2]", "0.25", "\"same\"". Reals have as many digits as needed to read back equal, and always a point,
/// an exponent or a name.
std::string to_text(const Attribute& attribute);

/// A real number as text that reads back equal: "0.25", "1e-30", "inf", "2.0".
std::string real_text(double value);
std::string real_text(float value);

/// A name in quotes that reads back equal: quotes, backslashes and control characters are escaped.
std::string escaped(std::string_view text);

/// The rule that a value of the attribute breaks, such as "it must be at least 1", or nullopt.
std::optional<std::string> broken_rule(const AttributeDeclaration& declaration, const Attribute& value);

}  // namespace systole::ir
