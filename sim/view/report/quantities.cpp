// Quantities of a run of which several sections make their figures.
#include <algorithm>

#include "sim/view/report/report.h"
#include "sim/view/report/sections.h"

namespace systole::report {

std::optional<double> ratio(double numerator, double denominator) {
    if (!(denominator > 0.0)) return std::nullopt;
    return numerator / denominator;
}

std::optional<double> ratio(std::uint64_t numerator, std::uint64_t denominator) {
    return ratio(static_cast<double>(numerator), static_cast<double>(denominator));
}

double seconds_of(Cycle cycles, const machine::MachineConfig& machine) {
    return static_cast<double>(cycles) / static_cast<double>(machine.clock_hz());
}

std::uint64_t weight_bytes(const run::RunRecord& record, std::optional<run::Tag> tag) {
    std::uint64_t bytes = 0;
    for (const std::string& path : record.main_unit().main->weights) {
        const run::Counter& counter = record.counters.at(path);
        bytes += tag ? counter.value(*tag) : counter.value();
    }
    return bytes;
}

std::optional<double> tops(std::uint64_t macs, double seconds) {
    return ratio(2.0 * static_cast<double>(macs) / 1e12, seconds);
}

Json roofline_json(const machine::MachineConfig& machine, std::uint64_t macs, std::uint64_t fetched_bytes) {
    const auto place = ratio(macs, fetched_bytes);
    if (!place || !parts_of(machine.family).weight_memory) return nullptr;
    const double peak_macs = machine.peak_ops_per_second() / 2.0;
    const Rate rate = machine.weight_rate();
    const double bytes_per_second = static_cast<double>(rate.bytes) / static_cast<double>(rate.cycles) *
                                    static_cast<double>(machine.clock_hz());
    return {{"macs_per_weight_byte", *place},
            {"ridge_macs_per_weight_byte", peak_macs / bytes_per_second},
            {"bound_tops", 2.0 * std::min(peak_macs, *place * bytes_per_second) / 1e12},
            {"peak_tops", machine.peak_ops_per_second() / 1e12}};
}

const machine::Bound* largest_bound(const std::vector<machine::Bound>& bounds, std::optional<run::Tag> tag) {
    const auto cycles = [tag](const machine::Bound& bound) {
        return tag ? bound.value(*tag) : bound.value();
    };
    const machine::Bound* largest = nullptr;
    for (const machine::Bound& each : bounds) {
        if (each.name == "macs") continue;
        if (largest == nullptr || cycles(each) > cycles(*largest)) largest = &each;
    }
    return largest;
}

}  // namespace systole::report
