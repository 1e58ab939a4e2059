#include "sim/study/validate/figures.h"

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

namespace systole::validate {
namespace {

Figure figure(double published, std::optional<double> ours) {
    return {.place = "Table 0", .what = "MLP0", .published = published, .ours = ours, .digits = 1};
}

TEST_CASE("The error of a figure is ours over published, less one", "[sim][validate]") {
    CHECK(figure(4.0, 5.0).error() == 0.25);
    CHECK(figure(4.0, 3.0).error() == -0.25);
    CHECK_FALSE(figure(4.0, {}).error().has_value());
    // A published 0.0 is met by what is shown as 0.0, and by nothing else.
    CHECK(figure(0.0, 0.04).error() == 0.0);
    CHECK_FALSE(figure(0.0, 0.06).error().has_value());
}

TEST_CASE("Figures are counted by how close they are, and one without a value is the worst",
          "[sim][validate]") {
    const std::vector<Figure> all{figure(100.0, 104.0), figure(100.0, 91.0), figure(100.0, 119.0),
                                  figure(100.0, 121.0), figure(100.0, {})};
    std::vector<const Figure*> some;
    for (const Figure& each : all) some.push_back(&each);
    const Closeness close = closeness(some);
    CHECK(close.figures == 5);
    CHECK(close.within == std::array<std::size_t, 3>{1, 2, 3});
    CHECK(close.median == Approx(0.19));
    CHECK(close.worst == &all[4]);
    CHECK(closeness({some[0], some[1]}).median == Approx(0.065));
}

TEST_CASE("A roofline's figures are counted like ours", "[sim][validate]") {
    Figure both = figure(100.0, 104.0);
    both.roofline = 92.0;
    CHECK(both.roofline_error() == Approx(-0.08));
    const Figure ours_alone = figure(100.0, 100.0);
    const Closeness close = closeness({&both, &ours_alone}, &Figure::roofline_error);
    CHECK(close.within == std::array<std::size_t, 3>{0, 1, 1});
    CHECK(close.worst == &ours_alone);
}

}  // namespace
}  // namespace systole::validate
