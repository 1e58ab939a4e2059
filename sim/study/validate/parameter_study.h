#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/source.h"
#include "sim/run/path_finder.h"
#include "sim/study/validate/evidence.h"
#include "sim/study/validate/machine_parameters.h"
#include "sim/study/validate/noticing.h"
#include "sim/study/validate/runs.h"
#include "sim/study/validate/setup.h"
#include "sim/view/table/table.h"
#include "sim/view/terminal/look.h"

/// Every parameter of the machines of a validation: its source, and what would notice if it were wrong.
namespace systole::validate {

/// The machine with another value, and the published figure whose error grows most; none if no error grows.
struct Trial {
    std::string change;
    std::optional<Growth> growth;
    std::string failure = {};  ///< why a workload cannot run on it at all; else empty

    bool is_noticed() const { return !failure.empty() || (growth && growth->is_noticed()); }
};

struct ParameterRow {
    MachineParameter parameter;
    std::optional<machine::Source> source;  ///< absent: the file leaves the key out
    std::vector<Trial> trials;
    std::string test;       ///< that would fail; or empty
    std::string unchanged;  ///< why there are no trials; or empty

    bool is_noticed_by_figure() const;
    bool is_noticed() const { return is_noticed_by_figure() || !test.empty(); }
    std::string kind() const;
    /// What notices, in one line; "none" if nothing does.
    std::string noticed_by() const;
    /// The largest growth of all changes, for what nothing notices.
    std::string largest_growth() const;
};

struct MachineParameters {
    std::string machine;  ///< its name
    std::string beside;   ///< the machine from which the listed parameters differ; empty: all are listed
    std::vector<ParameterRow> rows;
};

struct ParameterStudy {
    std::string target;
    std::vector<MachineParameters> machines;
};

/// Changes each parameter alone and runs the workloads again: of the target's machine with fitted parameters,
/// then of the others those parameters that differ from it. Throws ConfigError, ModelError.
ParameterStudy study_parameters(const std::string& target, const run::PathFinder& paths);
/// The same with given parts. The first of `machines` is the one from which the others differ. `file` is that
/// of the evidence and leads the messages about it.
ParameterStudy study_parameters(const Setup& setup, const std::vector<machine::MachineConfig>& machines,
                                const Evidence& evidence, const std::string& file, const Simulate& simulate);

/// How many parameters of each kind are noticed by what.
tables::Table parameter_summary(const ParameterStudy& study);
tables::Table parameter_table(const MachineParameters& machine);
/// The parameters that nothing notices: what to validate next.
tables::Table unnoticed_table(const ParameterStudy& study);

std::string to_text(const ParameterStudy& study, const terminal::Look& look = {});
nlohmann::ordered_json to_json(const ParameterStudy& study);
/// The page of documentation: the template with "summary", "none", and a table for each machine by its name.
std::string to_page(const ParameterStudy& study, std::string_view page_template, const std::string& file);

}  // namespace systole::validate
