// docs/isa.md, "tile_vector": the places of interpolated pixels.
#include "hw/isa/interpolation.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

using namespace systole::isa;

namespace {

/// l, u and r of each of so many lines, of a source of 3.
std::vector<std::vector<std::int64_t>> places(const Interpolation& rule, std::uint64_t outputs) {
    std::vector<std::vector<std::int64_t>> all;
    for (std::uint64_t output = 0; output < outputs; ++output) {
        const InterpolatedPlace place = interpolated_place(rule, 3, outputs, output);
        all.push_back({place.lower, place.upper,
                       rule.in_float ? static_cast<std::int64_t>(place.float_share * 1024) : place.share});
    }
    return all;
}

using Places = std::vector<std::vector<std::int64_t>>;

}  // namespace

TEST_CASE("Places of interpolated pixels lie between two of the source", "[isa][tiles]") {
    for (const bool in_float : {false, true}) {
        CAPTURE(in_float);
        CHECK(places({.in_float = in_float}, 6) ==
              Places{{0, 0, 0}, {0, 1, 512}, {1, 1, 0}, {1, 2, 512}, {2, 2, 0}, {2, 2, 512}});
        CHECK(places({.in_float = in_float, .half_pixel = true}, 6) ==
              Places{{0, 0, -256}, {0, 1, 256}, {0, 1, 768}, {1, 2, 256}, {1, 2, 768}, {2, 2, 256}});
        CHECK(places({.in_float = in_float, .align_corners = true}, 5) ==
              Places{{0, 0, 0}, {0, 1, 512}, {1, 1, 0}, {1, 2, 512}, {2, 2, 0}});
        // A single pixel has no last corner.
        CHECK(places({.in_float = in_float, .align_corners = true}, 1) == Places{{0, 0, 0}});
    }
}

TEST_CASE("A step that is rounded up leads to the last pixel at most", "[isa][tiles]") {
    // 1024 * 3 / 2047 is 2, rounded: the place of the last line is 3.99.
    const InterpolatedPlace place = interpolated_place({}, 3, 2047, 2046);
    CHECK(place.lower == 2);
    CHECK(place.upper == 2);
}
