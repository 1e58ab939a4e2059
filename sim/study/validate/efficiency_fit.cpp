#include "sim/study/validate/efficiency_fit.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace systole::validate {
namespace {

using baselines::Baseline;
using baselines::Expected;

/// A row at some shares of peak and memory, where launching layers costs nothing; what that costs comes on
/// top.
struct Unlaunched {
    double distance = 0.0;  ///< logarithm of ours / published
    double seconds = 0.0;
    double layers = 0.0;
};

std::vector<Unlaunched> without_launches(const Baseline& baseline,
                                         std::span<const PublishedThroughput> rows) {
    std::vector<Unlaunched> result;
    result.reserve(rows.size());
    for (const PublishedThroughput& row : rows) {
        const Expected ours = *baselines::expected_at(baseline, row.network, row.batch);
        result.push_back({.distance = std::log(value_of(ours, row.measure) / row.value),
                          .seconds = ours.seconds,
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

double value_of(const baselines::Expected& expected, Measure measure) {
    switch (measure) {
        case Measure::TeraOps:
            return expected.tops;
        case Measure::InferencesPerSecond:
            return expected.inferences_per_second;
    }
    throw std::logic_error("a measure that does not exist");
}

baselines::Efficiency fit_efficiency(const Baseline& baseline, std::span<const PublishedThroughput> rows) {
    if (rows.empty()) throw std::logic_error("an efficiency is fitted to at least one row");
    Baseline tried = baseline;
    tried.efficiency.layer_microseconds = 0.0;
    baselines::Efficiency best;
    double least = std::numeric_limits<double>::infinity();
    constexpr double same = 1e-9;  // what differs less is a matter of rounding
    for (int memory = 100; memory >= 5; memory -= 5) {
        for (int peak = 100; peak >= 1; --peak) {
            tried.efficiency.peak_share = peak / 100.0;
            tried.efficiency.memory_share = memory / 100.0;
            const std::vector<Unlaunched> unlaunched = without_launches(tried, rows);
            for (int layer = 0; layer <= 400; layer += 5) {
                const double sum = sum_of_squares(unlaunched, layer);
                if (sum < least - same) {
                    least = sum;
                    best = tried.efficiency;
                    best.layer_microseconds = layer;
                }
            }
        }
    }
    return best;
}

std::optional<double> fit_latency_factor(std::span<const PublishedThroughput> rows) {
    double logarithms = 0.0;
    int count = 0;
    for (const PublishedThroughput& row : rows) {
        if (!(row.latency_ms > 0.0) || row.measure != Measure::InferencesPerSecond) continue;
        const double batch_ms = 1e3 * row.batch / row.value;
        logarithms += std::log(row.latency_ms / batch_ms);
        ++count;
    }
    if (count == 0) return std::nullopt;
    return std::exp(logarithms / count);
}

}  // namespace systole::validate
