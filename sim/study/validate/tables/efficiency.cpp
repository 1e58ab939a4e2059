#include <fmt/format.h>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

constexpr std::size_t tenth = 1;  ///< index into `loads`
constexpr std::size_t full = loads.size() - 1;
constexpr std::array all_curves{TpuWatts, TpuWithHostWatts, GpuWatts, GpuWithHostWatts, CpuWatts};

std::string whole(double value) {
    return Cell::number(value, 0).text();
}

Table figure_9_table(const Results& results) {
    const EfficiencyBars ours = server_efficiency(results);
    const EfficiencyBars errors = efficiency_errors(results);
    Table table{.id = "figure_9",
                .title = "Figure 9: performance per watt of servers",
                .columns = titles("", server_ratio_names)};
    constexpr std::array<const char*, efficiency_keys.size()> names{"total, GM", "total, WM",
                                                                    "incremental, GM", "incremental, WM"};
    for (std::size_t bar = 0; bar < names.size(); ++bar) {
        const std::string path = fmt::format("figure_9.{}", efficiency_keys[bar]);
        table.add(fmt::format("{}, published", names[bar]),
                  numbers(results.published.row(path, server_ratio_names), 1));
        table.add("  ours", numbers(ours[bar], 1));
        table.add("  error %", differences(errors[bar], 0, 100.0));
    }
    table.notes.emplace_back(
        "A mean of performance per die (Table 6; ours of the TPU), times dies, over the server's thermal "
        "design power (Table 2; TPU' as published); incremental without the CPU server's. TPU' is our "
        "simulated TPU with GDDR5, the host's time of Table 5 added. GPU/CPU is the rule alone: nothing in "
        "it is simulated.");
    return table;
}

}  // namespace

Table figure_10_table(const Results& results) {
    const Published& published = results.published;
    Table table{.id = "figure_10",
                .title = "Figure 10: watts a die against load of CNN0, published and ours",
                .columns = {"load %", "TPU", "ours", "+host/2", "ours", "GPU", "ours", "+host/4", "ours",
                            "CPU", "ours"}};
    for (std::size_t i = 0; i < loads.size(); ++i) {
        Cells cells;
        for (const PowerCurve curve : all_curves) {
            cells.push_back(Cell::number(published.figure_10(curve)[i], 0));
            cells.push_back(Cell::number(watts(results, curve, CNN0).at(loads[i]), 1));
        }
        table.add(std::string(load_names[i]), std::move(cells));
    }
    table.notes.emplace_back(fmt::format(
        "Ours in proportion to load. TPU: its idle watts (Table 2) and what CNN0's events take. GPU, and CPU "
        "as its part of a server: from idle to busy watts of configs/baselines. The host: from its idle "
        "watts to {} % of its busy ones with TPUs, {} % with GPUs, as the text says.",
        whole(published.at("figure_10_text.host_percent_with_tpus")),
        whole(published.at("figure_10_text.host_percent_with_gpus"))));
    table.notes.emplace_back(fmt::format(
        "The article contradicts itself: the idle TPU has {} W in Table 2 and {} W in the figure; at full "
        "load it has {} W in Table 2, {} W in the text and {} W in the figure, and the GPU {} W in Table 2 "
        "and {} W in the figure. What begins and ends at Table 2's watts cannot meet the figure's.",
        whole(published.at("table_2.tpu_idle_watts")), whole(published.figure_10(TpuWatts)[0]),
        whole(published.at("table_2.tpu_busy_watts")),
        whole(published.at("figure_10_text.tpu_watts_at_full_load")),
        whole(published.figure_10(TpuWatts)[full]), whole(results.gpu.power.busy_watts),
        whole(published.figure_10(GpuWatts)[full])));
    return table;
}

Table figure_10_text_table(const Results& results) {
    const Published& published = results.published;
    Table table{.id = "figure_10_text",
                .title = "What the text says of Figure 10: watts at a tenth of the load, % of full load",
                .columns = {"", "text", "figure", "ours"}};
    const auto add = [&](Workload workload, const char* name, PowerCurve curve, const Cell& text,
                         const Cell& figure) {
        const double ours = watts(results, curve, workload).share_at(loads[tenth]);
        table.add(fmt::format("{}, {}", workload_names[workload], name),
                  {text, figure, Cell::percent(ours, 0)});
    };
    const auto text = [&](const char* path) { return Cell::number(published.at(path), 0); };
    const auto figure = [&](PowerCurve curve) {
        const auto points = published.figure_10(curve);
        return Cell::percent(points[tenth] / points[full], 0);
    };
    const auto add_cnn0 = [&](const char* name, PowerCurve curve, const Cell& said) {
        add(CNN0, name, curve, said, figure(curve));
    };
    add_cnn0("TPU", TpuWatts, text("figure_10_text.cnn0_percent_at_tenth_load.TPU"));
    add_cnn0("TPU + host/2", TpuWithHostWatts, {});
    add_cnn0("CPU", CpuWatts, text("figure_10_text.cnn0_percent_at_tenth_load.CPU"));
    add_cnn0("GPU", GpuWatts, text("figure_10_text.cnn0_percent_at_tenth_load.GPU"));
    add_cnn0("GPU + host/4", GpuWithHostWatts, {});
    add(LSTM1, "TPU", TpuWatts, text("figure_10_text.lstm1_percent_at_tenth_load.TPU"), {});
    add(LSTM1, "CPU", CpuWatts, text("figure_10_text.lstm1_percent_at_tenth_load.CPU"), {});
    add(LSTM1, "GPU", GpuWatts, text("figure_10_text.lstm1_percent_at_tenth_load.GPU"), {});

    const double tpu_dies = published.at("table_2.tpu_dies");
    const double cpu_dies = published.at("table_2.cpu_dies");
    const auto more = [&](double with_tpus, double cpu) {
        return Cell::percent(with_tpus * tpu_dies / (cpu * cpu_dies) - 1.0, 0);
    };
    table.add("TPU server over CPU server, watts %",
              {Cell::words("<" + whole(published.at("figure_10_text.tpu_server_extra_percent"))),
               more(published.figure_10(TpuWithHostWatts)[full], published.figure_10(CpuWatts)[full]),
               more(watts(results, TpuWithHostWatts, CNN0).busy, watts(results, CpuWatts, CNN0).busy)});
    table.add("  performance of CNN0, times",
              {Cell::number(published.at("figure_10_text.tpu_server_cnn0_times"), 0),
               {},
               Cell::number(relative_performance(results, TpuOverCpu)[CNN0] * tpu_dies / cpu_dies, 0)});
    table.notes.emplace_back(
        "Figure: the same from its own points; the text's per cent of the GPU are those of the GPU with its "
        "host. Ours of CPU and GPU know two watts of each and no workload. A straight line from idle to busy "
        "is not what chips do: by the figure the GPU jumps from its idle watts to more than half of all it "
        "takes as soon as there is any load. The server has the TPUs in addition to its CPUs.");
    return table;
}

std::vector<Table> efficiency_tables(const Results& results) {
    return {figure_9_table(results), figure_10_table(results), figure_10_text_table(results)};
}

}  // namespace systole::validate
