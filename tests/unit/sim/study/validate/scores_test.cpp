#include "sim/study/validate/scores.h"

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/validate/null_models.h"
#include "tests/unit/sim/study/validate/shipped.h"

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

/// A record of one layer: cycles in which rows stream, and tiles of 1 x 1 byte.
run::RunRecord layer(Cycle streaming, std::uint64_t tiles, Cycle cycles, std::uint64_t useful_macs) {
    run::RunRecord record = made_record(cycles, useful_macs);
    record.spec.machine.weight_memory.bandwidth_gb_per_s = 0.5;  // two cycles of 1 ns for a byte
    record.program.rows = record.program.columns = 1;
    record.program.layers = {{.name = "l", .kind = "dense", .macs = 1}};
    run::TagFacts facts;
    facts.fetched.tiles = tiles;
    record.program.tags = {{}, facts};
    for (run::Counter& counter : record.counters.all) {
        if (counter.path == "matrix_unit.active_cycles") counter.by_tag = {0, streaming};
    }
    return record;
}

TEST_CASE("The bound of a layer is the longer of streaming and fetching", "[sim][validate]") {
    CHECK(bound_cycles(layer(100, 30, 500, 1)) == Approx(100.0));
    CHECK(bound_cycles(layer(100, 70, 500, 1)) == Approx(140.0));
}

TEST_CASE("A null model has the constant of the least mean absolute error", "[sim][validate]") {
    // The chip takes twice the bound on five of six, and three times on the last.
    ByWorkload<run::RunRecord> records;
    ByWorkload<double> useful{};
    for (std::size_t i = 0; i < workload_count; ++i) {
        records[i] = layer(100, 1, 100, 50);                     // half of the cells useful in 100 cycles
        useful[i] = i + 1 < workload_count ? 25.0 : 50.0 / 3.0;  // published: in 200, in 300
    }
    const std::vector<NullModel> models = null_models(useful, records);
    REQUIRE(models.size() == 3);
    CHECK(models[0].constant.empty());
    CHECK(models[0].errors[MLP0] == Approx(-0.5));
    CHECK(models[0].errors[CNN1] == Approx(-2.0 / 3.0));
    CHECK(models[1].constant == "2.000");
    CHECK(models[1].mean == Approx(1.0 / 3.0 / 6.0));
    CHECK(models[2].constant == "100 cycles");
    CHECK(models[2].errors[MLP1] == Approx(0.0).margin(1e-12));
    CHECK(models[2].mean == Approx(1.0 / 3.0 / 6.0));
}

}  // namespace
}  // namespace systole::validate
