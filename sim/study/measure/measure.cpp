#include "sim/study/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include "compiler/ir/model_error.h"
#include "sim/study/measure/computer.h"
#include "sim/study/measure/timing.h"

namespace systole::measure {
namespace {

using baselines::Precision;

Timing time_one(std::uint64_t size, Precision precision, double minimum_seconds) {
    const std::vector<Product> one{{.layer = "cube", .m = size, .n = size, .k = size}};
    return time_products(one, precision, minimum_seconds).pass;
}

double watts_while(PackageEnergy& energy, const std::function<void()>& work) {
    energy.joules();  // energy counts from here on
    const Repetitions time(0.0);
    work();
    return energy.joules() / time.elapsed();
}

}  // namespace

double Measurement::peak_gops(const Timing& peak) const {
    const auto size = static_cast<double>(peak_size);
    return 2.0 * size * size * size / peak.median / 1e9;
}

double Measurement::read_gb_per_s() const {
    return static_cast<double>(read_bytes) / read.median / 1e9;
}

double Measurement::inferences_per_second(const ProductTimings& timings) const {
    return batch / timings.pass.median;
}

Measurement measure(const ir::Graph& graph, std::uint32_t batch, const Options& options) {
    Measurement result;
    result.computer = read_computer();
    result.model = graph.name;
    result.batch = batch;
    result.products = products_of(graph, batch);
    if (result.products.products.empty()) {
        throw ModelError(fmt::format("{}: it has no matrix product to measure", graph.name));
    }
    PackageEnergy energy(options.powercap);
    const auto products = [&] {
        result.fp32 = time_products(result.products.products, Precision::Fp32, options.minimum_seconds);
    };
    if (energy.readable()) {
        Watts watts;
        watts.idle = watts_while(energy, [&] {
            std::this_thread::sleep_for(std::chrono::duration<double>(options.minimum_seconds));
        });
        watts.busy = watts_while(energy, products);
        result.watts = watts;
    } else {
        result.no_watts_because = energy.why_not();
        products();
    }
    result.int8 = time_products(result.products.products, Precision::Int8, options.minimum_seconds);
    result.peak_size = options.peak_size;
    const Repetitions peak_time(0.0);
    const std::clock_t processor_time = std::clock();
    result.fp32_peak = time_one(options.peak_size, Precision::Fp32, options.minimum_seconds);
    const double processor_seconds = static_cast<double>(std::clock() - processor_time) / CLOCKS_PER_SEC;
    // Processor time and elapsed time are of two clocks: over a short time, the first may exceed the second.
    result.core_share =
        std::min(1.0, processor_seconds / (peak_time.elapsed() * static_cast<double>(result.computer.cores)));
    result.int8_peak = time_one(options.peak_size, Precision::Int8, options.minimum_seconds);
    result.call = time_one(1, Precision::Fp32, options.minimum_seconds / 10.0);
    constexpr std::uint64_t times_the_cache = 8;
    result.read_bytes = std::max(options.least_read_bytes, times_the_cache * result.computer.cache_bytes);
    result.read = time_memory_read(result.read_bytes, options.minimum_seconds);
    return result;
}

baselines::Baseline to_baseline(const Measurement& m) {
    baselines::Baseline baseline;
    baseline.name = "this_computer";
    baseline.description =
        fmt::format("{}, {} core{}", m.computer.name, m.computer.cores, m.computer.cores == 1 ? "" : "s");
    baseline.cores = static_cast<std::uint32_t>(m.computer.cores);
    baseline.clock_mhz = m.computer.clock_mhz;
    baseline.peak_fp32_gflops = m.peak_gops(m.fp32_peak);
    baseline.peak_int8_gops = m.peak_gops(m.int8_peak);
    baseline.memory_gb_per_s = m.read_gb_per_s();
    baseline.on_chip_mib = static_cast<double>(m.computer.cache_bytes) / 1024.0 / 1024.0;
    if (m.watts) {
        baseline.power.idle_watts = m.watts->idle;
        baseline.power.busy_watts = m.watts->busy;
    }
    constexpr double microseconds = 1e6;
    baseline.efficiency.peak_share = 1.0;
    baseline.efficiency.memory_share = 1.0;
    baseline.efficiency.layer_microseconds = m.call.median * microseconds;
    baseline.measured = {.model = m.model,
                         .batch = m.batch,
                         .fp32_inferences_per_second = m.inferences_per_second(m.fp32),
                         .int8_inferences_per_second = m.inferences_per_second(m.int8)};

    const auto source = [&](const char* key, const std::string& text) {
        baseline.sources[key] = "measured by sim baseline --measure: " + text;
    };
    const std::string cube =
        fmt::format("oneDNN's product of {0} x {0} x {0} on all cores, attained", m.peak_size);
    source("cores", "cores that the process may use");
    if (baseline.clock_mhz > 0.0) source("clock_mhz", m.computer.clock_source);
    source("peak_fp32_gflops", cube);
    source("peak_int8_gops", cube);
    source("memory_gb_per_s", fmt::format("{} MiB read on all cores", m.read_bytes >> 20U));
    if (baseline.on_chip_mib > 0.0) source("on_chip_mib", "largest cache that core 0 sees");
    if (m.watts) {
        source("power.idle_watts", "energy counters of all packages, no work given");
        source("power.busy_watts", "energy counters of all packages, while the network's products ran");
    }
    source("efficiency.layer_microseconds", "a product of one element");
    baseline.sources["efficiency.precision"] = "choice: peak and measured products are given in int8, too";
    baseline.sources["efficiency.peak_share"] = "choice: 1, the peak is what is attained";
    baseline.sources["efficiency.memory_share"] = "choice: 1, the bandwidth is what is attained";
    const std::string products = "the network's matrix products alone, convolutions as im2col";
    source("measured.batch", "as asked for");
    source("measured.fp32_inferences_per_second", products);
    source("measured.int8_inferences_per_second", products);
    return baseline;
}

}  // namespace systole::measure
