#include "base/rounding.h"

#include <catch2/catch.hpp>

using namespace systole;

TEST_CASE("Each rounding is found by its name", "[hw][base][rounding]") {
    CHECK(find_rounding("tflite") == Rounding::Tflite);
    CHECK(find_rounding("half_to_even") == Rounding::HalfToEven);
    CHECK(find_rounding("float_half_even") == Rounding::FloatHalfEven);
    for (const auto name : rounding_names) CHECK(name_of(find_rounding(name).value()) == name);
    CHECK_FALSE(find_rounding("single_rounding").has_value());
    CHECK_FALSE(find_rounding("").has_value());
}
