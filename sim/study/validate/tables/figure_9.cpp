#include "sim/study/validate/performance.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table figure_9(const Results& results) {
    const Figure9& published = results.published.figure_9;
    const ServerEfficiency ours = server_efficiency(results);
    const EfficiencyErrors errors = efficiency_errors(results);
    Table table{.id = "figure_9", .title = "Figure 9: performance per watt of servers", .columns = {""}};
    table.columns.insert(table.columns.end(), server_ratio_names.begin(), server_ratio_names.end());
    const auto add = [&](const char* name, const PerServerRatio& theirs, const auto& our, std::size_t bar) {
        Row first{.label = std::string(name) + ", published", .cells = {}};
        Row second{.label = "  ours", .cells = {}};
        Row third{.label = "  error %", .cells = {}};
        for (std::size_t i = 0; i < server_ratio_names.size(); ++i) {
            first.cells.push_back(Cell::number(theirs[i], 1));
            second.cells.push_back(Cell::number(our(i), 1));
            third.cells.push_back(Cell::difference(100.0 * errors.at(bar)[i], 0));
        }
        table.rows.push_back(std::move(first));
        table.rows.push_back(std::move(second));
        table.rows.push_back(std::move(third));
    };
    add(
        "total, GM", published.total_gm, [&](std::size_t i) { return ours.geometric[i].total; }, 0);
    add(
        "total, WM", published.total_wm, [&](std::size_t i) { return ours.weighted[i].total; }, 1);
    add(
        "incremental, GM", published.incremental_gm,
        [&](std::size_t i) { return ours.geometric[i].incremental; }, 2);
    add(
        "incremental, WM", published.incremental_wm,
        [&](std::size_t i) { return ours.weighted[i].incremental; }, 3);
    table.notes.emplace_back(
        "A mean of performance per die (Table 6; ours of the TPU), times dies, over the server's thermal "
        "design power (Table 2; TPU' as published); incremental without the CPU server's. TPU' is our "
        "simulated TPU with GDDR5, the host's time of Table 5 added. GPU/CPU is the rule alone: nothing in "
        "it is simulated.");
    return table;
}

}  // namespace systole::validate
