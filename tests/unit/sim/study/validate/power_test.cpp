#include <catch2/catch.hpp>

#include "hw/machine/config_error.h"
#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

Results shipped() {
    Results results;
    results.target = shipped_target();
    results.published = shipped_figures();
    results.cpu = shipped_cpu();
    results.gpu = shipped_gpu();
    results.base.fill(made_record(1, 0));
    results.chip_watts.fill({.idle = 28.0, .busy = 40.0});
    results.chip_watts[LSTM1].busy = 31.0;
    return results;
}

TEST_CASE("Watts grow from idle to busy with the load", "[sim][validate]") {
    const Results results = shipped();
    const Watts tpu = watts(results, TpuWatts, CNN0);
    CHECK(tpu.at(0.0) == 28.0);
    CHECK(tpu.at(0.5) == 34.0);
    CHECK(tpu.share_at(0.1) == Approx(29.2 / 40.0));
    CHECK(watts(results, TpuWatts, LSTM1).busy == 31.0);
    CHECK(watts(results, GpuWatts, CNN0).at(0.1) == Approx(25.0 + 0.1 * (98.0 - 25.0)));
    CHECK(watts(results, CpuWatts, CNN0).idle == Approx(159.0 / 2.0));
    CHECK(watts(results, CpuWatts, CNN0).busy == Approx(455.0 / 2.0));
}

TEST_CASE("A die with its host has its part of the CPU server, as busy as the text says", "[sim][validate]") {
    const Results results = shipped();
    const Watts tpu = watts(results, TpuWithHostWatts, CNN0);
    CHECK(tpu.idle == Approx(28.0 + 159.0 / 4.0));
    CHECK(tpu.busy == Approx(40.0 + 0.69 * 455.0 / 4.0));
    const Watts gpu = watts(results, GpuWithHostWatts, CNN0);
    CHECK(gpu.idle == Approx(25.0 + 159.0 / 8.0));
    CHECK(gpu.busy == Approx(98.0 + 0.52 * 455.0 / 8.0));
}

/// The figure's own host: half or a quarter of a CPU die's watts, at full load by the text's per cent.
TEST_CASE("The published curves with host are those without, and the host's part", "[sim][validate]") {
    const Published published = shipped_figures();
    const auto part = [&](PowerCurve with, PowerCurve without, std::size_t load) {
        return published.figure_10(with)[load] - published.figure_10(without)[load];
    };
    const double idle = published.figure_10(CpuWatts)[0];
    const double busy = published.figure_10(CpuWatts)[loads.size() - 1];
    CHECK(part(TpuWithHostWatts, TpuWatts, 0) == Approx(idle / 2).margin(1.0));
    CHECK(part(GpuWithHostWatts, GpuWatts, 0) == Approx(idle / 4).margin(1.0));
    CHECK(part(TpuWithHostWatts, TpuWatts, 10) ==
          Approx(busy / 2 * published.at("figure_10_text.host_percent_with_tpus") / 100).margin(1.0));
    CHECK(part(GpuWithHostWatts, GpuWatts, 10) ==
          Approx(busy / 4 * published.at("figure_10_text.host_percent_with_gpus") / 100).margin(1.0));
}

TEST_CASE("The table has each curve, published and ours", "[sim][validate]") {
    const Table table = figure_10_table(shipped());
    REQUIRE(table.rows.size() == loads.size());
    const Row& full = table.rows.back();
    CHECK(full.label == "100");
    REQUIRE(full.cells.size() == 10);
    CHECK(full.cells[0].text() == "43");
    CHECK(full.cells[1].text() == "40.0");
    CHECK(full.cells[4].text() == "123");
    CHECK(full.cells[5].text() == "98.0");
    CHECK(full.cells[8].text() == "216");
    CHECK(full.cells[9].text() == "227.5");
}

TEST_CASE("Shares at a tenth of the load: the text beside the figure and ours", "[sim][validate]") {
    const Table table = figure_10_text_table(shipped());
    const auto cells = [&](const std::string& label) {
        for (const Row& row : table.rows) {
            if (row.label == label) {
                return row.cells[0].text() + " " + row.cells[1].text() + " " + row.cells[2].text();
            }
        }
        return std::string("no such row");
    };
    CHECK(cells("CNN0, TPU") == "88 88 73");
    CHECK(cells("CNN0, CPU") == "56 56 41");
    CHECK(cells("CNN0, GPU") == "66 63 33");
    CHECK(cells("CNN0, GPU + host/4") == "- 66 42");  // which the text's per cent are of
    CHECK(cells("LSTM1, TPU") == "94 - 91");
    CHECK(cells("LSTM1, CPU") == "47 - 41");
    CHECK(cells("LSTM1, GPU + host/4") == "no such row");
    CHECK(cells("TPU server over CPU server, watts %") == "<20 9 4");
}

TEST_CASE("A baseline without watts has no curve", "[sim][validate]") {
    baselines::Baseline gpu = shipped_gpu();
    gpu.power.busy_watts = 0.0;
    CHECK_NOTHROW(require_watts(shipped_cpu(), shipped_gpu()));
    CHECK_THROWS_WITH(require_watts(shipped_cpu(), gpu),
                      "k80: power.busy_watts is missing; Figure 10's curves begin and end with it");
    baselines::Baseline cpu = shipped_cpu();
    cpu.server.idle_watts = 0.0;
    CHECK_THROWS_AS(require_watts(cpu, shipped_gpu()), machine::ConfigError);
}

}  // namespace
}  // namespace systole::validate
