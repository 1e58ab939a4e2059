#pragma once

#include <optional>
#include <string>

#include "sim/run/record/record.h"
#include "sim/view/report/figures.h"
#include "sim/view/terminal/look.h"

/// Sections of the text, each in its file.
namespace systole::report {

/// A report, the run that it is of, and how it is shown.
struct Shown {
    const Json& report;
    const run::RunRecord& record;
    const terminal::Look& look;
};

/// The cycles of each layer by class. Of many layers it lists the main ones (main_layers.h), unless all are
/// wanted.
std::string layer_table(const Shown& shown, bool all_layers = false);
/// Energy by unit, if the machine says what an event takes, and power.
std::string energy_text(const Shown& shown);
/// The area of the die by unit, with its error bar.
std::string area_text(const Shown& shown);
/// The run beside each baseline, die against die.
std::string comparison_text(const Json& report, const terminal::Look& look = {});
/// A line for each baseline and, if the run falls short against one, the shares of the array's cycles.
std::string claim_text(const Json& claim, const terminal::Look& look = {});
/// A line and a sentence for each baseline; the report has a call.
std::string call_text(const Json& report, const terminal::Look& look = {});
/// Latencies of requests, and how many there may be.
std::string requests_text(const Json& requests, const terminal::Look& look = {});
/// A step with the host that makes its input; the report has one.
std::string feeding_text(const Json& report, const terminal::Look& look = {});
/// Each epoch of a training, and how long its steps take.
std::string training_text(const Json& training, const terminal::Look& look = {});
/// How far each layer's numbers are from those of the network in float.
std::string accuracy_text(const Json& layers, const terminal::Look& look = {});

/// A line for each instruction, with its text at the end. The text is never cut; on a terminal it is wrapped.
/// Of several cores, a line for those in which it has the same times.
std::string instruction_table(const Json& report, const terminal::Look& look = {});
/// A line of any length for each cycle, with the registers of all cells side by side, row by row. On a
/// terminal the table has the cells that fit, and further tables have the others.
std::string register_table(const Json& registers, const terminal::Look& look = {});
/// A title and the values; each line begins with the index of its first value.
std::string buffer_text(const run::BufferContents& buffer, const terminal::Look& look = {});

/// "13,000 to 48,000": the ends of a band in a report, each as `show` prints it; empty without one.
std::string band_text(const Json& band, std::string (*show)(std::optional<double> value));

}  // namespace systole::report
