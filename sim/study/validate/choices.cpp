#include "sim/study/validate/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/study/validate/fit.h"
#include "sim/study/validate/tables.h"
#include "sim/view/table/page.h"

namespace systole::validate {

using tables::Cell;
using tables::Cells;
using tables::Row;
using tables::Table;

namespace {

ChoiceScore score_of(const Setup& base, const Choice& choice, bool refit, const Simulate& simulate) {
    const Setup setup = choice.change.is_null() ? base : changed(base, choice.change);
    Formulas formulas = formulas_of(setup);
    Runs runs(setup, simulate);
    std::vector<const Score*> wanted;
    std::set<std::string> names;
    for (const std::string& name : choice.without) {
        if (std::ranges::find(setup.target.scores, name, &Score::name) == setup.target.scores.end()) {
            throw machine::ConfigError(
                fmt::format("{}: choices: \"{}\" is without {}, which is none of the scores", setup.file,
                            choice.label, name));
        }
    }
    for (const Score& score : setup.target.scores) {
        if ((score.is_long && !refit) || std::ranges::count(choice.without, score.name) > 0) continue;
        wanted.push_back(&score);
        formulas.add_needs(score.value, names, "scores." + score.name);
    }
    runs.need(names, formulas);
    const bool needs_fit =
        std::ranges::any_of(names, [](const auto& name) { return name.starts_with("fit."); });
    // The fits to sets of workloads take as long again: only for scores that have them.
    const bool needs_splits = std::ranges::any_of(names, [](const auto& name) {
        return name.starts_with("fit.others_") || name.starts_with("fit.null_others_") ||
               name.starts_with("fit.left_out.");
    });
    if (needs_fit) know_fits(fit(setup, runs, formulas, needs_splits), setup, formulas);
    ChoiceScore result{.choice = choice, .scores = {}};
    for (const Score* const score : wanted) {
        result.scores[score->name] = formulas.value(score->value, "scores." + score->name);
    }
    return result;
}

/// As they are shown.
bool same_figures(const Row& first, const Row& second) {
    return std::ranges::equal(first.cells, second.cells, {}, &Cell::text, &Cell::text);
}

nlohmann::ordered_json to_json(const ChoiceScore& score) {
    nlohmann::ordered_json json{
        {"label", score.choice.label}, {"instead_of", score.choice.instead_of}, {"seen", score.choice.seen}};
    for (const auto& [name, number] : score.scores) {
        json[name] = number ? nlohmann::ordered_json(tables::rounded(*number, 6)) : nlohmann::ordered_json();
    }
    return json;
}

}  // namespace

Choices study_choices(const Setup& setup, const Simulate& simulate, bool refit) {
    Choices choices{.setup = setup, .as_made = {}, .turned = {}, .has_long = refit};
    const Choice as_they_are{.label = "as chosen", .instead_of = {}, .seen = {}, .change = {}, .without = {}};
    choices.as_made = score_of(setup, as_they_are, refit, simulate);
    for (const Choice& choice : setup.target.choices) {
        choices.turned.push_back(score_of(setup, choice, refit, simulate));
    }
    return choices;
}

Choices study_choices(const std::string& target, const run::PathFinder& paths, bool refit) {
    return study_choices(read_setup(target, paths), make_simulate(), refit);
}

Table choices_table(const Choices& choices) {
    const Target& target = choices.setup.target;
    const auto found = std::ranges::find(target.tables, "choices", &TableFormulas::rows_of);
    if (found == target.tables.end()) {
        throw machine::ConfigError(choices.setup.file + ": no table has the rows of \"choices\"");
    }
    Formulas formulas = formulas_of(choices.setup);
    Table table = table_of(*found, formulas);
    const std::size_t first = table.rows.size();
    const auto add = [&](const ChoiceScore& score) {
        Cells cells;
        for (const Score& each : target.scores) {
            const auto number = score.scores.find(each.name);
            const bool has_value = number != score.scores.end() && number->second;
            cells.push_back(has_value ? Cell::percent(*number->second) : Cell());
        }
        table.add(score.choice.label, std::move(cells));
    };
    add(choices.as_made);
    for (const ChoiceScore& score : choices.turned) {
        add(score);
        const bool moves = !choices.has_long || !score.choice.without.empty() ||
                           !same_figures(table.rows[first], table.rows.back());
        table.notes.push_back(fmt::format("{}. Chosen: {}. In view: {}.{}", score.choice.label,
                                          score.choice.instead_of, score.choice.seen,
                                          moves ? "" : " It moves no figure."));
    }
    return table;
}

std::string to_text(const Choices& choices, const terminal::Look& look) {
    return tables::to_text(choices_table(choices), look);
}

nlohmann::ordered_json to_json(const Choices& choices) {
    nlohmann::ordered_json json{{"schema", "sim.validation_choices/1"},
                                {"target", choices.setup.target.name},
                                {"as_chosen", to_json(choices.as_made)}};
    json["choices"] = nlohmann::ordered_json::array();
    for (const ChoiceScore& score : choices.turned) json["choices"].push_back(to_json(score));
    return json;
}

std::string to_page(const Choices& choices, std::string_view page_template, const std::string& file) {
    return tables::filled_page(page_template, {{"choices", tables::to_markdown(choices_table(choices))}},
                               file);
}

}  // namespace systole::validate
