#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"

namespace systole::validate {
namespace {

// How the words of the article are read.
constexpr double a_quarter = 0.25;  ///< "about 3": within a quarter
constexpr double nothing = 1.15;    ///< "nothing", "almost nothing": less than this factor
constexpr double little = 1.5;      ///< "little": less than this factor
constexpr double slightly = 0.75;   ///< "slightly worse for all": each at least this factor, and below 1
constexpr double half_full = 0.5;   ///< share of the peak: "begins to fill the array"
constexpr std::size_t doubled = 3;  ///< index into `scales`
constexpr std::size_t fourfold = 4;

const Workloads memory_bound{MLP0, MLP1, LSTM0, LSTM1};

Table figure_11_table(const Results& results) {
    const auto largest_error = [&](const Sensitivity& ours) {
        return 100.0 * largest(sensitivity_errors(results.published, results.weights, ours));
    };
    Table table = results.table("figure_11", {{"largest_8_bit", largest_error(results.eight_bit_sensitivity)},
                                              {"largest_16_bit", largest_error(results.sensitivity)}});
    const auto add = [&](const char* label, const Sensitivity& ours, Curve curve) {
        const auto errors = sensitivity_errors(results.published, results.weights, ours)[curve];
        const double most = std::ranges::max(errors, {}, [](double error) { return std::abs(error); });
        Cells cells;
        for (const ByWorkload<double>& point : ours[curve]) {
            cells.push_back(Cell::number(weighted_mean(results.weights, point), 2));
        }
        table.add(label, joined(std::move(cells), {Cell::difference(100.0 * most, 0)}));
    };
    for (const Curve curve : {Memory, Clock, ClockPlus, Matrix, MatrixPlus}) {
        table.add(fmt::format("{}, published", curve_names[curve]), results.published.figure_11(curve), 2);
        add("  ours, LSTMs 8-bit", results.eight_bit_sensitivity, curve);
        add("  ours, LSTMs 16-bit", results.sensitivity, curve);
        add("  roofline, LSTMs 8-bit", results.rooflines.eight_bit_sensitivity, curve);
    }
    return table;
}

/// The numbers in the reasons why statements do not hold.
std::map<std::string, double> reasons(const Results& results) {
    const Sensitivity& ours = results.eight_bit_sensitivity;
    const auto published = [&](Curve curve, std::size_t scale) {
        return results.published.figure_11(curve)[scale];
    };
    // The factor that a published mean leaves to the CNNs if MLPs and LSTMs stay as they are.
    const auto left_to_cnns = [&](Curve curve) {
        const double cnns = results.weights[CNN0] + results.weights[CNN1];
        return (published(curve, fourfold) - (1.0 - cnns)) / cnns;
    };
    const auto mean = [&](Curve curve) { return weighted_mean(results.weights, ours[curve][doubled]); };
    std::map<std::string, double> numbers{
        {"clock_left_to_cnns", left_to_cnns(Clock)},
        {"clock_plus_left_to_cnns", left_to_cnns(ClockPlus)},
        {"matrix_cnn1", ours[Matrix][doubled][CNN1]},
        {"matrix_plus_cnn1", ours[MatrixPlus][doubled][CNN1]},
        {"published_matrix_plus_gain", published(MatrixPlus, doubled) - published(Matrix, doubled)},
        {"matrix_plus_gain", mean(MatrixPlus) - mean(Matrix)}};
    double gain = 0.0;
    for (const std::size_t i : memory_bound) {
        // Figure 11 leaves out the cycles in which the chip waits only for the host.
        const run::RunRecord& record = results.base[i];
        const auto host = static_cast<double>(host_only_cycles(record));
        const auto non_matrix =
            static_cast<double>(record.counters.at("matrix_unit.non_matrix_cycles").value());
        numbers[fmt::format("non_matrix_{}", workload_names[i])] =
            100.0 * (non_matrix - host) / (static_cast<double>(record.cycles) - host);
        const double kept = results.published.table_3(5)[i] / 100.0;
        gain += 1.0 / (kept + (1.0 - kept) / scales[fourfold]);
    }
    numbers["memory_gain"] = gain / static_cast<double>(memory_bound.size());
    return numbers;
}

Table prime_table(const Results& results) {
    Table table = results.table("tpu_prime");
    const auto theirs = [&](const char* label, const std::string& key) {
        Cells cells(workload_count);
        for (const char* const mean : {"_gm", "_wm"}) {
            cells.push_back(Cell::number(results.published.at("tpu_prime." + key + mean), 1));
        }
        table.add(label, std::move(cells));
    };
    const auto ours = [&](const char* label, const ByWorkload<double>& factors) {
        table.add(label, factors_and_means(factors, results.weights, 2));
    };
    theirs("memory published", "memory");
    ours("  ours", prime_speedup(results));
    ours("  roofline", results.rooflines.prime_memory);
    ours("clock ours", speedup(results.prime_clock, results.base));
    theirs("both published", "both");
    ours("  ours", speedup(results.prime_both, results.base));
    ours("  roofline", results.rooflines.prime_both);
    theirs("memory, host published", "with_host");
    ours("  ours", with_host_time(prime_speedup(results), results.published));
    ours("  roofline", with_host_time(results.rooflines.prime_memory, results.published));
    return table;
}

Table tiling_table(const Results& results) {
    Table table = results.table("tiling");
    constexpr std::array<const char*, 2> arrays{"tiling.array_256", "tiling.array_512"};
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::string path = arrays[i];
        const run::RunRecord& ours = results.tiling[i];
        table.add(
            fmt::format("{0} x {0}", ours.spec.machine.matrix_unit.rows),
            {Cell::number(results.published.at(path + "_tiles"), 0),
             Cell::number(static_cast<double>(ours.counters.at("matrix_unit.tiles").value()), 0),
             Cell::number(results.published.at(path + "_us"), 0), Cell::number(fetch_microseconds(ours), 1)});
    }
    return table;
}

Table claim_table(const Results& results) {
    const ByWorkload<double> over_cpu = relative_performance(results, TpuOverCpu);
    const ByWorkload<double> over_gpu = relative_performance(results, TpuOverGpu);
    const EfficiencyBars per_watt = server_efficiency(results);
    Table table = results.table("claim");
    const auto claimed = [&](const std::string& what) {
        return Cell::words(fmt::format("{:.0f} to {:.0f} times", results.published.at(what + "_from"),
                                       results.published.at(what + "_to")));
    };
    const auto add = [&](const char* label, Cell claim, double gpu, double cpu, const Cells& more = {}) {
        table.add(label, joined({std::move(claim), Cell::number(gpu, 1), Cell::number(cpu, 1)}, more));
    };
    const auto add_performance = [&](const char* label, Cell claim, const ByWorkload<double>& gpu,
                                     const ByWorkload<double>& cpu) {
        const double least = std::min(std::ranges::min(cpu), std::ranges::min(gpu));
        const double most = std::max(std::ranges::max(cpu), std::ranges::max(gpu));
        add(label, std::move(claim), weighted_mean(results.weights, gpu), weighted_mean(results.weights, cpu),
            numbers(std::array{least, most}, 1));
    };
    add_performance("performance", claimed("claim.performance"), over_gpu, over_cpu);
    add_performance("  without inheritance", {}, modelled_performance(results, TpuOverGpu),
                    modelled_performance(results, TpuOverCpu));
    add("a watt, incremental", claimed("claim.per_watt"), per_watt[IncrementalWm][TpuOverGpu],
        per_watt[IncrementalWm][TpuOverCpu]);
    add("a watt, total", {}, per_watt[TotalWm][TpuOverGpu], per_watt[TotalWm][TpuOverCpu]);
    return table;
}

Table article_cnn_table(const Results& results) {
    Table table = results.table("article_cnn");
    for (const studies::FillRow& row : results.array_fill) {
        Cells cells{Cell::number(row.point.network.width_multiplier, 0), Cell::number(row.point.batch, 0)};
        if (row.error.empty()) {
            for (const double share :
                 {row.useful, row.active, row.weight_stall, row.weight_shift, row.non_matrix}) {
                cells.push_back(Cell::percent(share));
            }
            cells.push_back(Cell::number(row.inferences_per_second, 0));
        }
        table.add(fmt::format("{}", row.point.network.size_multiplier), std::move(cells));
    }
    const auto first = studies::first_above(results.array_fill, half_full);
    table.notes.back() +=
        first ? fmt::format(" The first to use more than half of the array: size {}, width {}, batch {}.",
                            first->point.network.size_multiplier, first->point.network.width_multiplier,
                            first->point.batch)
              : std::string(" None of them uses more than half of the array.");
    return table;
}

Table contradictions_table(const Results& results) {
    const Published& published = results.published;
    const auto row = [&](std::size_t number) { return published.table_3(number - 1); };
    // A bar is a weighted mean times the factor that the rule of Figure 9 gives for the servers.
    const auto bars = published.row("figure_9.total_wm", server_ratio_names);
    const double of_tpu = bars[TpuOverCpu] * published.at("table_2.tpu_server_tdp_watts");
    const double of_prime = bars[PrimeOverCpu] * published.at("tpu_prime.server_tdp_watts");
    const double weights = published.at("table_1.weights_millions.CNN1");
    const double macs_per_weight =
        published.at("table_1.macs_per_weight_byte.CNN1") / published.at("table_1.batch.CNN1");
    std::map<std::string, double> numbers{
        {"mean_of_row_4", arithmetic_mean(row(4))},
        {"figure_1_gb_per_s", published.at("figure_1.weight_memory_gib_per_s") * 1.073741824},
        {"gmacs_by_table_1", weights * macs_per_weight / 1e3},
        {"gmacs_by_row_9", row(9)[CNN1] * 1e3 / 2.0 / published.at("section_8.cnn1_inferences_per_second")},
        {"busy_gpu", results.gpu.power.busy_watts},
        {"prime_by_figure_9", of_prime / of_tpu}};
    for (std::size_t i = 0; i < workload_count; ++i) {
        numbers[fmt::format("tops_by_row_2_{}", workload_names[i])] =
            published.at("table_2.peak_tops") * row(2)[i] / 100.0;
        numbers[fmt::format("rows_7_and_8_{}", workload_names[i])] = row(7)[i] + row(8)[i];
    }
    return results.table("contradictions", numbers);
}

}  // namespace

Table statements_table(const Results& results) {
    const Workloads& all = all_workloads;
    const Workloads cnns{CNN0, CNN1};
    Table table = results.table("statements", reasons(results));
    // Adds our factors of the named workloads. `rule` decides by their mean, the least and the largest.
    const auto add = [&](std::string label, const Workloads& named, Curve curve, std::size_t scale,
                         const auto& rule) {
        const ByWorkload<double>& factors = results.eight_bit_sensitivity[curve][scale];
        Cells cells(workload_count);
        double sum = 0.0;
        double least = factors[named.front()];
        double most = least;
        for (const std::size_t i : named) {
            cells[i] = Cell::number(factors[i], 2);
            sum += factors[i];
            least = std::min(least, factors[i]);
            most = std::max(most, factors[i]);
        }
        const double mean = named.size() == workload_count ? weighted_mean(results.weights, factors)
                                                           : sum / static_cast<double>(named.size());
        const bool holds = rule(mean, least, most);
        table.add(std::move(label), joined(std::move(cells), {Cell::number(mean, 2), Cell::met(holds)}));
        return holds;
    };
    const auto about = [](double said) {
        return [said](double mean, double, double) { return std::abs(mean / said - 1.0) <= a_quarter; };
    };
    const auto below = [](double limit) {
        return [limit](double, double, double most) { return most < limit; };
    };
    const auto slightly_worse = [](double, double least, double most) {
        return least >= slightly && most < 1.0;
    };

    const double on_average = results.published.at("figure_11_text.memory_4x_mean");
    const double mlp_lstm = results.published.at("figure_11_text.memory_4x_mlp_lstm");
    const double cnn = results.published.at("figure_11_text.clock_4x_cnn");
    add(fmt::format("memory x4: x{:.0f} on average", on_average), all, Memory, fourfold, about(on_average));
    const bool memory_holds = add(fmt::format("memory x4: MLP, LSTM x{:.0f}", mlp_lstm), memory_bound, Memory,
                                  fourfold, about(mlp_lstm));
    add("memory x4: CNN little", cnns, Memory, fourfold, below(little));
    add("clock x4: MLP, LSTM same", memory_bound, Clock, fourfold, below(nothing));
    const bool clock_holds =
        add(fmt::format("clock x4: CNN x{:.0f}", cnn), cnns, Clock, fourfold, about(cnn));
    add("clock+ x4: MLP, LSTM same", memory_bound, ClockPlus, fourfold, below(nothing));
    add(fmt::format("clock+ x4: CNN x{:.0f}", cnn), cnns, ClockPlus, fourfold, about(cnn));
    const bool larger_holds = add("512x512: slightly worse", all, Matrix, doubled, slightly_worse);
    const bool plus_holds = add("512x512+: slightly worse", all, MatrixPlus, doubled, slightly_worse);

    // The last notes are the reasons; those for what holds are left out.
    auto reason = table.notes.end() - statement_reasons;
    for (const bool holds : {memory_holds, clock_holds, larger_holds && plus_holds}) {
        reason = holds ? table.notes.erase(reason) : reason + 1;
    }
    return table;
}

std::vector<Table> study_tables(const Results& results) {
    return {figure_11_table(results),     statements_table(results), prime_table(results),
            tiling_table(results),        claim_table(results),      article_cnn_table(results),
            contradictions_table(results)};
}

}  // namespace systole::validate
