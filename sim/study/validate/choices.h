#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/run/path_finder.h"
#include "sim/study/validate/fit.h"
#include "sim/study/validate/setup.h"
#include "sim/view/table/table.h"

/// The choices that were made with published counters in view: what the score would be with each turned the
/// other way.
namespace systole::validate {

/// The score of one way to run the workloads.
struct ChoiceScore {
    std::string label;
    std::string instead_of;
    std::string seen;
    CyclesErrors published;    ///< on the machine with published parameters alone
    CyclesErrors fitted;       ///< on the machine with fitted parameters
    std::optional<Fit> refit;  ///< with the parameters fitted again
    std::optional<double>
        figure_11;  ///< the largest error of its points, on the machine with fitted parameters
};

struct Choices {
    Setup setup;
    ChoiceScore as_made;
    std::vector<ChoiceScore> turned;  ///< in the order of the target's file
};

/// Runs the workloads once for each choice. With `refit` also fits the free parameters to each, except to
/// variants of several batches, and runs the machines of Figure 11. Throws ConfigError, ModelError.
Choices study_choices(const std::string& target, const run::PathFinder& paths, bool refit);

Table choices_table(const Choices& choices);
std::string to_text(const Choices& choices, const terminal::Look& look = {});
nlohmann::ordered_json to_json(const Choices& choices);
/// The page of documentation: the template with the table.
std::string to_page(const Choices& choices, std::string_view page_template, const std::string& file);

}  // namespace systole::validate
