#include <fmt/format.h>

#include "sim/validate/performance.h"
#include "sim/validate/tables/tables.h"

namespace systole::validate {

Table figure_10(const Results& results) {
    const Figure10& published = results.published.figure_10;
    const Figure10Text& text = results.published.figure_10_text;
    const Table2& watts = results.published.table_2;
    Table table{.id = "figure_10",
                .title = "Figure 10: watts a die against load, CNN0",
                .columns = {"load %", "TPU published", "ours", "with host/2 published", "ours"},
                .rows = {},
                .notes = {}};
    for (std::size_t i = 0; i < load_names.size(); ++i) {
        const double load = static_cast<double>(i) / static_cast<double>(load_names.size() - 1);
        const double chip = chip_watts(results, load);
        table.rows.push_back({.label = std::string(load_names[i]),
                              .cells = {Cell::number(published.tpu_watts[i], 0), Cell::number(chip, 1),
                                        Cell::number(published.tpu_with_host_watts[i], 0),
                                        Cell::number(chip + host_watts(results, load), 1)}});
    }
    const auto whole = [](double value) { return Cell::number(value, 0).text(); };
    table.notes.emplace_back(
        fmt::format("Ours: idle watts (Table 2) and what CNN0's events take, in proportion to load; the host "
                    "from its idle "
                    "watts to {} % of its busy ones.",
                    whole(text.host_percent_with_tpus)));
    table.notes.emplace_back(fmt::format(
        "The article contradicts itself: idle is {} W in Table 2 and {} W in the figure; full load is {} W "
        "in "
        "Table 2 and in the text and {} W in the figure; at a tenth of the load it says {} % of the watts at "
        "full load, ours is {} %. A chip whose watts begin at Table 2's idle cannot meet both.",
        whole(watts.tpu_idle_watts), whole(published.tpu_watts[0]), whole(text.tpu_watts_at_full_load),
        whole(published.tpu_watts[load_names.size() - 1]), whole(text.tpu_percent_at_tenth_load),
        whole(100.0 * chip_watts(results, 0.1) / chip_watts(results, 1.0))));
    return table;
}

}  // namespace systole::validate
