#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/study/validate/published.h"

/// Table 4: batches that arrive at random and are served one after the other, so that the latency of a batch
/// alone is also the interval between two batches.
namespace systole::validate {

struct ServiceFigures {
    double capacity = 0.0;         ///< inferences a second of a chip that is always busy
    double load = 0.0;             ///< at the published inferences a second
    std::optional<double> p99_ms;  ///< of the latency of an inference there; absent at a load of 99 % or more
    double most_in_limit = 0.0;    ///< inferences a second within the published limit of latency
};

/// `path` is the published row: "table_4.tpu.within_limit". `latency_seconds` is that of a batch alone.
ServiceFigures service_figures(const Published& published, const std::string& path, std::uint32_t batch,
                               double latency_seconds);

}  // namespace systole::validate
