#include "sim/study/validate/noticing.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/study/validate/simulate.h"

namespace systole::validate {
namespace {

constexpr std::size_t speed_row = 8;  ///< index into table_3_rows: operations a second

class FigureList {
public:
    void share(std::string name, double published, double ours) {
        figures.push_back({std::move(name), true, published, ours});
    }
    void ratio(std::string name, double published, double ours) {
        figures.push_back({std::move(name), false, published, ours});
    }

    std::vector<NoticingFigure> figures;
};

void add_table_figures(const Published& published, const ByWorkload<run::RunRecord>& runs, FigureList& to) {
    for (std::size_t row = 0; row < table_3_rows.size(); ++row) {
        const ByWorkload<double> theirs = published.table_3(row);
        const ByWorkload<double> ours = table_3_values(row, runs);
        for (std::size_t i = 0; i < workload_count; ++i) {
            std::string name = fmt::format("Table 3, row {}, {}", table_3_rows[row].title, workload_names[i]);
            // Cycles go as one over row 2, operations a second as row 9: their errors are ratios.
            if (row == useful_row || row == speed_row) {
                to.ratio(std::move(name), theirs[i], ours[i]);
            } else {
                to.share(std::move(name), theirs[i], ours[i]);
            }
        }
    }
    const auto transfers = published.workloads("table_5.host_percent_of_tpu_time");
    const auto buffer = published.workloads("table_8.unified_buffer_mib");
    for (std::size_t i = 0; i < workload_count; ++i) {
        to.share(fmt::format("Table 5, transfers, {}", workload_names[i]), transfers[i],
                 link_percent(runs[i]));
        to.ratio(fmt::format("Table 8, unified buffer, {}", workload_names[i]), buffer[i],
                 buffer_mebibytes(runs[i]));
    }
}

void add_watt_figures(const Published& published, const ByWorkload<run::RunRecord>& runs, FigureList& to) {
    const Watts cnn0 = die_watts(runs[CNN0]);
    const auto curve = published.figure_10(TpuWatts);
    to.ratio("Table 2, idle watts", published.at("table_2.tpu_idle_watts"), cnn0.idle);
    to.ratio("Table 2, busy watts, CNN0", published.at("table_2.tpu_busy_watts"), cnn0.busy);
    for (const std::size_t load : {std::size_t{0}, loads.size() - 1}) {
        to.ratio(fmt::format("Figure 10, watts at {} % load", load_names[load]), curve[load],
                 cnn0.at(loads[load]));
    }
    for (const auto& [workload, key] : {std::pair(CNN0, "cnn0"), std::pair(LSTM1, "lstm1")}) {
        to.share(fmt::format("section 6, watts at a tenth of the load, {}", workload_names[workload]),
                 published.at(fmt::format("figure_10_text.{}_percent_at_tenth_load.TPU", key)),
                 100.0 * die_watts(runs[workload]).share_at(0.1));
    }
}

}  // namespace

double NoticingFigure::error() const {
    return is_share ? std::abs(ours - published) : 100.0 * std::abs(ours / published - 1.0);
}

std::vector<NoticingFigure> noticing_figures(const Published& published, const MachineRuns& runs) {
    FigureList all;
    add_table_figures(published, runs.workloads, all);
    add_watt_figures(published, runs.workloads, all);
    const machine::MachineConfig& machine = runs.tiling.spec.machine;
    all.ratio("Table 2, peak TOPS", published.at("table_2.peak_tops"), machine.peak_ops_per_second() / 1e12);
    all.ratio("section 7, tiles of a 600 x 600 matrix", published.at("tiling.array_256_tiles"),
              static_cast<double>(runs.tiling.counters.at("matrix_unit.tiles").value()));
    all.ratio("section 7, time of a 600 x 600 matrix", published.at("tiling.array_256_us"),
              fetch_microseconds(runs.tiling));
    return std::move(all.figures);
}

std::string Growth::text() const {
    return fmt::format("{}: {:.1f} -> {:.1f} {}", figure, before, after, is_share ? "points" : "%");
}

std::optional<Growth> largest_growth(const std::vector<NoticingFigure>& before,
                                     const std::vector<NoticingFigure>& after) {
    std::optional<Growth> most;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double was = before[i].error();
        const double is = after.at(i).error();
        const double least = most ? most->after - most->before : 0.0;
        if (!(is - was > least)) continue;  // also if an error is no number
        most = Growth{.figure = before[i].name, .is_share = before[i].is_share, .before = was, .after = is};
    }
    return most;
}

}  // namespace systole::validate
