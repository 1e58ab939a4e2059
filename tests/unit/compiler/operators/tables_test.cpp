#include "compiler/operators/tables.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>

using namespace systole;
using ir::Encoding;

TEST_CASE("A table holds the function's value for every byte", "[compiler][operators]") {
    const Encoding from{0.05, 128};
    const Encoding to{1.0 / 128, 128};
    const ir::Constant made = operators::make_table([](float x) { return std::tanh(x); }, from, to);
    const std::span<const std::uint8_t> table = made.values<std::uint8_t>();
    REQUIRE(table.size() == 256);
    for (std::int32_t byte = 0; byte < 256; ++byte) {
        const double exact = std::tanh(from.real(byte));
        CHECK(std::abs(to.real(table[static_cast<std::size_t>(byte)]) - std::min(exact, to.real(255))) <=
              to.scale * 0.51);
    }
}
