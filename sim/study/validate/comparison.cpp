#include "sim/study/validate/comparison.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <string_view>

#include "hw/machine/config_error.h"
#include "sim/run/baselines/comparison.h"

namespace systole::validate {
namespace {

constexpr std::array<std::string_view, 3> pair_names{"MLP", "LSTM", "CNN"};

}  // namespace

double mlp0_part(const Published& published, Ratio row) {
    const auto pairs = published.row("table_1.deployed_percent", pair_names);
    const ByWorkload<double> ratios = published.table_6(row);
    const double mean = published.row("table_6.weighted_mean", ratio_names)[row];
    const double sum = pairs[0] + pairs[1] + pairs[2];
    const double others =
        pairs[1] * (ratios[LSTM0] + ratios[LSTM1]) / 2.0 + pairs[2] * (ratios[CNN0] + ratios[CNN1]) / 2.0;
    const double mlps = (mean * sum - others) / pairs[0];
    return std::clamp((mlps - ratios[MLP1]) / (ratios[MLP0] - ratios[MLP1]), 0.0, 1.0);
}

double mlp0_part(const Published& published) {
    return (mlp0_part(published, GpuOverCpu) + mlp0_part(published, TpuOverCpu)) / 2.0;
}

ByWorkload<double> weights_of(const Published& published) {
    return weights_of(published, mlp0_part(published));
}

ByWorkload<double> weights_of(const Published& published, double mlp0) {
    const auto pairs = published.row("table_1.deployed_percent", pair_names);
    const double sum = pairs[0] + pairs[1] + pairs[2];
    return {pairs[0] * mlp0 / sum, pairs[0] * (1.0 - mlp0) / sum, pairs[1] / 2.0 / sum,
            pairs[1] / 2.0 / sum,  pairs[2] / 2.0 / sum,          pairs[2] / 2.0 / sum};
}

double weighted_mean(const ByWorkload<double>& weights, const ByWorkload<double>& values) {
    double mean = 0.0;
    for (std::size_t i = 0; i < workload_count; ++i) mean += weights[i] * values[i];
    return mean;
}

double arithmetic_mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(const ByWorkload<double>& values) {
    return std::exp(arithmetic_mean(by_workload([&](std::size_t i) { return std::log(values[i]); })));
}

Cells factors_and_means(const ByWorkload<double>& factors, const ByWorkload<double>& weights, int digits) {
    const std::array means{geometric_mean(factors), weighted_mean(weights, factors)};
    return joined(numbers(factors, digits), numbers(means, digits));
}

double table_3_difference(std::size_t row, const Published& published,
                          const ByWorkload<run::RunRecord>& records) {
    const ByWorkload<double> theirs = published.table_3(row);
    const ByWorkload<double> ours = table_3_values(row, records);
    return arithmetic_mean(by_workload([&](std::size_t i) { return std::abs(ours[i] - theirs[i]); }));
}

ByWorkload<double> relative_performance(const Results& results, Ratio ratio) {
    const ByWorkload<double> published = results.published.table_6(ratio);
    if (ratio == GpuOverCpu) return published;
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    return by_workload([&](std::size_t i) {
        const double throughput = 100.0 * useful_share(results.base[i]) / useful[i];
        return published[i] * throughput;
    });
}

ByWorkload<double> modelled_performance(const Results& results, Ratio ratio) {
    const auto over = [](const ByWorkload<double>& first, const ByWorkload<double>& second) {
        return by_workload([&](std::size_t i) { return first[i] / second[i]; });
    };
    const ByWorkload<double>& cpu = results.cpu_inferences_per_second;
    const ByWorkload<double>& gpu = results.gpu_inferences_per_second;
    switch (ratio) {
        case GpuOverCpu:
            return over(gpu, cpu);
        case TpuOverCpu:
            return over(inferences_per_second_with_host(results), cpu);
        case TpuOverGpu:
            return over(inferences_per_second_with_host(results), gpu);
        case PrimeOverCpu:
        case PrimeOverGpu:
            break;
    }
    throw std::logic_error("no model gives this ratio");
}

double host_share(const Published& published, std::size_t workload) {
    return published.workloads("table_5.host_percent_of_tpu_time")[workload] / 100.0;
}

ByWorkload<double> inferences_per_second_with_host(const Results& results) {
    return by_workload([&](std::size_t i) {
        return inferences_per_second(results.base[i]) / (1.0 + host_share(results.published, i));
    });
}

ByWorkload<double> with_host_time(const ByWorkload<double>& speedup, const Published& published) {
    return by_workload([&](std::size_t i) {
        const double host = host_share(published, i);
        return (1.0 + host) / (1.0 / speedup[i] + host);
    });
}

ByWorkload<double> prime_speedup(const Results& results) {
    return speedup(results.prime_memory, results.base);
}

EfficiencyBars server_efficiency(const Results& results) {
    const Published& published = results.published;
    const double cpu_watts = published.at("table_2.cpu_server_tdp_watts");  // the host of the others
    const auto server = [&](const char* dies, const char* watts) {
        return machine::ServerConfig{published.count(dies), published.at(watts), cpu_watts};
    };
    const machine::ServerConfig gpu = server("table_2.gpu_dies", "table_2.gpu_server_tdp_watts");
    const machine::ServerConfig tpu = server("table_2.tpu_dies", "table_2.tpu_server_tdp_watts");
    const machine::ServerConfig prime = server("table_2.tpu_dies", "tpu_prime.server_tdp_watts");
    baselines::Baseline cpu_baseline;
    cpu_baseline.server = {.dies = published.count("table_2.cpu_dies"), .tdp_watts = cpu_watts};
    baselines::Baseline gpu_baseline;
    gpu_baseline.server = {.dies = gpu.dies, .tdp_watts = gpu.tdp_watts, .host_tdp_watts = cpu_watts};

    EfficiencyBars bars{};
    const auto compare = [&](Ratio bar, const machine::ServerConfig& ours, const baselines::Baseline& than,
                             const ByWorkload<double>& performance) {
        const auto per_watt = [&](double mean) {
            return baselines::performance_per_watt(ours, mean, than, 1.0);
        };
        const auto geometric = per_watt(geometric_mean(performance));
        const auto weighted = per_watt(weighted_mean(results.weights, performance));
        if (!geometric.incremental || !weighted.incremental) {
            throw machine::ConfigError(fmt::format(
                "{}: table_2 and tpu_prime: a server with accelerators must have more watts than its host",
                published.name));
        }
        bars[TotalGm][bar] = geometric.total.value();
        bars[TotalWm][bar] = weighted.total.value();
        bars[IncrementalGm][bar] = geometric.incremental.value();
        bars[IncrementalWm][bar] = weighted.incremental.value();
    };
    const ByWorkload<double> prime_over_tpu = with_host_time(prime_speedup(results), published);
    const auto improved = [&](const ByWorkload<double>& performance) {
        return by_workload([&](std::size_t i) { return performance[i] * prime_over_tpu[i]; });
    };
    const ByWorkload<double> over_cpu = relative_performance(results, TpuOverCpu);
    const ByWorkload<double> over_gpu = relative_performance(results, TpuOverGpu);
    compare(GpuOverCpu, gpu, cpu_baseline, relative_performance(results, GpuOverCpu));
    compare(TpuOverCpu, tpu, cpu_baseline, over_cpu);
    compare(TpuOverGpu, tpu, gpu_baseline, over_gpu);
    compare(PrimeOverCpu, prime, cpu_baseline, improved(over_cpu));
    compare(PrimeOverGpu, prime, gpu_baseline, improved(over_gpu));
    return bars;
}

EfficiencyBars efficiency_errors(const Results& results) {
    EfficiencyBars errors = server_efficiency(results);
    for (std::size_t bar = 0; bar < efficiency_keys.size(); ++bar) {
        const auto published = results.published.figure_9(bar);
        for (std::size_t i = 0; i < published.size(); ++i)
            errors[bar][i] = errors[bar][i] / published[i] - 1.0;
    }
    return errors;
}

Watts watts(const Results& results, PowerCurve curve, Workload workload) {
    const Published& published = results.published;
    const baselines::Server& host = results.cpu.server;
    const Watts gpu{.idle = results.gpu.power.idle_watts, .busy = results.gpu.power.busy_watts};
    // In addition to the die, its part of the CPU server that hosts so many of them.
    const auto with_host = [&](const Watts& die, double dies, const char* busy_percent) {
        const double busy_watts = host.busy_watts * published.at(busy_percent) / 100.0;
        return Watts{.idle = die.idle + host.idle_watts / dies, .busy = die.busy + busy_watts / dies};
    };
    switch (curve) {
        case TpuWatts:
            return results.chip_watts[workload];
        case TpuWithHostWatts:
            return with_host(results.chip_watts[workload], published.at("table_2.tpu_dies"),
                             "figure_10_text.host_percent_with_tpus");
        case GpuWatts:
            return gpu;
        case GpuWithHostWatts:
            return with_host(gpu, results.gpu.server.dies, "figure_10_text.host_percent_with_gpus");
        case CpuWatts:
            return {.idle = host.idle_watts / host.dies, .busy = host.busy_watts / host.dies};
    }
    throw std::logic_error("a curve that does not exist");
}

void require_watts(const baselines::Baseline& cpu, const baselines::Baseline& gpu) {
    const auto require = [](const baselines::Baseline& baseline, const char* key, double value) {
        if (value > 0.0) return;
        throw machine::ConfigError(
            fmt::format("{}: {} is missing; Figure 10's curves begin and end with it", baseline.name, key));
    };
    require(cpu, "server.idle_watts", cpu.server.idle_watts);
    require(cpu, "server.busy_watts", cpu.server.busy_watts);
    require(gpu, "power.idle_watts", gpu.power.idle_watts);
    require(gpu, "power.busy_watts", gpu.power.busy_watts);
}

SensitivityErrors sensitivity_errors(const Published& published, const ByWorkload<double>& weights,
                                     const Sensitivity& ours) {
    SensitivityErrors errors{};
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        const auto theirs = published.figure_11(static_cast<Curve>(curve));
        for (std::size_t i = 0; i < scales.size(); ++i) {
            errors[curve][i] = weighted_mean(weights, ours[curve][i]) / theirs[i] - 1.0;
        }
    }
    return errors;
}

}  // namespace systole::validate
