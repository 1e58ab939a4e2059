// A measurement for a terminal of 80 columns.
#include <fmt/format.h>

#include "sim/measure/measure.h"

namespace systole::measure {
namespace {

std::string spread(const Timing& timing) {
    return fmt::format("+-{:.0f} %", 50.0 * timing.spread);
}

double gops(std::uint64_t macs, const Timing& timing) {
    return 2.0 * static_cast<double>(macs) / timing.median / 1e9;
}

std::string row(std::string_view name, const std::string& shape, std::uint64_t macs, const Timing& fp32,
                const Timing& int8) {
    return fmt::format("  {:<16.16} {:<22.22} {:>9.1f} {:>8} {:>9.1f} {:>8}\n", name, shape, gops(macs, fp32),
                       spread(fp32), gops(macs, int8), spread(int8));
}

std::string entry(std::string_view name, const std::string& value, std::string_view remark) {
    return fmt::format("  {:<18}{:>16}   {}\n", name, value, remark);
}

}  // namespace

std::string to_text(const Measurement& m) {
    const Computer& computer = m.computer;
    std::string text =
        fmt::format("{:.60}, {} core{}\n\n", computer.name, computer.cores, computer.cores == 1 ? "" : "s");
    if (computer.clock_mhz > 0.0) {
        text += entry("clock", fmt::format("{:.0f} MHz", computer.clock_mhz), computer.clock_source);
    }
    text += entry("cores had", fmt::format("{:.0f} %", 100.0 * m.core_share),
                  "of their time for the peak in fp32");
    const std::string cube = fmt::format("a product of {0} x {0} x {0}", m.peak_size);
    text += entry("peak fp32", fmt::format("{:.1f} GFLOPS", m.peak_gops(m.fp32_peak)),
                  fmt::format("{}; {}", cube, spread(m.fp32_peak)));
    text += entry("peak int8", fmt::format("{:.1f} GOPS", m.peak_gops(m.int8_peak)),
                  fmt::format("{}; {}", cube, spread(m.int8_peak)));
    text += entry("memory", fmt::format("{:.1f} GB/s", m.read_gb_per_s()),
                  fmt::format("{} MiB read; {}", m.read_bytes >> 20U, spread(m.read)));
    text += entry("a call", fmt::format("{:.2f} us", m.call.median * 1e6), "a product of one element");
    if (m.watts) {
        text += entry("idle", fmt::format("{:.1f} W", m.watts->idle), "all packages");
        text +=
            entry("busy", fmt::format("{:.1f} W", m.watts->busy), "all packages, the products below in fp32");
    } else {
        text += fmt::format("  energy is not measured: {}\n", m.no_watts_because);
    }
    text += fmt::format("\nMatrix products of {:.40}, batch {}\n", m.model, m.batch);
    text += fmt::format("  {:<16} {:<22} {:>9} {:>8} {:>9} {:>8}\n", "layer", "rows x columns x depth",
                        "GFLOPS", "fp32", "GOPS", "int8");
    for (std::size_t i = 0; i < m.products.products.size(); ++i) {
        const Product& product = m.products.products[i];
        text += row(product.layer, fmt::format("{} x {} x {}", product.m, product.n, product.k),
                    product.macs(), m.fp32.each[i], m.int8.each[i]);
    }
    text += row("all", "", m.products.macs(), m.fp32.pass, m.int8.pass);
    for (const std::string& layer : m.products.left_out) {
        text += fmt::format("  {:<16.16} left out: it is no matrix product\n", layer);
    }
    text += entry("throughput fp32", fmt::format("{:.0f} inf/s", m.inferences_per_second(m.fp32)),
                  "the products alone: an upper bound");
    text += entry("throughput int8", fmt::format("{:.0f} inf/s", m.inferences_per_second(m.int8)), "");
    text += fmt::format("  (medians of {} and {} passes; +-: half the distance between the quartiles)\n",
                        m.fp32.pass.repetitions, m.int8.pass.repetitions);
    std::string trimmed;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        std::string line = text.substr(begin, end - begin);
        line.erase(line.find_last_not_of(' ') + 1);
        trimmed += line + '\n';
        begin = end + 1;
    }
    return trimmed;
}

}  // namespace systole::measure
