#include "sim/study/validate/comparison.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <string_view>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using ServerRatios = std::array<double, server_ratio_names.size()>;

constexpr std::array<std::string_view, 3> pair_names{"MLP", "LSTM", "CNN"};

/// The part of MLP0 with which the weighted mean of a row is the published one.
double split_by(const Published& published, Ratio row) {
    const auto pairs = published.row("table_1.deployed_percent", pair_names);
    const ByWorkload<double> ratios = published.table_6(row);
    const double mean = published.row("table_6.weighted_mean", ratio_names)[row];
    const double sum = pairs[0] + pairs[1] + pairs[2];
    const double others =
        pairs[1] * (ratios[LSTM0] + ratios[LSTM1]) / 2.0 + pairs[2] * (ratios[CNN0] + ratios[CNN1]) / 2.0;
    const double mlps = (mean * sum - others) / pairs[0];
    return std::clamp((mlps - ratios[MLP1]) / (ratios[MLP0] - ratios[MLP1]), 0.0, 1.0);
}

struct Server {
    double dies = 0.0;
    double watts = 0.0;  ///< thermal design power; incremental: without the CPU server's
};

/// The rule of Figure 9 for each pair of servers, from a mean of performance per die.
ServerRatios over_servers(const Published& published, const ServerRatios& means, bool incremental) {
    const double cpu_watts = published.at("table_2.cpu_server_tdp_watts");  // the host of the others
    const auto server = [&](const char* dies, const char* watts) {
        return Server{published.at(dies), published.at(watts) - (incremental ? cpu_watts : 0.0)};
    };
    const Server cpu{published.at("table_2.cpu_dies"), cpu_watts};
    const Server gpu = server("table_2.gpu_dies", "table_2.gpu_server_tdp_watts");
    const Server tpu = server("table_2.tpu_dies", "table_2.tpu_server_tdp_watts");
    const Server prime = server("table_2.tpu_dies", "tpu_prime.server_tdp_watts");
    const auto over = [&](Ratio ratio, const Server& first, const Server& second) {
        return means[ratio] * first.dies / second.dies * second.watts / first.watts;
    };
    return {over(GpuOverCpu, gpu, cpu), over(TpuOverCpu, tpu, cpu), over(TpuOverGpu, tpu, gpu),
            over(PrimeOverCpu, prime, cpu), over(PrimeOverGpu, prime, gpu)};
}

/// The CPU server's watts for each of so many dies, with `busy_percent` of its busy watts at full load.
Watts server_part(const baselines::Server& server, double dies, double busy_percent) {
    return {.idle = server.idle_watts / dies, .busy = server.busy_watts * busy_percent / 100.0 / dies};
}

Watts sum(const Watts& a, const Watts& b) {
    return {.idle = a.idle + b.idle, .busy = a.busy + b.busy};
}

void require(const baselines::Baseline& baseline, std::string_view key, double value) {
    if (value > 0.0) return;
    throw machine::ConfigError(
        fmt::format("{}: {} is missing; Figure 10's curves begin and end with it", baseline.name, key));
}

}  // namespace

MlpSplit mlp_split(const Published& published) {
    return {.by_gpu_over_cpu = split_by(published, GpuOverCpu),
            .by_tpu_over_cpu = split_by(published, TpuOverCpu)};
}

ByWorkload<double> weights_of(const Published& published) {
    const auto pairs = published.row("table_1.deployed_percent", pair_names);
    const double sum = pairs[0] + pairs[1] + pairs[2];
    const double mlp0 = mlp_split(published).used();
    return {pairs[0] * mlp0 / sum, pairs[0] * (1.0 - mlp0) / sum, pairs[1] / 2.0 / sum,
            pairs[1] / 2.0 / sum,  pairs[2] / 2.0 / sum,          pairs[2] / 2.0 / sum};
}

double weighted_mean(const ByWorkload<double>& weights, const ByWorkload<double>& values) {
    double mean = 0.0;
    for (std::size_t i = 0; i < workload_count; ++i) mean += weights[i] * values[i];
    return mean;
}

double arithmetic_mean(const ByWorkload<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / workload_count;
}

double geometric_mean(const ByWorkload<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / workload_count);
}

Cells factors_and_means(const ByWorkload<double>& factors, const ByWorkload<double>& weights, int digits) {
    Cells cells = numbers(factors, digits);
    cells.push_back(Cell::number(geometric_mean(factors), digits));
    cells.push_back(Cell::number(weighted_mean(weights, factors), digits));
    return cells;
}

double table_3_difference(std::size_t row, const Results& results) {
    const ByWorkload<double> published = results.published.table_3(row);
    const ByWorkload<double> ours = table_3_values(row, results.base);
    return arithmetic_mean(by_workload([&](std::size_t i) { return std::abs(ours[i] - published[i]); }));
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

double host_share(const Published& published, std::size_t workload) {
    return published.workloads("table_5.host_percent_of_tpu_time")[workload] / 100.0;
}

double inferences_per_second_with_host(const Results& results, std::size_t workload) {
    return inferences_per_second(results.base[workload]) / (1.0 + host_share(results.published, workload));
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
    const ByWorkload<double> prime = with_host_time(prime_speedup(results), results.published);
    const auto times_prime = [&](const ByWorkload<double>& tpu) {
        return by_workload([&](std::size_t i) { return tpu[i] * prime[i]; });
    };
    const ByWorkload<double> over_cpu = relative_performance(results, TpuOverCpu);
    const ByWorkload<double> over_gpu = relative_performance(results, TpuOverGpu);
    const std::array<ByWorkload<double>, server_ratio_names.size()> performance{
        relative_performance(results, GpuOverCpu), over_cpu, over_gpu, times_prime(over_cpu),
        times_prime(over_gpu)};
    ServerRatios geometric{};
    ServerRatios weighted{};
    for (std::size_t i = 0; i < performance.size(); ++i) {
        geometric[i] = geometric_mean(performance[i]);
        weighted[i] = weighted_mean(results.weights, performance[i]);
    }
    const Published& published = results.published;
    return {over_servers(published, geometric, false), over_servers(published, weighted, false),
            over_servers(published, geometric, true), over_servers(published, weighted, true)};
}

EfficiencyBars efficiency_errors(const Results& results) {
    EfficiencyBars errors = server_efficiency(results);
    for (std::size_t bar = 0; bar < efficiency_keys.size(); ++bar) {
        const ServerRatios published =
            results.published.row(fmt::format("figure_9.{}", efficiency_keys[bar]), server_ratio_names);
        for (std::size_t i = 0; i < published.size(); ++i)
            errors[bar][i] = errors[bar][i] / published[i] - 1.0;
    }
    return errors;
}

Watts watts(const Results& results, PowerCurve curve, Workload workload) {
    const Published& published = results.published;
    const baselines::Server& host = results.cpu.server;
    switch (curve) {
        case TpuWatts:
            return results.chip_watts[workload];
        case TpuWithHostWatts:
            return sum(watts(results, TpuWatts, workload),
                       server_part(host, published.at("table_2.tpu_dies"),
                                   published.at("figure_10_text.host_percent_with_tpus")));
        case GpuWatts:
            return {.idle = results.gpu.power.idle_watts, .busy = results.gpu.power.busy_watts};
        case GpuWithHostWatts:
            return sum(watts(results, GpuWatts, workload),
                       server_part(host, results.gpu.server.dies,
                                   published.at("figure_10_text.host_percent_with_gpus")));
        case CpuWatts:
            return server_part(host, host.dies, 100.0);
    }
    throw std::logic_error("a curve that does not exist");
}

void require_watts(const baselines::Baseline& cpu, const baselines::Baseline& gpu) {
    require(cpu, "server.idle_watts", cpu.server.idle_watts);
    require(cpu, "server.busy_watts", cpu.server.busy_watts);
    require(gpu, "power.idle_watts", gpu.power.idle_watts);
    require(gpu, "power.busy_watts", gpu.power.busy_watts);
}

SensitivityErrors sensitivity_errors(const Results& results, const Sensitivity& ours) {
    SensitivityErrors errors{};
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        const auto published = results.published.figure_11(static_cast<Curve>(curve));
        for (std::size_t i = 0; i < scales.size(); ++i) {
            errors[curve][i] = weighted_mean(results.weights, ours[curve][i]) / published[i] - 1.0;
        }
    }
    return errors;
}

}  // namespace systole::validate
