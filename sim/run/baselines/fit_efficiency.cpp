#include "sim/run/baselines/fit_efficiency.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace systole::baselines {
namespace {

/// A row at some shares of peak and memory, without the time of launching layers.
struct Unlaunched {
    double distance = 0.0;  ///< logarithm of model / known
    double seconds = 0.0;
    double layers = 0.0;
};

std::vector<Unlaunched> without_launches(const Baseline& baseline, std::span<const KnownThroughput> rows) {
    std::vector<Unlaunched> result;
    result.reserve(rows.size());
    for (const KnownThroughput& row : rows) {
        const Expected model = *expected_at(baseline, row.network, row.batch);
        result.push_back({.distance = std::log(model.*row.figure / row.value),
                          .seconds = model.seconds,
                          .layers = static_cast<double>(row.network.layers.size())});
    }
    return result;
}

double sum_of_squares(std::span<const Unlaunched> rows, double layer_microseconds) {
    double sum = 0.0;
    for (const Unlaunched& row : rows) {
        const double slower = std::log1p(row.layers * layer_microseconds * 1e-6 / row.seconds);
        const double distance = row.distance - slower;
        sum += distance * distance;
    }
    return sum;
}

}  // namespace

Efficiency fit_efficiency(const Baseline& baseline, std::span<const KnownThroughput> rows) {
    if (rows.empty()) throw std::logic_error("an efficiency is fitted to at least one row");
    Baseline tried = baseline;
    tried.efficiency.layer_microseconds = 0.0;
    Efficiency best;
    double least = std::numeric_limits<double>::infinity();
    constexpr double same = 1e-9;  // smaller differences are a matter of rounding
    for (int memory = 100; memory >= 5; memory -= 5) {
        for (int peak = 100; peak >= 1; --peak) {
            tried.efficiency.peak_share = peak / 100.0;
            tried.efficiency.memory_share = memory / 100.0;
            const std::vector<Unlaunched> unlaunched = without_launches(tried, rows);
            for (int layer = 0; layer <= 400; layer += 5) {
                const double sum = sum_of_squares(unlaunched, layer);
                if (sum >= least - same) continue;
                least = sum;
                best = tried.efficiency;
                best.layer_microseconds = layer;
            }
        }
    }
    return best;
}

}  // namespace systole::baselines
