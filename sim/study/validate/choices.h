#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/path_finder.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/runs.h"
#include "sim/study/validate/setup.h"
#include "sim/view/table/table.h"
#include "sim/view/terminal/look.h"

/// The choices that were made with published counters in view: what the scores would be with each turned the
/// other way.
namespace systole::validate {

/// The scores of one way to run and to compute.
struct ChoiceScore {
    Choice choice;
    std::map<std::string, Number> scores;  ///< by name; without those that were not asked for
};

struct Choices {
    Setup setup;
    ChoiceScore as_made;
    std::vector<ChoiceScore> turned;  ///< in the order of the target's file
    bool has_long = false;            ///< also the scores that need a fit or many runs
};

/// Runs what the scores need, once for each choice: the target's file with the choice's change. With `refit`
/// also the long scores. Throws ConfigError, ModelError.
Choices study_choices(const std::string& target, const run::PathFinder& paths, bool refit);
/// The same with files that are read.
Choices study_choices(const Setup& setup, const Simulate& simulate, bool refit);

tables::Table choices_table(const Choices& choices);
std::string to_text(const Choices& choices, const terminal::Look& look = {});
nlohmann::ordered_json to_json(const Choices& choices);
/// The page of documentation: the template with the table.
std::string to_page(const Choices& choices, std::string_view page_template, const std::string& file);

}  // namespace systole::validate
