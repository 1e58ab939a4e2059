#pragma once

#include <array>

#include "hw/machine/machine_config.h"
#include "sim/study/validate/fit.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/simulations.h"

/// What the machine would do with another memory, clock or array.
namespace systole::validate {

/// The machine with one of Figure 11's parameters scaled. The memory's bandwidth; the clock alone, while what
/// is in seconds stays (memory, host, latencies in ns), or with it the accumulators; the array's rows and
/// columns, while the bytes of the unified buffer stay, and with them the accumulators by the square of the
/// scale. Accumulators are counted as the article does: in rows, each as wide as the array.
/// Throws ConfigError where the result is no machine.
machine::MachineConfig scaled(machine::MachineConfig machine, Curve what, double scale);

/// Performance over that of the machine as it is, without the host's time.
struct Sensitivity {
    /// By curve and scale.
    std::array<std::array<ByWorkload<double>, scales.size()>, curve_names.size()> performance{};
};

Sensitivity sensitivity(const machine::MachineConfig& machine, const ByWorkload<NetworkId>& networks,
                        Simulator& simulator);

/// Performance of one machine over another's, without the host's time.
ByWorkload<double> speedup(const ByWorkload<Measurement>& faster, const ByWorkload<Measurement>& than);

/// One batch of each workload.
ByWorkload<Measurement> measure_all(const machine::MachineConfig& machine,
                                    const ByWorkload<NetworkId>& networks, Simulator& simulator);

}  // namespace systole::validate
