#include "sim/run/baselines/comparison.h"

#include <algorithm>
#include <stdexcept>

namespace systole::baselines {
namespace {

constexpr double giga = 1e9;

}  // namespace

Format format_of(const Baseline& baseline, Precision precision) {
    switch (precision) {
        case Precision::Fp32:
            return {baseline.peak_fp32_gflops * giga, 4.0};
        case Precision::Int8:
            return {baseline.peak_int8_gops * giga, 1.0};
        case Precision::Fp16:
            return {baseline.peak_fp16_gflops * giga, 2.0};
        case Precision::Bf16:
            return {baseline.peak_bf16_gflops * giga, 2.0};
    }
    throw std::logic_error("an unknown precision");
}

Precision precision_beside(const machine::MachineConfig& machine, const Baseline& baseline) {
    const bool multiplies_16_bits =
        machine.computes_floats() && machine.matrix_unit.precision == machine::MatrixPrecision::Default;
    if (!multiplies_16_bits) return Precision::Fp32;
    const Precision quicker =
        baseline.peak_bf16_gflops >= baseline.peak_fp16_gflops ? Precision::Bf16 : Precision::Fp16;
    return format_of(baseline, quicker).operations_per_second > 0.0 ? quicker : Precision::Fp32;
}

std::optional<Roofline> roofline(const Baseline& baseline, const Work& work, Precision precision) {
    const Format format = format_of(baseline, precision);
    if (work.macs == 0 || work.batch == 0 || !(format.operations_per_second > 0.0)) return std::nullopt;
    const double compute = 2.0 * static_cast<double>(work.macs) * work.batch / format.operations_per_second;
    const double memory =
        static_cast<double>(work.weights) * format.element_bytes / (baseline.memory_gb_per_s * giga);
    return Roofline{.inferences_per_second = work.batch / std::max(compute, memory),
                    .memory_bound = memory > compute};
}

WorkCosts work_costs(const Baseline& baseline) {
    WorkCosts costs{.per_operation = 1.0 / (baseline.peak_fp32_gflops * giga),
                    .per_byte = 1.0 / (baseline.memory_gb_per_s * giga)};
    const Efficiency& efficiency = baseline.efficiency;
    if (!efficiency.known()) return costs;
    costs.per_operation /= efficiency.peak_share;
    costs.per_byte /= efficiency.memory_share;
    costs.per_layer = efficiency.layer_microseconds * 1e-6;
    return costs;
}

WithHostTime with_host_time(double inferences_per_second, const machine::HostPercent& host) {
    const auto time = [](double percent) { return 1.0 + percent / 100.0; };  // over that of the chip
    const double typical = time(host.typical);
    return {.inferences_per_second = inferences_per_second / typical,
            .band = {.least = typical / time(host.most), .most = typical / time(host.least)}};
}

PerformancePerWatt performance_per_watt(const machine::ServerConfig& ours, double our_inferences_per_second,
                                        const Baseline& baseline, double its_inferences_per_second) {
    PerformancePerWatt result;
    if (!(baseline.server.tdp_watts > 0.0) || !(its_inferences_per_second > 0.0)) return result;
    const double our_rate = our_inferences_per_second * ours.dies;
    const double its_rate = its_inferences_per_second * baseline.server.dies;
    const auto ratio = [&](double our_watts, double its_watts) -> std::optional<double> {
        if (!(our_watts > 0.0) || !(its_watts > 0.0)) return std::nullopt;
        return (our_rate / our_watts) / (its_rate / its_watts);
    };
    result.total = ratio(ours.tdp_watts, baseline.server.tdp_watts);
    // Without the host's watts there is no incremental figure.
    if (ours.host_tdp_watts > 0.0) {
        result.incremental = ratio(ours.tdp_watts - ours.host_tdp_watts,
                                   baseline.server.tdp_watts - baseline.server.host_tdp_watts);
    }
    return result;
}

}  // namespace systole::baselines
