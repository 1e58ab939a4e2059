#include "base/significant_digits.h"

#include <catch2/catch.hpp>
#include <limits>

using systole::significant;

TEST_CASE("A number is rounded to its first digits", "[base]") {
    struct Case {
        double value;
        int digits;
        double nearest;
        int decimals;
    };
    const Case each = GENERATE(Case{558.4, 2, 560, 0}, Case{1099, 2, 1100, 0}, Case{12345678, 2, 12000000, 0},
                               Case{12.3, 2, 12, 0}, Case{9.96, 2, 10, 0}, Case{9.94, 2, 9.9, 1},
                               Case{0.9961, 2, 1.0, 1}, Case{0.0714, 2, 0.071, 3}, Case{0.0999, 2, 0.10, 2},
                               Case{99.5, 2, 100, 0}, Case{-558.4, 2, -560, 0}, Case{1234.5, 3, 1230, 0},
                               Case{0.5, 1, 0.5, 1}, Case{0.0, 2, 0, 0});
    CAPTURE(each.value, each.digits);
    CHECK(significant(each.value, each.digits).value == each.nearest);
    CHECK(significant(each.value, each.digits).decimals == each.decimals);
}

TEST_CASE("What is no number has no digits to round", "[base]") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(significant(infinity, 2).value == infinity);
    CHECK(significant(infinity, 2).decimals == 0);
}
