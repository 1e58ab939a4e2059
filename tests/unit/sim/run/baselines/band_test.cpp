#include "sim/run/baselines/band.h"

#include <catch2/catch.hpp>

#include "sim/run/baselines/comparison.h"

using namespace systole;
using baselines::Band;

TEST_CASE("The band of a quotient goes from least over most to most over least", "[baselines]") {
    const Band over{.least = 0.8, .most = 1.2};
    const Band under{.least = 0.5, .most = 2.0};
    CHECK(baselines::quotient(over, under)->least == Approx(0.4));
    CHECK(baselines::quotient(over, under)->most == Approx(2.4));
    CHECK(baselines::quotient(over, {})->least == 0.8);
    CHECK(baselines::quotient(over, {})->most == 1.2);
    CHECK(baselines::quotient({}, under)->least == 0.5);
    CHECK(baselines::quotient({}, under)->most == 2.0);
    CHECK_FALSE(baselines::quotient({}, {}));
}

TEST_CASE("The host's time is added to that of the chip", "[baselines]") {
    // A chip that does 1000 inferences in a second needs 1.25 s with its host, 1.1 to 2 s.
    const auto with_host = baselines::with_host_time(1000.0, {.typical = 25.0, .least = 10.0, .most = 100.0});
    CHECK(with_host.inferences_per_second == Approx(800.0));
    CHECK(with_host.inferences_per_second * with_host.band.least == Approx(500.0));
    CHECK(with_host.inferences_per_second * with_host.band.most == Approx(1000.0 / 1.1));

    const auto none = baselines::with_host_time(1000.0, {});
    CHECK(none.inferences_per_second == 1000.0);
    CHECK(none.band.least == 1.0);
    CHECK(none.band.most == 1.0);
}

TEST_CASE("An efficiency has a band if both of its ends are known", "[baselines]") {
    CHECK_FALSE(baselines::Efficiency().band());
    baselines::Efficiency efficiency;
    efficiency.least_factor = 0.5;
    efficiency.most_factor = 1.5;
    CHECK(efficiency.band()->least == 0.5);
    CHECK(efficiency.band()->most == 1.5);
}
