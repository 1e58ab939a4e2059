#include "sim/view/report/main_layers.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

using systole::report::LayerLines;
using systole::report::main_layers;
using Indices = std::vector<std::size_t>;

TEST_CASE("The ten layers with most cycles are listed in their order", "[report]") {
    const std::vector<std::uint64_t> cycles{5, 90, 80, 70, 60, 50, 40, 30, 20, 10, 100, 7, 6};
    const LayerLines lines = main_layers(cycles, false);
    CHECK(lines.listed == Indices{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(lines.others == Indices{0, 11, 12});
    CHECK(main_layers(cycles, true).listed.size() == cycles.size());
    CHECK(main_layers(cycles, true).others.empty());
}

TEST_CASE("A single layer is not replaced by a line of others", "[report]") {
    const std::vector<std::uint64_t> cycles(11, 3);
    CHECK(main_layers(cycles, false).listed.size() == 11);
    CHECK(main_layers(cycles, false).others.empty());
    CHECK(main_layers({}, false).listed.empty());
}

TEST_CASE("Layers without cycles are among the others", "[report]") {
    std::vector<std::uint64_t> cycles(30, 0);
    cycles[4] = 7;
    cycles[29] = 8;
    const LayerLines lines = main_layers(cycles, false);
    CHECK(lines.listed == Indices{4, 29});
    CHECK(lines.others.size() == 28);
    CHECK(main_layers(std::vector<std::uint64_t>(12, 0), false).listed.empty());
}
