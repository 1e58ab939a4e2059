#include "sim/study/validate/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/latency.h"
#include "sim/view/table/table.h"

namespace systole::validate {
namespace {

/// The figures as they are collected, of one place at a time.
class Collector {
public:
    void at(std::string place, Origin origin, int digits) {
        place_ = std::move(place);
        origin_ = origin;
        digits_ = digits;
    }
    void add(std::string what, double published, std::optional<double> ours,
             std::optional<double> roofline = {}) {
        figures.push_back({.place = place_,
                           .what = std::move(what),
                           .origin = origin_,
                           .published = published,
                           .ours = ours,
                           .roofline = roofline,
                           .digits = digits_});
    }
    template <class Names, class Published, class Ours>
    void add_each(const Names& names, const Published& published, const Ours& ours) {
        for (std::size_t i = 0; i < published.size(); ++i) add(std::string(names[i]), published[i], ours[i]);
    }

    std::vector<Figure> figures;

private:
    std::string place_;
    Origin origin_ = Origin::Simulated;
    int digits_ = 1;
};

void add_counters(const Results& results, Collector& to) {
    for (std::size_t row = 0; row < table_3_rows.size(); ++row) {
        to.at(fmt::format("Table 3, row {}", table_3_rows[row].title), Origin::Simulated, 1);
        const ByWorkload<double> published = results.published.table_3(row);
        const ByWorkload<double> ours = table_3_values(row, results.base);
        const std::vector<double> roofline = results.rooflines.table_3(row);
        for (std::size_t i = 0; i < workload_count; ++i) {
            to.add(std::string(workload_names[i]), published[i], ours[i],
                   roofline.empty() ? std::nullopt : std::optional(roofline[i]));
        }
    }
    to.at("Table 3's text, dense waits, %", Origin::Simulated, 1);
    // By the roofline, none of its other layers waits.
    to.add("CNN1", results.published.at("table_3_text.cnn1_weight_wait_percent"),
           dense_wait_percent(results.base[CNN1]),
           results.rooflines.table_3(3)[CNN1] + results.rooflines.table_3(4)[CNN1]);
}

/// Chip with the host's time: the most within the limit of latency, of the most at the largest batch.
double tpu_percent_of_maximum(const Results& results) {
    const auto figures = [&](const char* path, const run::RunRecord& record) {
        return service_figures(results.published, path, record.program.batch,
                               latency_seconds(record) * (1.0 + host_share(results.published, MLP0)));
    };
    return 100.0 * figures("table_4.tpu.within_limit", results.base[MLP0]).most_in_limit /
           figures("table_4.tpu.at_maximum", results.largest_batch).capacity;
}

void add_time_with_host(const Results& results, Collector& to) {
    const Published& published = results.published;
    for (const auto& [path, record] : {std::pair("table_4.tpu.within_limit", &results.base[MLP0]),
                                       std::pair("table_4.tpu.at_maximum", &results.largest_batch)}) {
        const ServiceFigures ours =
            service_figures(published, path, record->program.batch,
                            latency_seconds(*record) * (1.0 + host_share(published, MLP0)));
        const std::string batch = fmt::format("MLP0, batch {}", record->program.batch);
        to.at("Table 4, p99, ms", Origin::WithHost, 1);
        to.add(batch, published.at(std::string(path) + ".p99_ms"), ours.p99_ms);
        to.at("Table 4, inferences/s", Origin::WithHost, 0);
        to.add(batch, published.at(std::string(path) + ".inferences_per_second"), ours.most_in_limit);
    }
    to.at("Table 4, % of most inferences/s", Origin::WithHost, 0);
    to.add("MLP0, TPU", published.at("table_4.tpu.within_limit.percent_of_maximum"),
           tpu_percent_of_maximum(results));
    to.at("Section 8, inferences/s", Origin::WithHost, 0);
    const ByWorkload<double> rates = inferences_per_second_with_host(results);
    to.add("MLP1", published.at("section_8.mlp1_inferences_per_second"), rates[MLP1]);
    to.add("CNN1", published.at("section_8.cnn1_inferences_per_second"), rates[CNN1]);
    to.at("Table 5, transfers, %", Origin::Simulated, 0);
    to.add_each(workload_names, published.workloads("table_5.host_percent_of_tpu_time"),
                of_each(results.base, link_percent));
}

void add_performance(const Results& results, Collector& to) {
    const Published& published = results.published;
    for (const Ratio ratio : {TpuOverCpu, TpuOverGpu}) {
        to.at(fmt::format("Table 6, {}", ratio_names[ratio]), Origin::Inherited, 1);
        const ByWorkload<double> ours = relative_performance(results, ratio);
        to.add_each(workload_names, published.table_6(ratio), ours);
        to.add("GM", published.row("table_6.geometric_mean", ratio_names)[ratio], geometric_mean(ours));
        to.add("WM", published.row("table_6.weighted_mean", ratio_names)[ratio],
               weighted_mean(results.weights, ours));
    }
    const BaselineErrors& models = results.baseline_errors;
    for (const auto* part : {&models.throughput, &models.latency, &models.batch, &models.ratio}) {
        for (const BaselineErrorRow& row : *part) {
            to.at(fmt::format("{}, {}, {}", row.source,
                              row.baseline.substr(0, row.baseline.find_first_of("_ ")), row.unit),
                  Origin::Model, row.published >= 100.0 ? 0 : 1);
            to.add(row.batch == 0 ? row.workload : fmt::format("{}, batch {}", row.workload, row.batch),
                   row.published, row.ours);
        }
    }
    to.at("Table 4, % of most inferences/s", Origin::Model, 0);
    for (const auto& [name, baseline] : {std::pair("cpu", &results.cpu), std::pair("gpu", &results.gpu)}) {
        std::vector<double> rates;  // within the limit, and the most
        for (const BaselineErrorRow& row : models.throughput) {
            if (row.source == "Table 4" && row.baseline == baseline->name) rates.push_back(row.ours);
        }
        to.add(std::string("MLP0, ") + (baseline == &results.cpu ? "CPU" : "GPU"),
               published.at(fmt::format("table_4.{}.within_limit.percent_of_maximum", name)),
               100.0 * rates.at(0) / rates.at(1));
    }
}

void add_memory(const Results& results, Collector& to) {
    to.at("Table 8, MiB", Origin::Simulated, 1);
    to.add_each(workload_names, results.published.workloads("table_8.unified_buffer_mib"),
                of_each(results.base, buffer_mebibytes));
}

void add_efficiency(const Results& results, Collector& to) {
    const EfficiencyBars ours = server_efficiency(results);
    constexpr std::array<const char*, efficiency_keys.size()> bars{"total, GM", "total, WM",
                                                                   "incremental, GM", "incremental, WM"};
    for (const Origin origin : {Origin::WithHost, Origin::Inherited}) {
        to.at("Figure 9", origin, 1);
        for (std::size_t bar = 0; bar < bars.size(); ++bar) {
            const auto published = results.published.figure_9(bar);
            for (std::size_t i = 0; i < published.size(); ++i) {
                // The speed-up of TPU' over our TPU is simulated; the rest of its bars is inherited.
                const bool has_simulation = i == PrimeOverCpu || i == PrimeOverGpu;
                if (has_simulation != (origin == Origin::WithHost)) continue;
                to.add(fmt::format("{}, {}", server_ratio_names[i], bars[bar]), published[i], ours[bar][i]);
            }
        }
    }
}

void add_watts(const Results& results, Collector& to) {
    constexpr std::array<const char*, power_curve_keys.size()> names{"TPU", "TPU + host/2", "GPU",
                                                                     "GPU + host/4", "CPU"};
    for (std::size_t curve = 0; curve < names.size(); ++curve) {
        // Idle watts are Table 2's, and CNN0's at full load are what energy.die_dynamic_factor is calibrated
        // to.
        const bool of_tpu = curve == TpuWatts || curve == TpuWithHostWatts;
        to.at(fmt::format("Figure 10, {}, W", names[curve]), of_tpu ? Origin::Input : Origin::Model, 0);
        const auto published = results.published.figure_10(static_cast<PowerCurve>(curve));
        const Watts ours = watts(results, static_cast<PowerCurve>(curve), CNN0);
        for (std::size_t load = 0; load < loads.size(); ++load) {
            to.add(fmt::format("{} % load", load_names[load]), published[load], ours.at(loads[load]));
        }
    }
    const std::array<std::pair<const char*, PowerCurve>, 3> processors{
        {{"TPU", TpuWatts}, {"CPU", CpuWatts}, {"GPU", GpuWatts}}};
    for (const auto& [workload, key] : {std::pair(CNN0, "cnn0"), std::pair(LSTM1, "lstm1")}) {
        for (const auto& [name, curve] : processors) {
            // CNN0 is what the TPU's watts are calibrated to.
            const Origin of_tpu = workload == CNN0 ? Origin::Input : Origin::Simulated;
            to.at("Section 6, watts at 10 % load, %", curve == TpuWatts ? of_tpu : Origin::Model, 0);
            to.add(fmt::format("{}, {}", workload_names[workload], name),
                   results.published.at(fmt::format("figure_10_text.{}_percent_at_tenth_load.{}", key, name)),
                   100.0 * watts(results, curve, workload).share_at(0.1));
        }
    }
    // A server is its dies, each with its part of the host.
    const std::array<std::tuple<const char*, const char*, PowerCurve>, 3> servers{
        {{"TPU", "tpu", TpuWithHostWatts}, {"GPU", "gpu", GpuWithHostWatts}, {"CPU", "cpu", CpuWatts}}};
    for (const auto& [name, key, curve] : servers) {
        to.at("Table 2, server, W", curve == GpuWithHostWatts ? Origin::Model : Origin::Input, 0);
        const Watts die = watts(results, curve, CNN0);
        const auto published = [&, &prefix = key](const char* what) {
            return results.published.at(fmt::format("table_2.{}_{}", prefix, what));
        };
        to.add(fmt::format("{}, idle", name), published("server_idle_watts"), die.idle * published("dies"));
        to.add(fmt::format("{}, busy", name), published("server_busy_watts"), die.busy * published("dies"));
    }
}

void add_other_machines(const Results& results, Collector& to) {
    const Published& published = results.published;
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        to.at(fmt::format("Figure 11, {}", curve_names[curve]), Origin::Simulated, 2);
        const auto theirs = published.figure_11(static_cast<Curve>(curve));
        for (std::size_t i = 0; i < scales.size(); ++i) {
            if (scales[i] == 1.0) continue;  // the machine over itself
            to.add(fmt::format("x{}", scale_names[i]), theirs[i],
                   weighted_mean(results.weights, results.eight_bit_sensitivity[curve][i]),
                   weighted_mean(results.weights, results.rooflines.eight_bit_sensitivity[curve][i]));
        }
    }
    const auto means = [&](const std::string& key, const ByWorkload<double>& ours,
                           const ByWorkload<double>& roofline) {
        to.add(key == "both" ? "faster memory and clock, GM" : "faster memory, GM",
               published.at("tpu_prime." + key + "_gm"), geometric_mean(ours), geometric_mean(roofline));
        to.add(key == "both" ? "faster memory and clock, WM" : "faster memory, WM",
               published.at("tpu_prime." + key + "_wm"), weighted_mean(results.weights, ours),
               weighted_mean(results.weights, roofline));
    };
    const Rooflines& rooflines = results.rooflines;
    to.at("Section 7, TPU'", Origin::Simulated, 1);
    means("memory", prime_speedup(results), rooflines.prime_memory);
    means("both", speedup(results.prime_both, results.base), rooflines.prime_both);
    to.at("Section 7, TPU' with host", Origin::WithHost, 1);
    means("with_host", with_host_time(prime_speedup(results), published),
          with_host_time(rooflines.prime_memory, published));
    constexpr std::array<const char*, 2> arrays{"tiling.array_256", "tiling.array_512"};
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::string path = arrays[i];
        const std::string what = fmt::format("array of {}", results.tiling[i].spec.machine.matrix_unit.rows);
        to.at("Section 7, 600 x 600, tiles", Origin::Simulated, 0);
        to.add(what, published.at(path + "_tiles"),
               static_cast<double>(results.tiling[i].counters.at("matrix_unit.tiles").value()),
               static_cast<double>(rooflines.tiling[i].tiles));
        to.at("Section 7, 600 x 600, us", Origin::Simulated, 1);
        to.add(what, published.at(path + "_us"), fetch_microseconds(results.tiling[i]),
               1e6 * rooflines.tiling[i].total / rooflines.chip.clock_hz);
    }
    to.at("Figure 5, ridge", Origin::Input, 0);
    to.add("TPU", published.at("figure_5.ridge_macs_per_byte"), ridge_macs_per_byte(results.machine));
}

/// Of ours or of another value. A published 0 is met by what is shown as 0.
std::optional<double> error_of(const Figure& figure, const std::optional<double>& value) {
    if (!value) return std::nullopt;
    if (figure.published != 0.0) return *value / figure.published - 1.0;
    return tables::rounded(*value, figure.digits) == 0.0 ? std::optional(0.0) : std::nullopt;
}

double size_of(const std::optional<double>& error) {
    return error ? std::abs(*error) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<double> Figure::error() const {
    return error_of(*this, ours);
}

std::optional<double> Figure::roofline_error() const {
    return error_of(*this, roofline);
}

std::vector<Figure> figures_of(const Results& results) {
    Collector all;
    add_counters(results, all);
    add_time_with_host(results, all);
    add_performance(results, all);
    add_memory(results, all);
    add_efficiency(results, all);
    add_watts(results, all);
    add_other_machines(results, all);
    return std::move(all.figures);
}

Closeness closeness(const std::vector<const Figure*>& figures,
                    std::optional<double> (Figure::*error)() const) {
    Closeness result{.figures = figures.size()};
    std::vector<double> sizes;
    for (const Figure* figure : figures) {
        const double size = size_of((figure->*error)());
        sizes.push_back(size);
        for (std::size_t i = 0; i < close_bounds.size(); ++i) result.within[i] += size <= close_bounds[i];
        if (result.worst == nullptr || size > size_of((result.worst->*error)())) result.worst = figure;
    }
    std::ranges::sort(sizes);
    if (!sizes.empty()) {
        const std::size_t middle = sizes.size() / 2;
        result.median = sizes.size() % 2 == 1 ? sizes[middle] : (sizes[middle - 1] + sizes[middle]) / 2.0;
    }
    return result;
}

}  // namespace systole::validate
