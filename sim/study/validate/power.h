#pragma once

#include "sim/study/validate/results.h"

/// Watts against load (Figure 10), ours: the TPU's by its simulated events, those of CPU and GPU by the idle
/// and busy watts that are published of them (configs/baselines), in proportion to load.
namespace systole::validate {

/// Watts that grow evenly with the load.
struct Proportional {
    double idle = 0.0;
    double busy = 0.0;

    double at(double load) const { return idle + load * (busy - idle); }
    double share_at(double load) const { return at(load) / busy; }
};

/// Of a die. CPU: its part of the server, memory included, as the figure has it. With the host: and its part
/// of the CPU server, of which the text of Figure 10 says how busy it is while the accelerators are.
/// `workload` is what the TPU runs; nothing is known of what the watts of the others depend on.
Proportional watts(const Results& results, PowerCurve curve, Workload workload);

/// Throws ConfigError for a baseline that does not say the watts that the curves take.
void require_watts(const baselines::Baseline& cpu, const baselines::Baseline& gpu);

}  // namespace systole::validate
