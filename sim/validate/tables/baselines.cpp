#include <fmt/format.h>

#include <cmath>

#include "sim/validate/tables/tables.h"

namespace systole::validate {

Table baselines_table(const Results& results) {
    Table table{.id = "baselines",
                .title = "CPU and GPU: their efficiency models against their published rows",
                .columns = {"", "workload", "batch", "unit", "published", "ours", "error %"},
                .rows = {},
                .notes = {}};
    const auto add = [&](const std::vector<baselines::ModelErrorRow>& rows, bool named) {
        for (const baselines::ModelErrorRow& row : rows) {
            const std::string whose = named ? row.baseline.substr(0, row.baseline.find('_')) : "k80/haswell";
            table.rows.push_back(
                {.label = fmt::format("{}, {}", row.source, whose),
                 .cells = {Cell::words(row.workload), row.batch == 0 ? Cell() : Cell::number(row.batch, 0),
                           Cell::words(row.unit), Cell::number(row.published, row.published < 100.0 ? 1 : 0),
                           Cell::number(row.ours, row.published < 100.0 ? 2 : 0),
                           Cell::difference(100.0 * row.error, 0)}});
        }
    };
    add(results.baseline_errors.throughput, true);
    add(results.baseline_errors.latency, true);
    add(results.baseline_errors.ratio, false);
    if (const auto summary = baselines::summarize(results.baseline_errors.throughput)) {
        std::string note =
            fmt::format("Absolute error of throughput: least {:.0f} %, mean {:.0f} %, most {:.0f} %",
                        100.0 * summary->least, 100.0 * summary->mean, 100.0 * summary->most);
        if (summary->held_out_mean) {
            note += fmt::format("; {:.0f} % where a row is not fitted to", 100.0 * *summary->held_out_mean);
        }
        table.notes.emplace_back(
            note + ". A roofline with a cost of layers cannot know six applications' software.");
    }
    return table;
}

}  // namespace systole::validate
