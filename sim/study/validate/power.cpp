#include "sim/study/validate/power.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

Proportional sum(const Proportional& a, const Proportional& b) {
    return {.idle = a.idle + b.idle, .busy = a.busy + b.busy};
}

/// The CPU server's watts over so many dies, `busy_percent` of its busy ones at full load.
Proportional server_part(const baselines::Server& server, double dies, double busy_percent) {
    return {.idle = server.idle_watts / dies, .busy = server.busy_watts * busy_percent / 100.0 / dies};
}

void require(const baselines::Baseline& baseline, std::string_view key, double value) {
    if (value > 0.0) return;
    throw machine::ConfigError(
        fmt::format("{}: {} is missing; Figure 10's curves begin and end with it", baseline.name, key));
}

}  // namespace

Proportional watts(const Results& results, PowerCurve curve, Workload workload) {
    const Figure10Text& text = results.published.figure_10_text;
    const baselines::Server& host = results.cpu.server;
    switch (curve) {
        case TpuWatts: {
            const Measurement& chip = results.base[workload];
            return {.idle = chip.static_watts, .busy = chip.static_watts + chip.dynamic_watts};
        }
        case TpuWithHostWatts:
            return sum(watts(results, TpuWatts, workload),
                       server_part(host, results.published.table_2.tpu_dies, text.host_percent_with_tpus));
        case GpuWatts:
            return {.idle = results.gpu.power.idle_watts, .busy = results.gpu.power.busy_watts};
        case GpuWithHostWatts:
            return sum(watts(results, GpuWatts, workload),
                       server_part(host, results.gpu.server.dies, text.host_percent_with_gpus));
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

}  // namespace systole::validate
