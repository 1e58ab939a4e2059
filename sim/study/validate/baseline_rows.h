#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/baselines/expected.h"
#include "sim/study/validate/published.h"

/// Published figures of one die of CPU and GPU on the six workloads. The efficiency model of a baseline is
/// fitted to them and compared with them.
namespace systole::validate {

enum class Processor : std::uint8_t { Cpu, Gpu };

/// The quantity of a figure. A multiply-accumulate counts two operations in TeraOps/s.
enum class Measure : std::uint8_t { TeraOps, InferencesPerSecond };

struct PublishedThroughput {
    std::string source;  ///< "Figure 6", "Table 4", ...
    baselines::Network network;
    std::uint32_t batch = 0;
    Measure measure = Measure::InferencesPerSecond;
    double value = 0.0;
    double latency_ms = 0.0;  ///< 99th percentile; 0: not published
};

/// The processor's points of Figure 6 or 7, in the order of the workloads, then its rows of Table 4.
///
/// The figures place their points at multiply-accumulates a weight byte, which with 4-byte weights give the
/// batch. Only MLP0's is Table 4's within the limit of latency: its 5,482 inferences/s on the CPU are Figure
/// 6's 0.2 TeraOps/s, though the figure draws it where a batch of 32 would be.
std::vector<PublishedThroughput> published_throughput(const Published& published, Processor processor);

/// The workload with its weights divided equally among its layers, because only their sum is published. The
/// TPU's batch and its multiply-accumulates per weight byte give the number of uses of each weight.
/// Activations are not published; the model assumes that they stay on the die.
baselines::Network evenly_shared(const Table1& table, std::size_t workload);

}  // namespace systole::validate
