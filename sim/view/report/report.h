#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/record/record.h"
#include "sim/view/energy/power_over_time.h"
#include "sim/view/report/explanations.h"
#include "sim/view/report/figures.h"
#include "sim/view/terminal/look.h"

/// The report of a run: report.json, which text, comparison and page read. A ratio whose denominator is zero
/// is null.
namespace systole::report {

struct ReportOptions {
    const Explanations* explanations = nullptr;  ///< where the run asks for them
    bool with_layers = true;
};

/// Computes report.json, with the keys of "sim.report/1", from the record of a run.
Json make_report(const run::RunRecord& record, const ReportOptions& options = {});

/// The parts of the text, in their order: "summary", "matrix_unit", "layers", ... Each main unit has one.
std::vector<std::string_view> section_names();

/// Text with the named sections, in the order of section_names, or with all of them. Figures are read from
/// the report; the record has what its units say of themselves, and the tables that a run asks for. Of many
/// layers it lists the main ones (main_layers.h), unless all are wanted.
std::string to_text(const Json& report, const run::RunRecord& record,
                    std::span<const std::string> sections = {}, const terminal::Look& look = {},
                    bool all_layers = false);

/// The times of batches in seconds: see run::BatchLatency.
struct BatchSeconds {
    double interval = 0.0;  ///< the run's time over its batches, of which the last may have fewer inferences
    double latency = 0.0;   ///< from first byte in to last byte out, mean
    double largest = 0.0;   ///< of these latencies
    double first = 0.0;     ///< of the first batch
    double alone = 0.0;     ///< of one batch alone, or, if the run did not find out, `latency`
    /// Of a full batch with others behind it and none before it; and from the end of a full batch to that of
    /// the next, while the pipeline is full. Both are `alone` where it is not known how batches overlap: of a
    /// run of less than a batch, or without requests that arrive and with fewer than
    /// run::BatchLatency::enough.
    double followed = 0.0;
    double full_interval = 0.0;
};

/// Absent where the program does not state its batches.
std::optional<BatchSeconds> batch_seconds(const run::RunRecord& record);

/// The largest lower bound besides `macs`, which is of no mapping, of the run or of a tag; of equal ones the
/// first. Null if there is none.
const machine::Bound* largest_bound(const std::vector<machine::Bound>& bounds,
                                    std::optional<run::Tag> tag = {});

/// "c, d and 3 more".
std::string layers_text(std::span<const std::string> names);
/// The layers of `host_share` in a report.
std::string host_layers_text(const Json& host_share);

/// Absent if the run did not request it.
std::optional<energy::PowerOverTime> power_over_time(const run::RunRecord& record);

}  // namespace systole::report
