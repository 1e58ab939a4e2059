// The formulas of configs/validation/tpu_v1.json, for runs whose results are known by hand.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "sim/study/validate/formulas.h"
#include "sim/study/validate/tables.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

const std::array<std::string, 6> workload_names{"MLP0", "MLP1", "LSTM0", "LSTM1", "CNN0", "CNN1"};
using Six = std::array<double, 6>;

class Shipped {
public:
    Shipped() : formulas_(formulas_of(shipped_setup())) {}

    double operator()(const std::string& formula) { return formulas_.value(formula, "here").value(); }
    void know(const std::string& name, double number) { formulas_.know(name, number); }
    void know(const std::string& row, const Six& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            formulas_.know(row + "." + workload_names.at(i), numbers.at(i));
        }
    }
    tables::Table table(const std::string& id) {
        const std::vector<TableFormulas>& listed = shipped_setup().target.tables;
        return table_of(*std::ranges::find(listed, id, &TableFormulas::id), formulas_);
    }

private:
    Formulas formulas_;
};

/// A simulator that measures exactly what is published: nothing of the rules below is fitted to it.
Shipped perfect() {
    Shipped shipped;
    for (const std::string& name : workload_names) {
        shipped.know("base.useful_macs." + name, shipped("table_3.useful_macs." + name));
        shipped.know("base.device_seconds." + name, 4.0);
        shipped.know("prime_memory.device_seconds." + name, name.starts_with("CNN") ? 4.0 : 1.0);
        shipped.know("base.inferences_per_second." + name, 1e6);
    }
    return shipped;
}

TEST_CASE("MLP0's part of its pair's weight makes Table 6's weighted means", "[sim][validate]") {
    Shipped value;
    CHECK(value("mlp0_part_of.tpu_over_cpu") == Approx(0.9465).margin(1e-3));
    CHECK(value("mlp0_part_of.gpu_over_cpu") == Approx(0.9557).margin(1e-3));
    CHECK(value("sum_of.weights") == Approx(1.0));
    CHECK(value("wm_of.table_6.gpu_over_cpu") ==
          Approx(value("table_6.weighted_mean.gpu_over_cpu")).epsilon(0.005));
    CHECK(value("wm_of.table_6.tpu_over_cpu") ==
          Approx(value("table_6.weighted_mean.tpu_over_cpu")).epsilon(0.005));
    CHECK(value("weights.MLP0 + weights.MLP1") == Approx(61.0 / 95.0));
    CHECK(value("weights.LSTM0") == value("weights.LSTM1"));
    CHECK(value("weights.CNN0 + weights.CNN1") == Approx(5.0 / 95.0));
}

TEST_CASE("Geometric means of Table 6 are the printed ones", "[sim][validate]") {
    Shipped value;
    CHECK(value("gm_of.table_6.gpu_over_cpu") == Approx(1.1).margin(0.05));
    CHECK(value("gm_of.table_6.tpu_over_cpu") == Approx(14.5).margin(0.06));
}

TEST_CASE("Cycles go as one over useful multiply-accumulates", "[sim][validate]") {
    Shipped value;
    value.know("base.useful_macs", {12.5, 9.4, 8.2, 6.3, 78.2, 18.0});
    CHECK(value("error.base.MLP0") == 0.0);
    CHECK(value("error.base.CNN1") == Approx(0.25));  // the chip needed a fifth less than we do
}

TEST_CASE("The published counters give the published performance", "[sim][validate]") {
    Shipped value = perfect();
    for (const std::string ratio : {"gpu_over_cpu", "tpu_over_cpu", "tpu_over_gpu"}) {
        for (const std::string& name : workload_names) {
            CHECK(value("relative." + ratio + "." + name) == Approx(value("table_6." + ratio + "." + name)));
        }
    }
}

TEST_CASE("The rule of Figure 9 reproduces the printed bars of GPU and TPU", "[sim][validate]") {
    Shipped value = perfect();
    for (const std::string bar : {"total_gm", "total_wm", "incremental_gm", "incremental_wm"}) {
        for (const std::string ratio : {"gpu_over_cpu", "tpu_over_cpu", "tpu_over_gpu"}) {
            INFO(bar << " " << ratio);
            CHECK(std::abs(value("bar_error." + bar + "." + ratio)) < 0.05);
        }
    }
}

TEST_CASE("The host's time does not shorten", "[sim][validate]") {
    Shipped value = perfect();
    CHECK(value("prime.memory.LSTM1") == Approx(4.0));
    CHECK(value("prime.with_host.MLP0") == Approx(1.21 / (0.25 + 0.21)));
    CHECK(value("prime.with_host.MLP1") == Approx(1.76 / (0.25 + 0.76)));
    CHECK(value("prime.with_host.CNN0") == Approx(1.0));
    CHECK(value("ips_with_host.MLP1") == Approx(1e6 / 1.76));
}

TEST_CASE("Watts grow from idle to busy with the load", "[sim][validate]") {
    Shipped value;
    value.know("base.idle_watts", {28, 28, 28, 28, 28, 28});
    value.know("base.busy_watts", {40, 40, 40, 31, 40, 40});
    CHECK(value("watts.tpu_watts.0") == 28.0);
    CHECK(value("watts.tpu_watts.50") == 34.0);
    CHECK(value("at_tenth.tpu_watts") == Approx(29.2 / 40.0));
    CHECK(value("at_tenth_lstm1") == Approx(28.3 / 31.0));
    CHECK(value("watts.gpu_watts.10") == Approx(25.0 + 0.1 * (98.0 - 25.0)));
    CHECK(value("idle.cpu_watts") == Approx(159.0 / 2.0));
    CHECK(value("busy.cpu_watts") == Approx(455.0 / 2.0));
    // A die with its host has its part of the CPU server, as busy as the text says.
    CHECK(value("idle.tpu_with_host_watts") == Approx(28.0 + 159.0 / 4.0));
    CHECK(value("busy.tpu_with_host_watts") == Approx(40.0 + 0.69 * 455.0 / 4.0));
    CHECK(value("idle.gpu_with_host_watts") == Approx(25.0 + 159.0 / 8.0));
    CHECK(value("busy.gpu_with_host_watts") == Approx(98.0 + 0.52 * 455.0 / 8.0));

    const tables::Table table = value.table("figure_10");
    REQUIRE(table.rows.size() == 11);
    const tables::Row& full = table.rows.back();
    CHECK(full.label == "100");
    REQUIRE(full.cells.size() == 10);
    CHECK(full.cells[0].text() == "43");
    CHECK(full.cells[1].text() == "40.0");
    CHECK(full.cells[9].text() == "227.5");
}

/// The figure's own host: half or a quarter of a CPU die's watts, at full load by the text's per cent.
TEST_CASE("The published curves with host are those without, and the host's part", "[sim][validate]") {
    Shipped value;
    const auto part = [&](const std::string& processor, const std::string& load) {
        return value("figure_10." + processor + "_with_host_watts." + load + " - figure_10." + processor +
                     "_watts." + load);
    };
    const double idle = value("figure_10.cpu_watts.0");
    const double busy = value("figure_10.cpu_watts.100");
    CHECK(part("tpu", "0") == Approx(idle / 2).margin(1.0));
    CHECK(part("gpu", "0") == Approx(idle / 4).margin(1.0));
    CHECK(part("tpu", "100") ==
          Approx(busy / 2 * value("figure_10_text.host_percent_with_tpus") / 100).margin(1.0));
    CHECK(part("gpu", "100") ==
          Approx(busy / 4 * value("figure_10_text.host_percent_with_gpus") / 100).margin(1.0));
}

/// Curves as the article's text has them.
Shipped as_said() {
    Shipped value;
    const Six ones{1, 1, 1, 1, 1, 1};
    value.know("eight_bits.device_seconds", ones);
    value.know("base.device_non_matrix", ones);
    for (const std::string curve : {"memory", "clock", "clock_plus", "matrix", "matrix_plus"}) {
        for (const std::string scale : {"quarter", "half", "same", "double", "fourfold"}) {
            value.know("eight_bits_" + curve + "_" + scale + ".device_seconds", ones);
        }
    }
    return value;
}

void speed_up(Shipped& value, const std::string& run, Six factors) {
    for (double& factor : factors) factor = 1.0 / factor;
    value.know("eight_bits_" + run + ".device_seconds", factors);
}

Shipped all_hold() {
    Shipped value = as_said();
    speed_up(value, "memory_fourfold", {3.0, 3.1, 2.9, 3.0, 1.0, 1.2});
    for (const char* const clock : {"clock_fourfold", "clock_plus_fourfold"}) {
        speed_up(value, clock, {1.0, 1.0, 1.0, 1.0, 2.1, 1.9});
    }
    for (const char* const matrix : {"matrix_double", "matrix_plus_double"}) {
        speed_up(value, matrix, {0.95, 0.9, 0.99, 0.8, 0.9, 0.9});
    }
    return value;
}

/// Of the row whose label begins so: its cells, the last one first.
std::string holds(const tables::Table& table, const std::string& label) {
    for (const tables::Row& row : table.rows) {
        if (row.label.starts_with(label)) return row.cells.back().text();
    }
    return "no such row";
}

TEST_CASE("Each statement holds for curves as the text has them", "[sim][validate]") {
    Shipped value = all_hold();
    const tables::Table table = value.table("statements");
    CHECK(table.rows.size() == 9);
    for (const tables::Row& row : table.rows) {
        INFO(row.label);
        REQUIRE(row.cells.size() == 8);
        CHECK(row.cells.back().text() == "yes");
    }
    CHECK(table.notes.size() == 1);  // nothing to explain
    const tables::Row& mlp_lstm = table.rows.at(1);
    CHECK(mlp_lstm.label == "memory x4: MLP, LSTM x3");
    CHECK(mlp_lstm.cells[2].text() == "2.90");
    CHECK(mlp_lstm.cells[4].text() == "-");
    CHECK(mlp_lstm.cells[6].text() == "3.00");
    const std::string text = tables::to_text(table);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        CHECK(end - begin <= 80);
        begin = end + 1;
    }
}

TEST_CASE("A statement that does not hold says no, and a note gives the reason", "[sim][validate]") {
    Shipped value = all_hold();
    SECTION("memory gives too much") {
        speed_up(value, "memory_fourfold", {3.9, 3.8, 3.9, 3.8, 1.0, 1.2});
        const tables::Table table = value.table("statements");
        CHECK(holds(table, "memory x4: MLP") == "no");
        CHECK(holds(table, "memory x4: CNN") == "yes");
        REQUIRE(table.notes.size() == 2);
        CHECK(table.notes[1].starts_with("Why memory x4"));
        // Row 6 of Table 3 kept, the rest a fourth: 1 / (0.175 + 0.825 / 4) and so on.
        CHECK(table.notes[1].find("x2.6 would remain") != std::string::npos);
    }
    SECTION("the clock helps one that waits for weights") {
        speed_up(value, "clock_fourfold", {1.0, 1.0, 1.0, 1.16, 2.1, 1.9});
        const tables::Table table = value.table("statements");
        CHECK(holds(table, "clock x4: MLP") == "no");
        CHECK(holds(table, "clock+ x4: MLP") == "yes");
    }
    SECTION("a larger array leaves one as it was") {
        speed_up(value, "matrix_double", {0.95, 0.9, 1.0, 0.8, 0.9, 0.9});
        const tables::Table table = value.table("statements");
        CHECK(holds(table, "512x512:") == "no");
        CHECK(holds(table, "512x512+:") == "yes");
        REQUIRE(table.notes.size() == 2);
        CHECK(table.notes[1].starts_with("Why not each network is worse on 512x512"));
    }
    SECTION("one of them more than slightly worse, as the article's example of LSTM1 is") {
        speed_up(value, "matrix_plus_double", {0.95, 0.9, 0.99, 0.56, 0.9, 0.9});
        CHECK(holds(value.table("statements"), "512x512+:") == "no");
    }
}

}  // namespace
}  // namespace systole::validate
