#include "sim/study/validate/sensitivity.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

std::uint32_t times(std::uint32_t count, double factor, const char* what) {
    const double product = count * factor;
    if (product != std::floor(product) || product < 1.0 || product > 4294967295.0) {
        throw machine::ConfigError(
            fmt::format("{} is {}; {} times as many is no whole number of them", what, count, factor));
    }
    return static_cast<std::uint32_t>(product);
}

void scale_array(machine::MachineConfig& machine, double scale) {
    machine::MatrixUnitConfig& array = machine.matrix_unit;
    array.rows = times(array.rows, scale, "matrix_unit.rows");
    array.columns = times(array.columns, scale, "matrix_unit.columns");
    // Its rows are as wide as the array.
    machine.unified_buffer.rows = times(machine.unified_buffer.rows, 1.0 / scale, "unified_buffer.rows");
}

void scale_accumulators(machine::MachineConfig& machine, double scale) {
    machine.accumulators.rows = times(machine.accumulators.rows, scale, "accumulators.rows");
}

}  // namespace

machine::MachineConfig scaled(machine::MachineConfig machine, Curve curve, double scale) {
    switch (curve) {
        case Memory:
            machine.weight_memory.bandwidth_gb_per_s *= scale;
            return machine;
        case Clock:
            machine.clock_mhz *= scale;
            return machine;
        case ClockPlus:
            machine.clock_mhz *= scale;
            scale_accumulators(machine, scale);
            return machine;
        case Matrix:
            scale_array(machine, scale);
            return machine;
        case MatrixPlus:
            scale_array(machine, scale);
            scale_accumulators(machine, scale * scale);
            return machine;
    }
    throw std::logic_error("a curve that does not exist");
}

ByWorkload<double> speedup(const ByWorkload<run::RunRecord>& faster, const ByWorkload<run::RunRecord>& than) {
    return by_workload([&](std::size_t i) { return device_seconds(than[i]) / device_seconds(faster[i]); });
}

Sensitivity sensitivity(const machine::MachineConfig& machine, const ByWorkload<NetworkId>& networks,
                        Simulator& simulator) {
    // All at once, so that all cores have work.
    std::vector<Case> cases;
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        for (const double scale : scales) {
            const machine::MachineConfig other = scaled(machine, static_cast<Curve>(curve), scale);
            for (const NetworkId network : networks) cases.push_back({network, other});
        }
    }
    const std::vector<run::RunRecord> records = simulator.run(cases);
    const ByWorkload<run::RunRecord> base = simulator.run_all(machine, networks);
    Sensitivity performance;
    auto next = records.begin();
    for (auto& curve : performance) {
        for (ByWorkload<double>& point : curve) {
            point =
                by_workload([&](std::size_t i) { return device_seconds(base[i]) / device_seconds(*next++); });
        }
    }
    return performance;
}

}  // namespace systole::validate
