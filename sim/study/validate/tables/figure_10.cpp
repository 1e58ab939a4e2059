#include <fmt/format.h>

#include "sim/study/validate/performance.h"
#include "sim/study/validate/power.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

constexpr std::size_t tenth = 1;  ///< of `loads`
constexpr std::size_t full = loads.size() - 1;

std::string whole(double value) {
    return Cell::number(value, 0).text();
}

/// What the text says of proportionality, in per cent.
struct Statement {
    const char* label;
    PowerCurve curve;
    std::optional<std::size_t> processor;  ///< of `processor_names`; none: the text says nothing
};

constexpr std::array<Statement, power_curve_keys.size()> statements{{{"TPU", TpuWatts, 0},
                                                                     {"TPU + host/2", TpuWithHostWatts, {}},
                                                                     {"CPU", CpuWatts, 1},
                                                                     {"GPU", GpuWatts, 2},
                                                                     {"GPU + host/4", GpuWithHostWatts, {}}}};

}  // namespace

Table figure_10(const Results& results) {
    const Figure10& published = results.published.figure_10;
    const Figure10Text& text = results.published.figure_10_text;
    const Table2& table_2 = results.published.table_2;
    Table table{.id = "figure_10",
                .title = "Figure 10: watts a die against load of CNN0, published and ours",
                .columns = {"load %", "TPU", "ours", "+host/2", "ours", "GPU", "ours", "+host/4", "ours",
                            "CPU", "ours"}};
    for (std::size_t i = 0; i < loads.size(); ++i) {
        Row row{.label = std::string(load_names[i]), .cells = {}};
        for (std::size_t curve = 0; curve < power_curve_keys.size(); ++curve) {
            row.cells.push_back(Cell::number(published.curves[curve][i], 0));
            row.cells.push_back(
                Cell::number(watts(results, static_cast<PowerCurve>(curve), CNN0).at(loads[i]), 1));
        }
        table.rows.push_back(std::move(row));
    }
    table.notes.emplace_back(fmt::format(
        "Ours in proportion to load. TPU: its idle watts (Table 2) and what CNN0's events take. GPU, and CPU "
        "as its part of a server: from idle to busy watts of configs/baselines. The host: from its idle "
        "watts to {} % of its busy ones with TPUs, {} % with GPUs, as the text says.",
        whole(text.host_percent_with_tpus), whole(text.host_percent_with_gpus)));
    table.notes.emplace_back(fmt::format(
        "The article contradicts itself: the idle TPU has {} W in Table 2 and {} W in the figure; at full "
        "load it has {} W in Table 2, {} W in the text and {} W in the figure, and the GPU {} W in Table 2 "
        "and {} W in the figure. What begins and ends at Table 2's watts cannot meet the figure's.",
        whole(table_2.tpu_idle_watts), whole(published.curves[TpuWatts][0]), whole(table_2.tpu_busy_watts),
        whole(text.tpu_watts_at_full_load), whole(published.curves[TpuWatts][full]),
        whole(results.gpu.power.busy_watts), whole(published.curves[GpuWatts][full])));
    return table;
}

Table figure_10_text(const Results& results) {
    const Published& published = results.published;
    const Figure10Text& text = published.figure_10_text;
    Table table{.id = "figure_10_text",
                .title = "What the text says of Figure 10: watts at a tenth of the load, % of full load",
                .columns = {"", "text", "figure", "ours"}};
    const auto add = [&](Workload workload, const PerProcessor& percents, bool drawn) {
        for (const Statement& statement : statements) {
            if (!statement.processor && !drawn) continue;
            const PerLoad& curve = published.figure_10.curves[statement.curve];
            table.rows.push_back(
                {.label = fmt::format("{}, {}", workload_names[workload], statement.label),
                 .cells = {
                     statement.processor ? Cell::number(percents[*statement.processor], 0) : Cell(),
                     drawn ? Cell::percent(curve[tenth] / curve[full], 0) : Cell(),
                     Cell::percent(watts(results, statement.curve, workload).share_at(loads[tenth]), 0)}});
        }
    };
    add(CNN0, text.cnn0_percent_at_tenth_load, true);
    add(LSTM1, text.lstm1_percent_at_tenth_load, false);

    const Table2& table_2 = published.table_2;
    const auto more = [&](double with_tpus, double cpu) {
        return Cell::percent(with_tpus * table_2.tpu_dies / (cpu * table_2.cpu_dies) - 1.0, 0);
    };
    const auto& curves = published.figure_10.curves;
    table.rows.push_back(
        {.label = "TPU server over CPU server, watts %",
         .cells = {Cell::words("<" + whole(text.tpu_server_extra_percent)),
                   more(curves[TpuWithHostWatts][full], curves[CpuWatts][full]),
                   more(watts(results, TpuWithHostWatts, CNN0).busy, watts(results, CpuWatts, CNN0).busy)}});
    table.rows.push_back({.label = "  performance of CNN0, times",
                          .cells = {Cell::number(text.tpu_server_cnn0_times, 0), Cell(),
                                    Cell::number(relative_performance(results).ours[TpuOverCpu][CNN0] *
                                                     table_2.tpu_dies / table_2.cpu_dies,
                                                 0)}});
    table.notes.emplace_back(
        "Figure: the same from its own points; the text's per cent of the GPU are those of the GPU with its "
        "host. Ours of CPU and GPU know two watts of each and no workload. A straight line from idle to busy "
        "is not what chips do: by the figure the GPU jumps from its idle watts to more than half of all it "
        "takes as soon as there is any load. The server has the TPUs in addition to its CPUs.");
    return table;
}

}  // namespace systole::validate
