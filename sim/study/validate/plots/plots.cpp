#include "sim/study/validate/plots/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/study/validate/counters.h"
#include "sim/study/validate/performance.h"
#include "sim/study/validate/plots/chart.h"
#include "sim/study/validate/power.h"

namespace systole::validate {
namespace {

std::vector<std::string> names() {
    return {workload_names.begin(), workload_names.end()};
}

/// A published curve and ours beside it, of one colour and with one name.
std::pair<LineChart::Series, LineChart::Series> dashed_and_solid(std::string name, std::size_t style) {
    return {{.name = {}, .points = {}, .style = style, .dashed = true, .dots = false},
            {.name = std::move(name), .points = {}, .style = style, .dashed = false}};
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
    const CyclesErrors errors = cycles_errors(results);
    for (std::size_t i = 0; i < workload_count; ++i) {
        chart.series[0].values.push_back(results.published.table_7.model_error_percent[i]);
        chart.series[1].values.push_back(100.0 * std::abs(errors.by_workload[i]));
    }
    return to_svg(chart);
}

std::string held_out_plot(const Results& results) {
    BarChart chart{.title = "Fitted to three workloads, held against the other three",
                   .x_label = "split, in the order of the table",
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
        const LineChart::Point theirs{results.published.table_1.macs_per_weight_byte[i],
                                      results.published.table_3.rows[8][i]};
        const LineChart::Point our{results.base[i].macs_per_weight_byte(), results.base[i].tera_ops(),
                                   std::string(workload_names[i])};
        published.points.push_back(theirs);
        ours.points.push_back(our);
        // Which belong to each other.
        chart.series.push_back({.name = {}, .points = {theirs, our}, .style = 0, .dots = false});
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
    constexpr std::array<const char*, power_curve_keys.size()> curve_labels{"TPU", "TPU + host/2", "GPU",
                                                                            "GPU + host/4", "CPU"};
    LineChart chart{.title = "Figure 10: watts a die against load of CNN0 (dashed: published)",
                    .x_label = "load, %",
                    .y_label = "W",
                    .series = {},
                    .x_ticks = {0, 20, 40, 60, 80, 100},
                    .y_ticks = {}};
    double most = 0.0;
    for (std::size_t curve = 0; curve < power_curve_keys.size(); ++curve) {
        const Proportional our_watts = watts(results, static_cast<PowerCurve>(curve), CNN0);
        auto [published, ours] = dashed_and_solid(curve_labels[curve], curve + 1);
        for (std::size_t i = 0; i < loads.size(); ++i) {
            const double theirs = results.published.figure_10.curves[curve][i];
            published.points.push_back({100.0 * loads[i], theirs});
            ours.points.push_back({100.0 * loads[i], our_watts.at(loads[i])});
            most = std::max({most, theirs, our_watts.at(loads[i])});
        }
        chart.series.push_back(std::move(published));
        chart.series.push_back(std::move(ours));
    }
    chart.y_ticks = round_ticks(0.0, most, 8);
    return to_svg(chart);
}

std::string figure_11_plot(const Results& results) {
    LineChart chart{.title = "Figure 11: weighted mean of performance, LSTMs 8-bit (dashed: published)",
                    .x_label = "scale of the parameter",
                    .y_label = "performance against scale 1",
                    .series = {},
                    .x_ticks = {scales.begin(), scales.end()},
                    .y_ticks = {0.2, 0.5, 1, 2, 4},
                    .logarithmic_x = true,
                    .logarithmic_y = true};
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        auto [published, ours] = dashed_and_solid(std::string(curve_names[curve]), curve + 1);
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
