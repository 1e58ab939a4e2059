#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/study/validate/counters.h"
#include "sim/study/validate/rows.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

/// How the article's words are read.
constexpr double about = 0.25;      ///< "about 3": within a quarter
constexpr double nothing = 1.15;    ///< "nothing", "almost nothing": less than this factor
constexpr double little = 1.5;      ///< "little": less than this factor
constexpr double slightly = 0.75;   ///< "slightly worse": on average at least this factor
constexpr std::size_t doubled = 3;  ///< of `scales`
constexpr std::size_t fourfold = 4;

bool is_about(double value, double published) {
    return std::abs(value / published - 1.0) <= about;
}

/// What is said of some of the workloads.
struct Group {
    std::vector<std::size_t> workloads;
    const ByWorkload<double>& factors;

    double mean() const {
        double sum = 0.0;
        for (const std::size_t i : workloads) sum += factors[i];
        return sum / static_cast<double>(workloads.size());
    }
    bool all(double from, double below) const {
        return std::all_of(workloads.begin(), workloads.end(),
                           [&](std::size_t i) { return factors[i] >= from && factors[i] < below; });
    }
    Row row(std::string label, double mean, bool holds) const {
        const auto cell = [&](std::size_t i) {
            const bool named = std::find(workloads.begin(), workloads.end(), i) != workloads.end();
            return named ? Cell::number(factors[i], 2) : Cell();
        };
        return workload_row(std::move(label), cell, {Cell::number(mean, 2), Cell::yes(holds)});
    }
};

/// What MLPs and LSTMs would gain from a memory so many times as fast if their non-matrix cycles were Table
/// 3's and all others went with the memory.
double gain_with_published_non_matrix(const Published& published, double factor) {
    double sum = 0.0;
    for (const std::size_t i : {MLP0, MLP1, LSTM0, LSTM1}) {
        const double kept = published.table_3.rows[5][i] / 100.0;
        sum += 1.0 / (kept + (1.0 - kept) / factor);
    }
    return sum / 4.0;
}

std::string of_four(const auto& value) {
    return fmt::format("{:.0f}, {:.0f}, {:.0f} and {:.0f} %", value(MLP0), value(MLP1), value(LSTM0),
                       value(LSTM1));
}

std::string why_memory(const Results& results) {
    // Figure 11 leaves the cycles out in which only the host is waited for.
    const auto without_host = [&](std::size_t i) {
        const Measurement& ours = results.base[i];
        const auto host = static_cast<double>(ours.head_cycles + ours.tail_cycles);
        return 100.0 * (static_cast<double>(ours.non_matrix_cycles) - host) /
               (static_cast<double>(ours.cycles) - host);
    };
    return fmt::format(
        "Why memory x4 gives MLPs and LSTMs more: what does not wait for weights does not shrink with them, "
        "and ours has less of it. Table 3 has {} of their cycles non-matrix, ours without the host's time "
        "{}. With the article's, and all other cycles a fourth, x{:.1f} would remain.",
        of_four([&](std::size_t i) { return results.published.table_3.rows[5][i]; }), of_four(without_host),
        gain_with_published_non_matrix(results.published, scales[fourfold]));
}

/// What a point of Figure 11 leaves to the CNNs where MLPs and LSTMs are as they were.
double cnns_part(const Results& results, Curve curve, std::size_t scale) {
    const double cnns = results.weights[CNN0] + results.weights[CNN1];
    return (results.published.figure_11.curves[curve][scale] - (1.0 - cnns)) / cnns;
}

std::string why_clock(const Results& results) {
    return fmt::format(
        "Why the clock alone does less for CNNs: the figure's own means say so. With x1 for MLPs and LSTMs "
        "they leave the CNNs x{:.1f} with the clock alone and x{:.1f} with more accumulators, which the "
        "text's number is of. Without, a convolution's rows do not fit, its weights are fetched again, and "
        "it waits for them.",
        cnns_part(results, Clock, fourfold), cnns_part(results, ClockPlus, fourfold));
}

std::string why_larger(const Results& results) {
    const auto& ours = results.eight_bit_sensitivity.performance;
    const auto& published = results.published.figure_11.curves;
    return fmt::format(
        "Why not each network is worse on 512x512: it depends on how its layers fill tiles, and their shapes "
        "are not published. Rows of accumulators decide how often a convolution's weights are fetched: with "
        "four times as many, CNN1 does better (x{:.2f}) than without (x{:.2f}). Of the published curves, "
        "too, "
        "the one with accumulators lies above the other, by {:.2f}; ours by {:.2f}.",
        ours[MatrixPlus][doubled][CNN1], ours[Matrix][doubled][CNN1],
        published[MatrixPlus][doubled] - published[Matrix][doubled],
        weighted_mean(results.weights, ours[MatrixPlus][doubled]) -
            weighted_mean(results.weights, ours[Matrix][doubled]));
}

}  // namespace

Table statements_table(const Results& results) {
    const Figure11Text& text = results.published.figure_11_text;
    const auto& curves = results.eight_bit_sensitivity.performance;
    const std::vector<std::size_t> all{MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1};
    const std::vector<std::size_t> memory_bound{MLP0, MLP1, LSTM0, LSTM1};
    const std::vector<std::size_t> cnns{CNN0, CNN1};
    Table table{.id = "statements",
                .title = "What the text says of Figure 11, ours by workload",
                .columns = workload_columns({"mean", "holds"})};
    const auto add = [&](std::string label, const Group& group, double mean, bool holds) {
        table.rows.push_back(group.row(std::move(label), mean, holds));
        return holds;
    };
    const auto times = [](double factor) { return Cell::number(factor, 0).text(); };

    const Group everywhere{all, curves[Memory][fourfold]};
    const double mean = weighted_mean(results.weights, everywhere.factors);
    add(fmt::format("memory x4: x{} on average", times(text.memory_4x_mean)), everywhere, mean,
        is_about(mean, text.memory_4x_mean));
    const Group fed{memory_bound, curves[Memory][fourfold]};
    const bool fed_holds = add(fmt::format("memory x4: MLP, LSTM x{}", times(text.memory_4x_mlp_lstm)), fed,
                               fed.mean(), is_about(fed.mean(), text.memory_4x_mlp_lstm));
    const Group unfed{cnns, curves[Memory][fourfold]};
    add("memory x4: CNN little", unfed, unfed.mean(), unfed.all(0.0, little));

    bool clock_holds = true;
    for (const Curve curve : {Clock, ClockPlus}) {
        const char* const name = curve == Clock ? "clock" : "clock+";
        const Group waiting{memory_bound, curves[curve][fourfold]};
        add(fmt::format("{} x4: MLP, LSTM same", name), waiting, waiting.mean(), waiting.all(0.0, nothing));
        const Group computing{cnns, curves[curve][fourfold]};
        const bool holds = add(fmt::format("{} x4: CNN x{}", name, times(text.clock_4x_cnn)), computing,
                               computing.mean(), is_about(computing.mean(), text.clock_4x_cnn));
        clock_holds = clock_holds && (holds || curve == ClockPlus);
    }

    bool larger_holds = true;
    for (const Curve curve : {Matrix, MatrixPlus}) {
        const Group larger{all, curves[curve][doubled]};
        const double larger_mean = weighted_mean(results.weights, larger.factors);
        // Each worse, together slightly: of LSTM1 alone the article's own example has x0.56.
        const bool holds = add(curve == Matrix ? "512x512: slightly worse" : "512x512+: slightly worse",
                               larger, larger_mean, larger_mean >= slightly && larger.all(0.0, 1.0));
        larger_holds = larger_holds && holds;
    }
    table.notes.emplace_back(
        "Speed-up with LSTMs of 8-bit activations; + with the accumulators scaled too. The mean is the "
        "weighted one where all six are named, else that of those named. A factor holds within a quarter, of "
        "the mean; same: each less than x1.15; little: each less than x1.5; slightly worse: each below x1, "
        "their mean from x0.75.");
    if (!fed_holds) table.notes.push_back(why_memory(results));
    if (!clock_holds) table.notes.push_back(why_clock(results));
    if (!larger_holds) table.notes.push_back(why_larger(results));
    return table;
}

}  // namespace systole::validate
