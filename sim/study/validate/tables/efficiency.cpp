#include <fmt/format.h>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

constexpr std::size_t tenth = 1;  ///< index into `loads`
constexpr std::size_t full = loads.size() - 1;

Table figure_9_table(const Results& results) {
    const EfficiencyBars ours = server_efficiency(results);
    const EfficiencyBars errors = efficiency_errors(results);
    Table table = results.table("figure_9");
    constexpr std::array<const char*, efficiency_keys.size()> names{"total, GM", "total, WM",
                                                                    "incremental, GM", "incremental, WM"};
    for (std::size_t bar = 0; bar < names.size(); ++bar) {
        const std::string path = fmt::format("figure_9.{}", efficiency_keys[bar]);
        table.add(fmt::format("{}, published", names[bar]), results.published.row(path, server_ratio_names),
                  1);
        table.add("  ours", ours[bar], 1);
        table.add("  error %", differences(errors[bar], 0, 100.0));
    }
    return table;
}

}  // namespace

Table figure_10_table(const Results& results) {
    const Published& published = results.published;
    Table table = results.table("figure_10", {{"busy_gpu", results.gpu.power.busy_watts}});
    for (std::size_t i = 0; i < loads.size(); ++i) {
        Cells cells;
        for (const PowerCurve curve : {TpuWatts, TpuWithHostWatts, GpuWatts, GpuWithHostWatts, CpuWatts}) {
            cells.push_back(Cell::number(published.figure_10(curve)[i], 0));
            cells.push_back(Cell::number(watts(results, curve, CNN0).at(loads[i]), 1));
        }
        table.add(std::string(load_names[i]), std::move(cells));
    }
    return table;
}

Table figure_10_text_table(const Results& results) {
    const Published& published = results.published;
    Table table = results.table("figure_10_text");
    const auto add = [&](Workload workload, const char* said, PowerCurve curve, const char* name) {
        const Cell text =
            *said == '\0' ? Cell() : Cell::number(published.at(fmt::format("figure_10_text.{}", said)), 0);
        const auto points = published.figure_10(curve);
        const Cell figure = workload == CNN0 ? Cell::percent(points[tenth] / points[full], 0) : Cell();
        const double ours = watts(results, curve, workload).share_at(loads[tenth]);
        table.add(fmt::format("{}, {}", workload_names[workload], name),
                  {text, figure, Cell::percent(ours, 0)});
    };
    add(CNN0, "cnn0_percent_at_tenth_load.TPU", TpuWatts, "TPU");
    add(CNN0, "", TpuWithHostWatts, "TPU + host/2");
    add(CNN0, "cnn0_percent_at_tenth_load.CPU", CpuWatts, "CPU");
    add(CNN0, "cnn0_percent_at_tenth_load.GPU", GpuWatts, "GPU");
    add(CNN0, "", GpuWithHostWatts, "GPU + host/4");
    add(LSTM1, "lstm1_percent_at_tenth_load.TPU", TpuWatts, "TPU");
    add(LSTM1, "lstm1_percent_at_tenth_load.CPU", CpuWatts, "CPU");
    add(LSTM1, "lstm1_percent_at_tenth_load.GPU", GpuWatts, "GPU");

    const double tpu_dies = published.at("table_2.tpu_dies");
    const double cpu_dies = published.at("table_2.cpu_dies");
    const auto more = [&](double with_tpus, double cpu) {
        return Cell::percent(with_tpus * tpu_dies / (cpu * cpu_dies) - 1.0, 0);
    };
    table.add("TPU server over CPU server, watts %",
              {Cell::words(fmt::format("<{}", published.count("figure_10_text.tpu_server_extra_percent"))),
               more(published.figure_10(TpuWithHostWatts)[full], published.figure_10(CpuWatts)[full]),
               more(watts(results, TpuWithHostWatts, CNN0).busy, watts(results, CpuWatts, CNN0).busy)});
    table.add("  performance of CNN0, times",
              {Cell::number(published.at("figure_10_text.tpu_server_cnn0_times"), 0),
               {},
               Cell::number(relative_performance(results, TpuOverCpu)[CNN0] * tpu_dies / cpu_dies, 0)});
    return table;
}

std::vector<Table> efficiency_tables(const Results& results) {
    return {figure_9_table(results), figure_10_table(results), figure_10_text_table(results)};
}

}  // namespace systole::validate
