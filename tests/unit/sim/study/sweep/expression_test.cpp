#include "sim/study/sweep/expression.h"

#include <catch2/catch.hpp>
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

}  // namespace
