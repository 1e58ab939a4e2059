#pragma once

#include <array>

#include "hw/machine/machine_config.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/simulator.h"

/// Performance of the machine with another memory, clock or array.
namespace systole::validate {

/// The machine with one of Figure 11's parameters scaled: the bandwidth of the memory; the clock, alone or
/// with the accumulators (times in seconds stay: memory, host, latencies in ns); the rows and columns of the
/// array, alone or with the accumulators by the square of the scale (the bytes of the unified buffer stay).
/// Accumulators are counted as in the article: in rows, each as wide as the array.
/// Throws ConfigError if the result is no machine.
machine::MachineConfig scaled(machine::MachineConfig machine, Curve curve, double scale);

/// By curve and scale: performance over that of the machine as it is, without the host's time.
using Sensitivity = std::array<std::array<ByWorkload<double>, scales.size()>, curve_names.size()>;

Sensitivity sensitivity(const machine::MachineConfig& machine, const ByWorkload<NetworkId>& networks,
                        Simulator& simulator);

/// Performance of one machine over another's, without the host's time.
ByWorkload<double> speedup(const ByWorkload<run::RunRecord>& faster, const ByWorkload<run::RunRecord>& than);

}  // namespace systole::validate
