#pragma once

#include <functional>
#include <string>

#include "sim/run/record/fields.h"
#include "sim/run/record/record.h"
#include "sim/study/sweep/database.h"
#include "sim/study/sweep/metrics.h"

namespace systole::sweep {

/// What a worker answers of a point.
struct PointAnswer {
    std::string metrics;        ///< JSON
    std::string metrics_error;  ///< of the study, not of the point
    std::string bytes;          ///< of the record, compressed
};
SYSTOLE_RECORD_FIELDS(PointAnswer, metrics, metrics_error, bytes)

/// Computed in the process of the simulation, so that reports are made on all cores.
PointAnswer answer_of(const Metrics& metrics, const run::RunRecord& record);

/// The result of a worker's message, which is no death. `spec` makes the spec where it is needed: of a run
/// that failed. Throws ConfigError where a metric cannot be computed.
RunResult result_of(std::string message, const std::function<run::RunSpec()>& spec);

/// The key of a list of sentences beside the metrics, which is no name of a metric: why the report has no
/// figure that the run asks for.
constexpr const char* left_out_key = "left out";

/// The metrics of a report as JSON: an object of numbers and nulls, and left_out_key where there is such a
/// reason.
std::string metrics_json(const Metrics& metrics, const nlohmann::ordered_json& report);

}  // namespace systole::sweep
