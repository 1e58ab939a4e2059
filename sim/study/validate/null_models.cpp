#include "sim/study/validate/null_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace systole::validate {
namespace {

double mean_absolute(const ByWorkload<double>& errors) {
    double sum = 0.0;
    for (const double error : errors) sum += std::abs(error);
    return sum / static_cast<double>(workload_count);
}

/// The model without a constant, or with the one of the least mean absolute error. That error is piecewise
/// linear in the constant, so one of the constants with which a workload has no error is the best.
template <class Predict, class Exact>
std::pair<double, ByWorkload<double>> fitted(const ByWorkload<double>& cycles, const Predict& predict,
                                             const Exact& exact) {
    std::pair<double, ByWorkload<double>> best{};
    double least = HUGE_VAL;
    for (std::size_t candidate = 0; candidate < workload_count; ++candidate) {
        const double constant = exact(candidate);
        const auto errors =
            by_workload([&](std::size_t i) { return predict(i, constant) / cycles[i] - 1.0; });
        if (mean_absolute(errors) >= least) continue;
        least = mean_absolute(errors);
        best = {constant, errors};
    }
    return best;
}

}  // namespace

double bound_cycles(const run::RunRecord& record) {
    const machine::MachineConfig& machine = record.spec.machine;
    const run::Counter& active = record.counters.at("matrix_unit.active_cycles");
    const double tile_bytes = static_cast<double>(record.program.rows) * record.program.columns;
    const double tile_cycles = tile_bytes / (machine.weight_memory.bandwidth_gb_per_s * 1e9) *
                               static_cast<double>(machine.clock_hz());
    double cycles = 0.0;
    for (std::size_t tag = 0; tag < record.program.tags.size(); ++tag) {
        const auto streaming = static_cast<double>(active.value(static_cast<run::Tag>(tag)));
        const auto tiles = static_cast<double>(record.program.tags[tag].fetched.tiles);
        cycles += std::max(streaming, tiles * tile_cycles);
    }
    return cycles;
}

std::vector<NullModel> null_models(const ByWorkload<double>& useful_percent,
                                   const ByWorkload<run::RunRecord>& records) {
    const auto published = by_workload([&](std::size_t i) {
        const double ours = useful_share(records[i]) * static_cast<double>(records[i].cycles);
        return ours / (useful_percent[i] / 100.0);
    });
    const auto bound = of_each(records, bound_cycles);
    const auto layers = by_workload([&](std::size_t i) {
        const auto& all = records[i].program.layers;
        return static_cast<double>(
            std::count_if(all.begin(), all.end(), [](const auto& layer) { return layer.macs > 0; }));
    });
    std::vector<NullModel> models;
    const auto add = [&](const char* name, std::string constant, const ByWorkload<double>& errors) {
        models.push_back(
            {.name = name, .constant = std::move(constant), .errors = errors, .mean = mean_absolute(errors)});
    };
    add("bound", "", by_workload([&](std::size_t i) { return bound[i] / published[i] - 1.0; }));
    const auto [factor, scaled] = fitted(
        published, [&](std::size_t i, double c) { return c * bound[i]; },
        [&](std::size_t i) { return published[i] / bound[i]; });
    add("bound x constant", fmt::format("{:.3f}", factor), scaled);
    const auto [cycles, added] = fitted(
        published, [&](std::size_t i, double c) { return bound[i] + c * layers[i]; },
        [&](std::size_t i) { return (published[i] - bound[i]) / layers[i]; });
    add("bound + by layer", fmt::format("{:.0f} cycles", cycles), added);
    return models;
}

}  // namespace systole::validate
