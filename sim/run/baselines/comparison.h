#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "hw/machine/machine_config.h"
#include "sim/run/baselines/band.h"
#include "sim/run/baselines/baseline.h"

namespace systole::baselines {

/// The work of a network, for any processor.
struct Work {
    std::uint64_t macs = 0;     ///< multiply-accumulates of one inference
    std::uint64_t weights = 0;  ///< elements
    std::uint32_t batch = 1;    ///< inferences that share one pass over the weights
};

/// A number format as a processor computes in it.
struct Format {
    double operations_per_second = 0.0;  ///< peak of one die; 0: not known
    double element_bytes = 0.0;
};

Format format_of(const Baseline& baseline, Precision precision);

/// The number format in which a baseline's roofline stands beside a machine: for one whose array multiplies
/// floats of 16 bits, the quicker of the baseline's formats of 16 bits; else, and where it has none, fp32.
Precision precision_beside(const machine::MachineConfig& machine, const Baseline& baseline);

/// The most a processor can do by its peak and its memory bandwidth.
struct Roofline {
    double inferences_per_second = 0.0;
    bool memory_bound = false;
};

/// An upper bound for one die of the baseline: a batch takes at least the time of its operations at the peak,
/// and at least that of one pass over the weights at the memory's bandwidth. Absent if the network has no
/// work or the baseline has no peak in this precision.
std::optional<Roofline> roofline(const Baseline& baseline, const Work& work, Precision precision);

/// The seconds that work in fp32 takes on one die, by the baseline's efficiency model (expected.h): its
/// operations or its memory traffic, whichever takes longer, and the launch of each layer. Without an
/// efficiency, the roofline, which is a lower bound.
struct WorkCosts {
    double per_operation = 0;
    double per_byte = 0;
    double per_layer = 0;

    double seconds(double layers, double operations, double bytes) const {
        return layers * per_layer + std::max(operations * per_operation, bytes * per_byte);
    }
};
WorkCosts work_costs(const Baseline& baseline);

/// A throughput of the chip alone, with the host's time added: inferences a second at the typical share, and
/// their band from the most to the least share.
struct WithHostTime {
    double inferences_per_second = 0.0;
    Band band;
};
WithHostTime with_host_time(double inferences_per_second, const machine::HostPercent& host);

/// Performance per watt of our server over the baseline's; absent where watts are not known.
struct PerformancePerWatt {
    std::optional<double> total;        ///< the host's watts included
    std::optional<double> incremental;  ///< the host's watts subtracted
};

/// Compares servers by thermal design power: inferences a second of all dies, over watts. The incremental
/// figure subtracts the host from our server, and from the baseline's server if this has accelerators. This
/// rule reproduces the published performance per watt of the servers of TPU v1 and K80
/// (ISCA 2017, Figure 9) from the published performance per die.
PerformancePerWatt performance_per_watt(const machine::ServerConfig& ours, double our_inferences_per_second,
                                        const Baseline& baseline, double its_inferences_per_second);

}  // namespace systole::baselines
