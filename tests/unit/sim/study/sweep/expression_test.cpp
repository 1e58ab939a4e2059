#include "sim/study/sweep/expression.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

using namespace systole;
using sweep::Expression;
using sweep::ExpressionError;

namespace {

double value(const std::string& text, const std::vector<double>& values = {}) {
    return Expression(text).value(values);
}

TEST_CASE("A formula has dotted names, sorted, and one value") {
    const Expression formula("25165824 / machine.matrix_unit.rows + batch * batch");
    CHECK(formula.names() == std::vector<std::string>{"batch", "machine.matrix_unit.rows"});
    CHECK(formula.value(std::vector<double>{3.0, 256.0}) == 98313.0);
    CHECK(formula.value(std::vector<double>{2.0, 512.0}) == 49156.0);
    CHECK(value("1e3 * floor(7 / 2) - ceil(0.5) + round(2.6)") == 3002.0);
    CHECK(value("mod(7, 4) == 3 && !(2 > 3) ? 5 : 6") == 5.0);
    CHECK(value("a != b", {1.0, 2.0}) == 1.0);
    CHECK(value("log2(8)") == 3.0);
}

TEST_CASE("A broken formula is refused with its rule") {
    const auto refused = [](const std::string& text, const std::string& rule) {
        CAPTURE(text);
        CHECK_THROWS_WITH(value(text, {1.0, 1.0}), Catch::Contains(rule));
    };
    refused("(a", "missing parenthesis");
    refused("", "empty");
    refused("a b", "unexpected");
    refused("foo(3)", "parenthesis");
    refused("1, 2", "one formula");
    refused("a = 3", "\"==\" compares");
    refused("1 / 0", "no value");
    refused("sqrt(0 - a)", "no value");
    // Comparisons and logic give finite numbers of what has no value.
    refused("1 / 0 > 2", "no value");
    refused("1 / 0", "no value");
    refused("a / (a - b) >= 3", "no value");
    refused("(a - b) / (a - b) != 0", "no value");
    refused("!(a / (a - b))", "no value");
    refused("a / (a - b) && 1", "no value");
    refused("a / (a - b) ? 5 : 6", "no value");
    refused("1 / (a / (a - b)) == 0", "no value");
    refused("min(a / (a - b), 2)", "no value");
    refused("mod(7, a - b) < 3", "no value");
    refused("log2(a - b) < 3", "no value");
    refused("exp(1000 * a) > 1", "no value");
    CHECK(value("a > b ? a / (a - b) : 7", {1.0, 1.0}) == 7.0);
    CHECK(value("a / 3 > 0.25", {1.0}) == 1.0);
    refused("a;b", "unexpected");
    CHECK_NOTHROW(value("a == 3", {1.0}));
    CHECK_NOTHROW(value("a <= 3", {1.0}));
}

TEST_CASE("A part without a value makes no number, whatever is around it") {
    // Each has no value for a = 0, and one for a = 1.
    const std::vector<std::string> parts{"1 / a",    "log2(a)",         "ln(a)",      "log10(a)",
                                         "log(a)",   "sqrt(a-1)",       "a^(0-1)",    "mod(3, a)",
                                         "acosh(a)", "1e300 * (1 / a)", "(a - 1) / a"};
    const std::vector<std::string> around{
        "@ > 5",    "@ < 5",       "5 >= @",       "@ == @",       "@ != @",      "!(@)",     "(@) && a",
        "a || (@)", "(@) ? 1 : 2", "min(@, 1)",    "max(3, 0-@)",  "1 / (@ + 9)", "-(@) < 3", "floor(@) > 1",
        "0 * @",    "@ > 0 && a",  "sign(@) == 1", "tanh(@) == 1", "abs(@) > 1",  "2^(0-@)"};
    for (const std::string& part : parts) {
        for (const std::string& pattern : around) {
            std::string text = pattern;
            for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) {
                text.replace(at, 1, "(" + part + ")");
            }
            CAPTURE(text);
            CHECK_THROWS_WITH(value(text, {0.0}), Catch::Contains("no value"));
            CHECK_NOTHROW(value(text, {1.0}));
        }
    }
    // Only the chosen branch is computed, so that a formula can guard itself.
    CHECK(value("a > 0 ? 6 / a : 0", {0.0}) == 0.0);
    CHECK(value("a > 0 ? 6 / a : 0", {2.0}) == 3.0);
    CHECK(value("1 / (a - 1) > 0", {3.0}) == 1.0);  // none for 1, the value of names while a text is read
}

TEST_CASE("Operators bind as in C, powers from the right") {
    CHECK(value("2 + 3 * 4 - 6 / 2") == 11.0);
    CHECK(value("2^3^2") == 512.0);
    CHECK(value("0-2^2") == -4.0);
    CHECK(value("8 / 4 / 2") == 1.0);
    CHECK(value("8 - 4 - 2") == 2.0);
    CHECK(value("1 + 1 == 2 && 3 > 2 || 0") == 1.0);
    CHECK(value("1 || 0 && 0") == 1.0);
    CHECK(value("1 < 2 == 1") == 1.0);
    CHECK(value("2 <= 2 && 2 >= 2 && 2 != 3") == 1.0);
    CHECK(value("a<-1", {-2.0}) == 1.0);
    CHECK(value("(1 ? 2 : 3) * 2") == 4.0);
}

}  // namespace
