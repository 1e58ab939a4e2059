#include <fmt/format.h>

#include <algorithm>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

Table summary_table(const Results& results) {
    const Targets& targets = results.target.targets;
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    double points = 0.0;
    for (const std::size_t row : partition_rows)
        points = std::max(points, table_3_difference(row, results.published, results.base));

    Table table = results.table("summary");
    const auto add = [&](const std::string& what, double ours, double target) {
        table.add(what, {Cell::percent(ours), Cell::percent(target), Cell::met(ours <= target)});
    };
    for (const VariantRecords& zero_fit : results.zero_fit) {
        const CyclesErrors errors = cycles_errors(useful, zero_fit.records);
        add(fmt::format("cycles, nothing fitted, {}: mean error", zero_fit.label), errors.mean,
            targets.mean_cycles_error);
    }
    const CyclesErrors cycles = cycles_errors(useful, results.base);
    add("cycles, three parameters fitted: mean error", cycles.mean, targets.mean_cycles_error);
    add("  largest of the six", cycles.largest, targets.cycles_error);
    add("rows 1, 4, 5, 6 of Table 3: largest difference, points", points / 100.0,
        targets.counter_points / 100.0);
    add("points of Figure 11: largest error",
        largest(sensitivity_errors(results.published, results.weights, results.eight_bit_sensitivity)),
        targets.sensitivity_error);
    add("bars of Figure 9: largest error", largest(efficiency_errors(results)), targets.efficiency_error);
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
    table.add("  in the product's mapping",
              joined(differences(product.by_workload, 1, 100.0), {Cell::percent(product.mean)}));
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
    for (const Fit& fit : results.fits.splits) {
        std::vector<std::string_view> names;
        for (const std::size_t workload : fit.fitted) names.push_back(workload_names[workload]);
        add(fmt::format("{}", fmt::join(names, " ")), fit.parameters,
            {Cell::percent(fit.fitted_error), Cell::percent(fit.others_error)});
    }
    table.add("mean of the splits", {{}, {}, {}, {}, Cell::percent(results.fits.others_mean)});
    add("all six", results.fits.all.parameters, {Cell::percent(results.fits.all.fitted_error), {}});
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
        table.add("    difference",
                  differences(by_workload([&](std::size_t i) { return ours[i] - published[i]; }), 1));
    }
    return table;
}

Table table_3_differences(const Results& results) {
    Table table = results.table("table_3_differences");
    const double most = results.target.targets.counter_points;
    for (const std::size_t row : partition_rows) {
        table.add(std::string(table_3_rows[row].title),
                  std::array{table_3_difference(row, results.published, results.base), most}, 1);
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
