#include <fmt/format.h>

#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

Row error_row(const BaselineErrorRow& row, const std::string& whose) {
    const bool large = row.published >= 100.0;
    Row line{.label = fmt::format("{}, {}", row.source, whose),
             .cells = {Cell::words(row.workload), row.batch == 0 ? Cell() : Cell::number(row.batch, 0),
                       Cell::words(row.unit), Cell::number(row.published, large ? 0 : 1),
                       Cell::number(row.ours, large ? 0 : 2), Cell::difference(100.0 * row.error, 0)}};
    line.cells.push_back(row.held_out_error ? Cell::difference(100.0 * *row.held_out_error, 0) : Cell());
    return line;
}

}  // namespace

Table baselines_table(const Results& results) {
    const BaselineErrors& errors = results.baseline_errors;
    Table table{.id = "baselines",
                .title = "CPU and GPU: their efficiency models against their published rows",
                .columns = {"", "workload", "batch", "unit", "published", "ours", "error %", "held out"}};
    for (const auto* part : {&errors.throughput, &errors.latency, &errors.batch}) {
        for (const BaselineErrorRow& row : *part) {
            table.rows.push_back(error_row(row, row.baseline.substr(0, row.baseline.find('_'))));
        }
    }
    for (const BaselineErrorRow& row : errors.ratio) table.rows.push_back(error_row(row, "GPU/CPU"));

    table.notes.emplace_back(
        "Held out: the error in a row when the efficiency is fitted to the other rows of the baseline. ms: "
        "99th percentile of latency. Batch: the largest of MLP0 within the limit of latency.");
    for (const baselines::Baseline* baseline : {&results.cpu, &results.gpu}) {
        const auto summary = summarize(errors.throughput, baseline->name);
        if (!summary) continue;
        std::string note =
            fmt::format("{}: throughput is off by {:.0f} to {:.0f} %, mean {:.0f} %", baseline->name,
                        100.0 * summary->least, 100.0 * summary->most, 100.0 * summary->mean);
        if (summary->held_out_mean)
            note += fmt::format("; held out {:.0f} %", 100.0 * *summary->held_out_mean);
        table.notes.emplace_back(note + ".");
    }
    table.notes.emplace_back("A roofline with a cost of layers cannot know six applications' software.");
    return table;
}

}  // namespace systole::validate
