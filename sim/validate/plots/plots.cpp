#include "sim/validate/plots/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/validate/counters.h"
#include "sim/validate/performance.h"
#include "sim/validate/plots/chart.h"

namespace systole::validate {
namespace {

std::vector<std::string> names() {
    return {workload_names.begin(), workload_names.end()};
}

std::string table_3_plot(const Results& results) {
    StackedChart chart{.title = "Table 3: where the cycles go",
                       .y_label = "% of cycles",
                       .parts = {"array active", "weight stall", "weight shift", "non-matrix"},
                       .column_names = {"chip", "ours"},
                       .groups = {}};
    for (std::size_t i = 0; i < workload_count; ++i) {
        StackedChart::Group group{.name = std::string(workload_names[i]), .columns = {{}, {}}};
        for (const std::size_t row : partition_rows) {
            group.columns[0].push_back(results.published.table_3.rows.at(row)[i]);
            group.columns[1].push_back(counter_row(row, results.base[i]));
        }
        chart.groups.push_back(std::move(group));
    }
    return to_svg(chart);
}

std::string cycles_plot(const Results& results) {
    BarChart chart{.title = "Error of total cycles",
                   .y_label = "%, absolute",
                   .groups = names(),
                   .series = {{.name = "the authors' model", .values = {}, .style = 0},
                              {.name = "this simulator", .values = {}, .style = 1}}};
    for (std::size_t i = 0; i < workload_count; ++i) {
        chart.series[0].values.push_back(results.published.table_7.model_error_percent[i]);
        chart.series[1].values.push_back(
            100.0 * std::abs(cycles_error(results.published.table_3.rows[1][i], results.base[i])));
    }
    return to_svg(chart);
}

std::string held_out_plot(const Results& results) {
    BarChart chart{.title = "Fitted to three workloads, held against the other three",
                   .y_label = "mean error of total cycles, %",
                   .groups = {},
                   .series = {{.name = "the three fitted to", .values = {}, .style = 0},
                              {.name = "the three held out", .values = {}, .style = 1}}};
    for (const Fit& fit : results.fits.splits) {
        chart.groups.push_back(std::to_string(chart.groups.size() + 1));
        chart.series[0].values.push_back(100.0 * fit.fitted_error);
        chart.series[1].values.push_back(100.0 * fit.held_out_error);
    }
    return to_svg(chart);
}

std::string roofline_plot(const Results& results) {
    const double peak = results.machine.peak_ops_per_second() / 1e12;
    const double bandwidth = 2.0 * results.machine.weight_memory.bandwidth_gb_per_s * 1e9 / 1e12;
    LineChart chart{.title = "Roofline",
                    .x_label = "multiply-accumulates a weight byte",
                    .y_label = "10^12 operations a second",
                    .series = {},
                    .x_ticks = {10, 100, 1000, 10000},
                    .y_ticks = {1, 10, 100},
                    .logarithmic_x = true,
                    .logarithmic_y = true};
    const double ridge = peak / bandwidth;
    chart.series.push_back({.name = "roof",
                            .points = {{1.0 / bandwidth, 1.0}, {ridge, peak}, {10000.0, peak}},
                            .style = 3,
                            .dots = false});
    LineChart::Series published{.name = "published", .points = {}, .style = 0, .joined = false};
    LineChart::Series ours{.name = "ours", .points = {}, .style = 1, .joined = false};
    for (std::size_t i = 0; i < workload_count; ++i) {
        const Measurement& measured = results.base[i];
        published.points.push_back(
            {results.published.table_1.macs_per_weight_byte[i], results.published.table_3.rows[8][i]});
        ours.points.push_back(
            {static_cast<double>(measured.macs) / static_cast<double>(measured.weight_bytes),
             measured.tera_ops(), std::string(workload_names[i])});
    }
    chart.series.push_back(std::move(published));
    chart.series.push_back(std::move(ours));
    return to_svg(chart);
}

std::string figure_9_plot(const Results& results, bool incremental) {
    const Figure9& published = results.published.figure_9;
    const ServerEfficiency ours = server_efficiency(results);
    const PerServerRatio& gm = incremental ? published.incremental_gm : published.total_gm;
    const PerServerRatio& wm = incremental ? published.incremental_wm : published.total_wm;
    const auto of = [&](const Efficiency& efficiency) {
        return incremental ? efficiency.incremental : efficiency.total;
    };
    BarChart chart{.title = incremental ? "Performance per watt, incremental" : "Performance per watt, total",
                   .y_label = "ratio of servers",
                   .groups = {server_ratio_names.begin(), server_ratio_names.end()},
                   .series = {{.name = "GM published", .values = {}, .style = 0},
                              {.name = "GM ours", .values = {}, .style = 1},
                              {.name = "WM published", .values = {}, .style = 2},
                              {.name = "WM ours", .values = {}, .style = 3}},
                   .logarithmic = true};
    for (std::size_t i = 0; i < server_ratio_names.size(); ++i) {
        chart.series[0].values.push_back(gm[i]);
        chart.series[1].values.push_back(of(ours.geometric[i]));
        chart.series[2].values.push_back(wm[i]);
        chart.series[3].values.push_back(of(ours.weighted[i]));
    }
    return to_svg(chart);
}

std::string figure_10_plot(const Results& results) {
    LineChart chart{.title = "Watts a die against load, CNN0",
                    .x_label = "load, %",
                    .y_label = "W",
                    .series = {{.name = "TPU published", .points = {}, .style = 0, .dashed = true},
                               {.name = "ours", .points = {}, .style = 1},
                               {.name = "with host/2 published", .points = {}, .style = 2, .dashed = true},
                               {.name = "ours", .points = {}, .style = 3}},
                    .x_ticks = {0, 20, 40, 60, 80, 100},
                    .y_ticks = {0, 20, 40, 60, 80, 100, 120, 140}};
    for (std::size_t i = 0; i < load_names.size(); ++i) {
        const double load = static_cast<double>(i) / static_cast<double>(load_names.size() - 1);
        const double chip = chip_watts(results, load);
        const double x = 100.0 * load;
        chart.series[0].points.push_back({x, results.published.figure_10.tpu_watts[i]});
        chart.series[1].points.push_back({x, chip});
        chart.series[2].points.push_back({x, results.published.figure_10.tpu_with_host_watts[i]});
        chart.series[3].points.push_back({x, chip + host_watts(results, load)});
    }
    return to_svg(chart);
}

std::string figure_11_plot(const Results& results) {
    LineChart chart{.title = "Figure 11: weighted mean of performance (dashed: published)",
                    .x_label = "scale of the parameter",
                    .y_label = "performance against scale 1",
                    .series = {},
                    .x_ticks = {scales.begin(), scales.end()},
                    .y_ticks = {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4},
                    .logarithmic_x = true};
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        LineChart::Series published{
            .name = {}, .points = {}, .style = curve + 1, .dashed = true, .dots = false};
        LineChart::Series ours{
            .name = std::string(curve_names[curve]), .points = {}, .style = curve + 1, .dashed = false};
        for (std::size_t i = 0; i < scales.size(); ++i) {
            published.points.push_back({scales[i], results.published.figure_11.curves[curve][i]});
            ours.points.push_back(
                {scales[i],
                 weighted_mean(results.weights, results.eight_bit_sensitivity.performance[curve][i])});
        }
        chart.series.push_back(std::move(published));
        chart.series.push_back(std::move(ours));
    }
    return to_svg(chart);
}

}  // namespace

std::vector<Plot> all_plots(const Results& results) {
    return {
        {"table_3", "stacked bars: where the cycles of each workload go, on the chip and ours",
         table_3_plot(results)},
        {"total_cycles", "bars: error of total cycles by workload, of the authors' model and of ours",
         cycles_plot(results)},
        {"held_out", "bars: errors of the 20 splits, fitted and held out", held_out_plot(results)},
        {"roofline", "roofline with the six workloads, published and ours", roofline_plot(results)},
        {"figure_9_total", "bars: total performance per watt, published and ours",
         figure_9_plot(results, false)},
        {"figure_9_incremental", "bars: incremental performance per watt, published and ours",
         figure_9_plot(results, true)},
        {"figure_10", "lines: watts against load, published and ours", figure_10_plot(results)},
        {"figure_11", "curves: performance against scaled parameters, published and ours",
         figure_11_plot(results)},
    };
}

}  // namespace systole::validate
