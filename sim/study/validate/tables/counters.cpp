#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

double mean_of(const ByWorkload<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / workload_count;
}

Table summary_table(const Results& results) {
    const Targets& targets = results.target.targets;
    const CyclesErrors cycles = cycles_errors(results.published.table_3(useful_row), results.base);
    double points = 0.0;
    for (const std::size_t row : partition_rows) points = std::max(points, table_3_difference(row, results));

    Table table{.id = "summary",
                .title = "sim validate " + results.target.name + ": held against " + results.published.title,
                .columns = {"measure, %", "ours", "at most", "met"}};
    const auto add = [&](const char* what, double ours, double target) {
        table.add(what, {Cell::percent(ours), Cell::percent(target), Cell::met(ours <= target)});
    };
    add("error of total cycles, mean of the six", cycles.mean, targets.mean_cycles_error);
    add("error of total cycles, largest", cycles.largest, targets.cycles_error);
    table.add("error of total cycles, held out", {Cell::percent(results.fits.held_out_mean), {}, {}});
    add("rows 1, 4, 5, 6 of Table 3, points, largest mean", points / 100.0, targets.counter_points / 100.0);
    add("points of Figure 11, largest error",
        largest(sensitivity_errors(results, results.eight_bit_sensitivity)), targets.sensitivity_error);
    add("bars of Figure 9, largest error", largest(efficiency_errors(results)), targets.efficiency_error);
    return table;
}

Table cycles_table(const Results& results) {
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    const ByWorkload<double> authors = results.published.workloads("table_7.model_error_percent");
    const CyclesErrors errors = cycles_errors(useful, results.base);
    return {
        .id = "total_cycles",
        .title = "Total cycles: error of the simulator, and of the authors' own model (Table 7), %",
        .columns = titles("", workload_names, {"mean abs"}),
        .rows = {{"row 2, published", numbers(useful, 1)},
                 {"row 2, ours", numbers(table_3_values(useful_row, results.base), 1)},
                 {"error of our cycles",
                  joined(differences(errors.by_workload, 1, 100.0), {Cell::percent(errors.mean)})},
                 {"error of theirs", joined(numbers(authors, 1), {Cell::number(mean_of(authors), 1)})}},
        .notes = {"For the same multiply-accumulates, cycles go as one over row 2 of Table 3: the error is "
                  "published row 2 over ours, less one; positive where our chip takes longer. The authors "
                  "do not publish signs."}};
}

Table fit_table(const Results& results) {
    Table table{.id = "fits",
                .title = "Three free parameters, fitted to three workloads and held against the other three",
                .columns = {"fitted to", "GB/s", "act. ns", "host ns", "fit err. %", "held out %"}};
    const auto add = [&](std::string label, const Parameters& parameters, const Cells& errors) {
        Cells cells{Cell::number(parameters[0], 3), Cell::number(parameters[1], 0),
                    Cell::number(parameters[2], 0)};
        table.add(std::move(label), joined(std::move(cells), errors));
    };
    for (const Fit& fit : results.fits.splits) {
        std::vector<std::string_view> names;
        for (const std::size_t workload : fit.fitted) names.push_back(workload_names[workload]);
        add(fmt::format("{}", fmt::join(names, " ")), fit.parameters,
            {Cell::percent(fit.fitted_error), Cell::percent(fit.held_out_error)});
    }
    table.add("mean of the splits", {{}, {}, {}, {}, Cell::percent(results.fits.held_out_mean)});
    add("all six", results.fits.all.parameters, {Cell::percent(results.fits.all.fitted_error), {}});
    add("machine file", parameters_of(results.machine), {});
    table.notes = {
        fmt::format("weight_memory.bandwidth_gb_per_s, activation_unit.latency_ns and "
                    "host_interface.latency_ns: the same for all workloads. Mean absolute error of "
                    "total cycles; from {} simulations.",
                    results.fits.simulations)};
    return table;
}

Table table_1(const Results& results) {
    const Published& published = results.published;
    const auto batch = [](const run::RunRecord& record) { return record.program.batch; };
    const auto weights = [](const run::RunRecord& record) {
        return static_cast<double>(record.program.tile_bytes) / 1e6;
    };
    return {.id = "table_1",
            .title = "Table 1: what the reconstructed networks have in common with the six",
            .columns = titles("", workload_names),
            .rows = {{"batch", numbers(of_each(results.base, batch), 0)},
                     {"weights published, 10^6", numbers(published.workloads("table_1.weights_millions"), 0)},
                     {"weights ours, 10^6", numbers(of_each(results.base, weights), 1)},
                     {"MACs a weight byte, published",
                      numbers(published.workloads("table_1.macs_per_weight_byte"), 0)},
                     {"MACs a weight byte, ours", numbers(of_each(results.base, macs_per_weight_byte), 0)}}};
}

Table table_3(const Results& results) {
    Table table{.id = "table_3",
                .title = "Table 3: counters, % of cycles, and 10^12 operations a second",
                .columns = titles("", workload_names, {"mean"})};
    for (std::size_t row = 0; row < table_3_rows.size(); ++row) {
        const auto& [key, title, counter] = table_3_rows[row];
        const ByWorkload<double> published = results.published.table_3(row);
        const ByWorkload<double> ours = table_3_values(row, results.base);
        const double mean = results.published.at(fmt::format("table_3.{}.mean", key));
        table.add(std::string(title), joined(numbers(published, 1), {Cell::number(mean, 1)}));
        table.add("    ours", joined(numbers(ours, 1), {Cell::number(mean_of(ours), 1)}));
        table.add("    difference",
                  differences(by_workload([&](std::size_t i) { return ours[i] - published[i]; }), 1));
    }
    table.notes = {
        "Each cycle is in one of rows 1, 4, 5 and 6; rows 2 and 3 split row 1 by cells; rows 7 and 8 are "
        "reasons for row 6, not parts of it. Row 9 counts the network's multiply-accumulates twice, a "
        "16-bit one like an 8-bit one; its published values are of production code, not of the counters."};
    return table;
}

Table table_3_differences(const Results& results) {
    Table table{.id = "table_3_differences",
                .title = "Table 3: mean absolute difference of the six, points",
                .columns = {"row", "difference", "at most"}};
    const double most = results.target.targets.counter_points;
    for (const std::size_t row : partition_rows) {
        table.add(std::string(table_3_rows[row].title),
                  numbers(std::array{table_3_difference(row, results), most}, 1));
    }
    return table;
}

Table table_8(const Results& results) {
    const auto mebibytes = [](const run::RunRecord& record) {
        return static_cast<double>(record.unified_buffer_peak_bytes) / 1048576.0;
    };
    return {.id = "table_8",
            .title = "Table 8: the most of the unified buffer in use, MiB",
            .columns = titles("", workload_names),
            .rows = {{"published", numbers(results.published.workloads("table_8.unified_buffer_mib"), 1)},
                     {"ours", numbers(of_each(results.base, mebibytes), 1)}},
            .notes = {"Ours is one batch at a time and what liveness needs; the published allocator may also "
                      "hold the next batch's input and the last one's output."}};
}

}  // namespace

std::vector<Table> counter_tables(const Results& results) {
    return {summary_table(results), cycles_table(results),        fit_table(results), table_1(results),
            table_3(results),       table_3_differences(results), table_8(results)};
}

}  // namespace systole::validate
