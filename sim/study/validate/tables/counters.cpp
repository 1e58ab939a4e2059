#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

/// Absolute differences from a row of Table 3, in points.
struct Differences {
    double mean = 0.0;
    double largest = 0.0;
};
Differences differences_of_row(const ByWorkload<double>& published, std::span<const double> values) {
    Differences made;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double difference = std::abs(values[i] - published[i]);
        made.mean += difference / static_cast<double>(workload_count);
        made.largest = std::max(made.largest, difference);
    }
    return made;
}
Differences our_differences(const Results& results, std::size_t row) {
    return differences_of_row(results.published.table_3(row), table_3_values(row, results.base));
}
Differences roofline_differences(const Results& results, std::size_t row) {
    return differences_of_row(results.published.table_3(row), results.rooflines.table_3(row));
}

Table summary_table(const Results& results) {
    const Targets& targets = results.target.targets;
    const Rooflines& rooflines = results.rooflines;
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    Differences ours;
    Differences roofline;
    for (const std::size_t row : partition_rows) {
        const auto take = [](Differences& most, const Differences& one) {
            most = {std::max(most.mean, one.mean), std::max(most.largest, one.largest)};
        };
        take(ours, our_differences(results, row));
        take(roofline, roofline_differences(results, row));
    }

    Table table = results.table("summary");
    const auto add = [&](const std::string& what, double value, std::optional<double> null,
                         std::optional<double> target = {}) {
        const auto percent = [](const std::optional<double>& fraction) {
            return fraction ? Cell::percent(*fraction) : Cell();
        };
        table.add(what, {Cell::percent(value), percent(null), percent(target),
                         target ? Cell::met(value <= *target) : Cell()});
    };
    const std::array at_bandwidths{&rooflines.with_transfers, &rooflines.with_transfers_at_figure_1};
    for (std::size_t i = 0; i < results.zero_fit.size(); ++i) {
        const VariantRecords& zero_fit = results.zero_fit[i];
        add(fmt::format("cycles, no fit, {}: mean error", zero_fit.label),
            cycles_errors(useful, zero_fit.records).mean,
            i < at_bandwidths.size() ? std::optional(at_bandwidths[i]->mean) : std::nullopt,
            targets.mean_cycles_error);
    }
    const CyclesErrors cycles = cycles_errors(useful, results.base);
    add("cycles, fitted: mean error", cycles.mean, rooflines.scaled_bound.mean, targets.mean_cycles_error);
    add("  largest of the six", cycles.largest, largest(std::vector{rooflines.scaled_bound.errors}),
        targets.cycles_error);
    add("  fitted to three: mean error of the others", results.fits.others_mean, rooflines.others_mean);
    add("Table 3, rows 1, 4, 5, 6: largest mean, points", ours.mean / 100.0, roofline.mean / 100.0,
        targets.counter_points / 100.0);
    add("  largest difference, points", ours.largest / 100.0, roofline.largest / 100.0);
    const auto figure_11 = [&](const Sensitivity& curves) {
        return largest(sensitivity_errors(results.published, results.weights, curves));
    };
    add("Figure 11, LSTMs of 8 bits: largest error", figure_11(results.eight_bit_sensitivity),
        figure_11(rooflines.eight_bit_sensitivity), targets.sensitivity_error);
    add("  Table 3's networks: largest error", figure_11(results.sensitivity),
        figure_11(rooflines.sensitivity), targets.sensitivity_error);
    add("bars of Figure 9: largest error", largest(efficiency_errors(results)), {}, targets.efficiency_error);
    return table;
}

Table cycles_table(const Results& results) {
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    const ByWorkload<double> authors = results.published.workloads("table_7.model_error_percent");
    const CyclesErrors errors = cycles_errors(useful, results.base);
    Table table = results.table("total_cycles");
    const CyclesErrors product = cycles_errors(useful, results.product);
    table.add("row 2, published", useful, 1);
    table.add("row 2, ours", table_3_values(useful_row, results.base), 1);
    table.add("error of our cycles",
              joined(differences(errors.by_workload, 1, 100.0), {Cell::percent(errors.mean)}));
    const auto add = [&](std::string label, const ByWorkload<double>& each, double mean) {
        table.add(std::move(label), joined(differences(each, 1, 100.0), {Cell::percent(mean)}));
    };
    add("  in the product's mapping", product.by_workload, product.mean);
    for (const VariantRecords& zero_fit : results.product_zero_fit) {
        const CyclesErrors nothing_fitted = cycles_errors(useful, zero_fit.records);
        add("    " + zero_fit.label, nothing_fitted.by_workload, nothing_fitted.mean);
    }
    for (const NullModel* model : {&results.rooflines.scaled_bound, &results.rooflines.with_transfers}) {
        add(model->name, model->errors, model->mean);
    }
    table.add("error of theirs", joined(numbers(authors, 1), {Cell::number(arithmetic_mean(authors), 1)}));
    return table;
}

Table fit_table(const Results& results) {
    Table table = results.table("fits", {{"simulations", static_cast<double>(results.fits.simulations)}});
    const auto add = [&](std::string label, const Parameters& parameters, const Cells& errors) {
        Cells cells{Cell::number(parameters[0], 3), Cell::number(parameters[1], 0),
                    Cell::number(parameters[2], 0)};
        table.add(std::move(label), joined(std::move(cells), errors));
    };
    for (std::size_t i = 0; i < results.fits.splits.size(); ++i) {
        const Fit& fit = results.fits.splits[i];
        std::vector<std::string_view> names;
        for (const std::size_t workload : fit.fitted) names.push_back(workload_names[workload]);
        add(fmt::format("{}", fmt::join(names, " ")), fit.parameters,
            {Cell::percent(fit.fitted_error), Cell::percent(fit.others_error),
             Cell::percent(results.rooflines.others_errors.at(i))});
    }
    table.add("mean of the splits", {{},
                                     {},
                                     {},
                                     {},
                                     Cell::percent(results.fits.others_mean),
                                     Cell::percent(results.rooflines.others_mean)});
    add("all six", results.fits.all.parameters, {Cell::percent(results.fits.all.fitted_error), {}, {}});
    add("machine file", parameters_of(results.machine), {});
    return table;
}

Table table_1(const Results& results) {
    const auto batch = [](const run::RunRecord& record) { return record.program.batch; };
    const auto weights = [](const run::RunRecord& record) {
        return static_cast<double>(record.program.tile_bytes) / 1e6;
    };
    const auto published = [&](const char* path) { return results.published.workloads(path); };
    Table table = results.table("table_1");
    table.add("batch", of_each(results.base, batch), 0);
    table.add("weights published, 10^6", published("table_1.weights_millions"), 0);
    table.add("weights ours, 10^6", of_each(results.base, weights), 1);
    table.add("MACs a weight byte, published", published("table_1.macs_per_weight_byte"), 0);
    table.add("MACs a weight byte, ours", of_each(results.base, macs_per_weight_byte), 0);
    return table;
}

Table table_3(const Results& results) {
    Table table = results.table("table_3");
    for (std::size_t row = 0; row < table_3_rows.size(); ++row) {
        const auto& [key, title, counter] = table_3_rows[row];
        const ByWorkload<double> published = results.published.table_3(row);
        const ByWorkload<double> ours = table_3_values(row, results.base);
        const double mean = results.published.at(fmt::format("table_3.{}.mean", key));
        table.add(std::string(title), joined(numbers(published, 1), {Cell::number(mean, 1)}));
        table.add("    ours", joined(numbers(ours, 1), {Cell::number(arithmetic_mean(ours), 1)}));
        const std::vector<double> roofline = results.rooflines.table_3(row);
        if (!roofline.empty()) {
            table.add("    roofline",
                      joined(numbers(roofline, 1), {Cell::number(arithmetic_mean(roofline), 1)}));
        }
        table.add("    difference",
                  differences(by_workload([&](std::size_t i) { return ours[i] - published[i]; }), 1));
    }
    return table;
}

Table table_3_differences(const Results& results) {
    Table table = results.table("table_3_differences");
    const double most = results.target.targets.counter_points;
    for (const std::size_t row : partition_rows) {
        const Differences ours = our_differences(results, row);
        const Differences roofline = roofline_differences(results, row);
        table.add(std::string(table_3_rows[row].title),
                  std::array{ours.mean, ours.largest, roofline.mean, roofline.largest, most}, 1);
    }
    return table;
}

Table table_8(const Results& results) {
    Table table = results.table("table_8");
    table.add("published", results.published.workloads("table_8.unified_buffer_mib"), 1);
    table.add("ours", of_each(results.base, buffer_mebibytes), 1);
    return table;
}

}  // namespace

std::vector<Table> counter_tables(const Results& results) {
    return {summary_table(results), cycles_table(results),        fit_table(results), table_1(results),
            table_3(results),       table_3_differences(results), table_8(results)};
}

}  // namespace systole::validate
