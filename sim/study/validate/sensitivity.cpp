#include "sim/study/validate/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
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

machine::MachineConfig scaled(machine::MachineConfig machine, Curve what, double scale) {
    switch (what) {
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

ByWorkload<double> speedup(const ByWorkload<Measurement>& faster, const ByWorkload<Measurement>& than) {
    ByWorkload<double> factors{};
    for (std::size_t i = 0; i < workload_count; ++i) {
        factors[i] = than[i].device_seconds() / faster[i].device_seconds();
    }
    return factors;
}

ByWorkload<Measurement> measure_all(const machine::MachineConfig& machine,
                                    const ByWorkload<NetworkId>& networks, Simulator& simulator) {
    std::vector<Case> cases;
    for (const NetworkId network : networks) cases.push_back({network, machine});
    const std::vector<Measurement> measured = simulator.run(cases);
    ByWorkload<Measurement> result;
    std::copy(measured.begin(), measured.end(), result.begin());
    return result;
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
    const std::vector<Measurement> measured = simulator.run(cases);
    const ByWorkload<Measurement> base = measure_all(machine, networks, simulator);
    Sensitivity result;
    auto next = measured.begin();
    for (auto& curve : result.performance) {
        for (ByWorkload<double>& point : curve) {
            ByWorkload<Measurement> here;
            std::copy_n(next, workload_count, here.begin());
            next += workload_count;
            point = speedup(here, base);
        }
    }
    return result;
}

}  // namespace systole::validate
