#include "sim/study/validate/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/run/execute/scratch_folder.h"
#include "sim/study/validate/comparison.h"
#include "sim/view/table/page.h"

namespace systole::validate {
namespace {

/// A way to run the workloads that changes nothing.
const Variant as_they_are{.label = "as chosen", .instead_of = {}, .seen = {}};

/// Row 2 of Table 3 as it would be if cycles followed from row 9, operations a second. Runs of a workload
/// have the same operations for each useful multiply-accumulate of a cell, whatever the machine.
ByWorkload<double> useful_by_row_9(const Setup& setup, const Simulate& simulate) {
    const ByWorkload<double> tera = setup.published.table_3(tera_row);
    const ByWorkload<run::RunRecord> records = run_all(setup.workloads, setup.machine, simulate);
    return by_workload(
        [&](std::size_t i) { return 100.0 * useful_share(records[i]) * tera[i] / tera_ops(records[i]); });
}

ChoiceScore score_of(const Setup& setup, const Variant& variant, bool refit, const Simulate& simulate) {
    const ByWorkload<double> useful =
        variant.by_row_9 ? useful_by_row_9(setup, simulate) : setup.published.table_3(useful_row);
    const auto errors = [&](const machine::MachineConfig& machine) {
        return cycles_errors(useful, run_variant(setup, variant, machine, simulate).records);
    };
    ChoiceScore score{.label = variant.label,
                      .instead_of = variant.instead_of,
                      .seen = variant.seen,
                      .published = errors(setup.published_machine),
                      .fitted = errors(setup.machine),
                      .refit = {},
                      .figure_11 = {}};
    if (!refit) return score;
    const machine::MachineConfig machine = machine_of(setup, variant, setup.machine);
    const ByWorkload<run::RunSpec> workloads = workloads_of(setup, variant);
    if (variant.batches == 1) {
        FitGrid grid = setup.target.fit;
        grid.loss = variant.loss.value_or(grid.loss);
        score.refit = fit(grid, machine, useful, workloads, simulate);
    }
    run::ScratchFolder made;
    const ByWorkload<double> weights = variant.mlp0_percent
                                           ? weights_of(setup.published, *variant.mlp0_percent / 100.0)
                                           : weights_of(setup.published);
    const auto curves = sensitivity(
        variant.sixteen_bit_figure_11 ? workloads : with_8_bit_lstms(workloads, made), machine, simulate);
    score.figure_11 = largest(sensitivity_errors(setup.published, weights, curves));
    return score;
}

/// As they are shown.
bool same_figures(const Row& first, const Row& second) {
    return std::ranges::equal(first.cells, second.cells, {}, &Cell::text, &Cell::text);
}

nlohmann::ordered_json to_json(const ChoiceScore& score) {
    const auto rounded = [](double value) { return tables::rounded(value, 6); };
    nlohmann::ordered_json json{{"label", score.label},
                                {"instead_of", score.instead_of},
                                {"seen", score.seen},
                                {"published_error", rounded(score.published.mean)},
                                {"fitted_error", rounded(score.fitted.mean)}};
    if (score.figure_11) json["figure_11_error"] = rounded(*score.figure_11);
    if (score.refit) json["refitted_error"] = rounded(score.refit->fitted_error);
    return json;
}

}  // namespace

Choices study_choices(const std::string& target, const run::PathFinder& paths, bool refit) {
    const Simulate simulate = make_simulate();
    Choices choices{.setup = read_setup(target, paths), .as_made = {}, .turned = {}};
    choices.as_made = score_of(choices.setup, as_they_are, refit, simulate);
    for (const Variant& variant : choices.setup.target.choices) {
        choices.turned.push_back(score_of(choices.setup, variant, refit, simulate));
    }
    return choices;
}

Table choices_table(const Choices& choices) {
    Table table = choices.setup.target.tables.at("choices");
    const auto add = [&](const ChoiceScore& score) {
        table.add(score.label, {Cell::percent(score.published.mean), Cell::percent(score.fitted.mean),
                                score.refit ? Cell::percent(score.refit->fitted_error) : Cell(),
                                score.figure_11 ? Cell::percent(*score.figure_11) : Cell()});
    };
    add(choices.as_made);
    for (const ChoiceScore& score : choices.turned) {
        add(score);
        const bool moves =
            !score.refit || !score.figure_11 || !same_figures(table.rows.front(), table.rows.back());
        table.notes.push_back(fmt::format("{}. Chosen: {}. In view: {}.{}", score.label, score.instead_of,
                                          score.seen, moves ? "" : " It moves no figure."));
    }
    return table;
}

std::string to_text(const Choices& choices, const terminal::Look& look) {
    return to_text(choices_table(choices), look);
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
    return tables::filled_page(page_template, {{"choices", to_markdown(choices_table(choices))}}, file);
}

}  // namespace systole::validate
