#include "compiler/ir/encoding.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

using namespace systole;
using ir::Encoding;
using ir::encoding_of;
using ir::Range;

TEST_CASE("Bytes cover the range and zero is exact", "[compiler][ir]") {
    const Range range = GENERATE(
        values<Range>({{0.0F, 6.0F}, {-1.0F, 1.0F}, {-3.0F, 0.0F}, {-0.001F, 5.0F}, {-1e20F, 3.0F}}));
    INFO(range.minimum << " to " << range.maximum);
    const Encoding encoding = encoding_of(range);
    CHECK(encoding.real(encoding.zero_point) == 0.0);
    CHECK(encoding.stored(0.0) == encoding.zero_point);
    CHECK(encoding.real(0) <= range.minimum + encoding.scale / 2);
    CHECK(encoding.real(255) >= range.maximum - encoding.scale / 2);
    CHECK(encoding.real(255) - encoding.real(0) == Approx(double{range.maximum} - range.minimum));
}

TEST_CASE("A range without negative numbers has zero point 0", "[compiler][ir]") {
    CHECK(encoding_of(Range{0.0F, 3.0F}).zero_point == 0);
    CHECK(encoding_of(Range{-3.0F, 0.0F}).zero_point == 255);
}

TEST_CASE("A tensor that is always zero has a usable encoding", "[compiler][ir]") {
    const Encoding encoding = encoding_of(Range{});
    CHECK(encoding.scale > 0.0);
    CHECK(encoding.stored(0.0) == 0);
}

TEST_CASE("Numbers beyond the range take the nearest byte", "[compiler][ir]") {
    const Encoding encoding{0.5, 10};
    CHECK(encoding.stored(-5.0) == 0);
    CHECK(encoding.stored(-5.3) == 0);
    CHECK(encoding.stored(122.5) == 255);
    CHECK(encoding.stored(1e300) == 255);
    CHECK(encoding.stored(0.2) == 10);
    CHECK(encoding.stored(0.3) == 11);
}

TEST_CASE("The range of two tensors keeps what is no number", "[compiler][ir]") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(ir::union_of({-1.0F, 2.0F}, {-3.0F, 1.0F}) == ir::Range{-3.0F, 2.0F});
    for (const auto& [a, b] : {std::pair{ir::Range{nan, 2.0F}, ir::Range{-1.0F, 3.0F}},
                               std::pair{ir::Range{-1.0F, 3.0F}, ir::Range{nan, 2.0F}}}) {
        CHECK(std::isnan(ir::union_of(a, b).minimum));
        CHECK(ir::union_of(a, b).maximum == 3.0F);
    }
}
