#include "sim/study/validate/performance.h"

#include <stdexcept>

namespace systole::validate {
namespace {

Efficiency over_servers(double performance, double dies, double other_dies, double watts, double other_watts,
                        double incremental_watts, double other_incremental_watts) {
    const double servers = performance * dies / other_dies;
    return {.total = servers * other_watts / watts,
            .incremental = servers * other_incremental_watts / incremental_watts};
}

/// The rule of Figure 9 for each pair of servers.
std::array<Efficiency, server_ratio_names.size()> efficiency(
    const Published& published, const std::array<double, server_ratio_names.size()>& mean) {
    const Table2& t = published.table_2;
    const double host = t.cpu_server_tdp_watts;  // the CPU server is the host of the others
    const double prime = published.tpu_prime.server_tdp_watts;
    const double gpu = t.gpu_server_tdp_watts;
    const double tpu = t.tpu_server_tdp_watts;
    return {over_servers(mean[GpuOverCpu], t.gpu_dies, t.cpu_dies, gpu, host, gpu - host, host),
            over_servers(mean[TpuOverCpu], t.tpu_dies, t.cpu_dies, tpu, host, tpu - host, host),
            over_servers(mean[TpuOverGpu], t.tpu_dies, t.gpu_dies, tpu, gpu, tpu - host, gpu - host),
            over_servers(mean[PrimeOverCpu], t.tpu_dies, t.cpu_dies, prime, host, prime - host, host),
            over_servers(mean[PrimeOverGpu], t.tpu_dies, t.gpu_dies, prime, gpu, prime - host, gpu - host)};
}

ByWorkload<double> product(const ByWorkload<double>& a, const ByWorkload<double>& b) {
    ByWorkload<double> result{};
    for (std::size_t i = 0; i < workload_count; ++i) result[i] = a[i] * b[i];
    return result;
}

}  // namespace

RelativePerformance relative_performance(const Results& results) {
    RelativePerformance performance;
    const PerWorkloadAndMean& useful = results.published.table_3.rows[1];
    for (std::size_t ratio = 0; ratio < ratio_names.size(); ++ratio) {
        for (std::size_t i = 0; i < workload_count; ++i) {
            const double published = results.published.table_6.ratios[ratio][i];
            const double throughput = 100.0 * results.base[i].useful_share() / useful[i];
            performance.published[ratio][i] = published;
            performance.ours[ratio][i] = ratio == GpuOverCpu ? published : published * throughput;
        }
    }
    return performance;
}

double host_share(const Published& published, std::size_t workload) {
    return published.table_5.host_percent_of_tpu_time[workload] / 100.0;
}

double inferences_per_second_with_host(const Results& results, std::size_t workload) {
    return results.base[workload].inferences_per_second() / (1.0 + host_share(results.published, workload));
}

ByWorkload<double> with_host_time(const ByWorkload<double>& speedup, const Published& published) {
    ByWorkload<double> result{};
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double host = host_share(published, i);
        result[i] = (1.0 + host) / (1.0 / speedup[i] + host);
    }
    return result;
}

ByWorkload<double> prime_speedup(const Results& results) {
    return speedup(results.prime_memory, results.base);
}

ByWorkload<double> prime_speedup_with_host(const Results& results) {
    return with_host_time(prime_speedup(results), results.published);
}

double mean_of(Mean kind, const Weights& weights, const ByWorkload<double>& values) {
    switch (kind) {
        case Mean::Geometric:
            return geometric_mean(values);
        case Mean::Weighted:
            return weighted_mean(weights, values);
    }
    throw std::logic_error("a mean that does not exist");
}

ServerEfficiency server_efficiency(const Results& results) {
    const RelativePerformance performance = relative_performance(results);
    const ByWorkload<double> prime = prime_speedup_with_host(results);
    const std::array<ByWorkload<double>, server_ratio_names.size()> ratios{
        performance.ours[GpuOverCpu], performance.ours[TpuOverCpu], performance.ours[TpuOverGpu],
        product(performance.ours[TpuOverCpu], prime), product(performance.ours[TpuOverGpu], prime)};
    const auto of = [&](Mean kind) {
        std::array<double, server_ratio_names.size()> means{};
        for (std::size_t i = 0; i < ratios.size(); ++i) means[i] = mean_of(kind, results.weights, ratios[i]);
        return efficiency(results.published, means);
    };
    return {.geometric = of(Mean::Geometric), .weighted = of(Mean::Weighted)};
}

EfficiencyErrors efficiency_errors(const Results& results) {
    const ServerEfficiency ours = server_efficiency(results);
    const Figure9& published = results.published.figure_9;
    EfficiencyErrors errors{};
    for (std::size_t i = 0; i < server_ratio_names.size(); ++i) {
        errors[0][i] = ours.geometric[i].total / published.total_gm[i] - 1.0;
        errors[1][i] = ours.weighted[i].total / published.total_wm[i] - 1.0;
        errors[2][i] = ours.geometric[i].incremental / published.incremental_gm[i] - 1.0;
        errors[3][i] = ours.weighted[i].incremental / published.incremental_wm[i] - 1.0;
    }
    return errors;
}

}  // namespace systole::validate
