#include "sim/study/validate/validate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/study/validate/formula_fits.h"
#include "sim/study/validate/study_rows.h"

namespace systole::validate {
namespace {

bool has_rows_of(const Target& target, const char* study) {
    return std::ranges::any_of(target.tables,
                               [&](const TableFormulas& table) { return table.rows_of == study; });
}

/// Collects the names in all formulas of tables, figures and JSON.
class Needs {
public:
    explicit Needs(Formulas& formulas) : formulas_(formulas) {}

    void add(const std::string& formula, const std::string& place) {
        if (!formula.empty()) formulas_.add_needs(formula, names, place);
    }
    void add_text(const std::string& text, const std::string& place) {
        for (const std::string& formula : formulas_.formulas_in(text, place)) add(formula, place);
    }
    void add(const RowFormulas& row, const std::string& place) {
        add_text(row.label, place);
        for (const CellFormulas& cell : row.cells) {
            add_text(cell.text, place);
            add(cell.value, place);
            add(cell.row, place);
        }
        for (const RowFormulas& inner : row.rows) add(inner, place);
    }

    std::set<std::string> names;

private:
    Formulas& formulas_;
};

std::set<std::string> needs_of(const Target& target, const std::string& file, Formulas& formulas) {
    Needs needs(formulas);
    for (const TableFormulas& table : target.tables) {
        const std::string place = "tables." + table.id;
        check_study(table.rows_of, table.id, file);
        needs.add_text(table.title, place);
        for (const RowFormulas& row : table.rows) needs.add(row, place);
        for (const Note& note : table.notes) {
            needs.add_text(note.text, place);
            needs.add(note.unless, place);
        }
    }
    for (const FigureFormulas& figure : target.figures) {
        for (const std::string* const formula : {&figure.published, &figure.ours, &figure.roofline}) {
            needs.add(*formula, "figures, " + figure.place);
        }
    }
    for (const auto& [key, formula] : target.json) needs.add(formula, "json." + key);
    for (const FitRow& row : target.fit.rows) needs.add(row.error, "fit");
    needs.add(target.fit.measured, "fit");
    needs.add(target.fit.predicted, "fit");
    return needs.names;
}

}  // namespace

Results validate(const std::string& target, const run::PathFinder& paths) {
    Results results = validate(read_setup(target, paths), make_simulate());
    if (has_rows_of(results.setup.target, "array_fill")) {
        results.array_fill = studies::study_fill(results.setup.machine, studies::fill_points());
    }
    return results;
}

Results validate(const Setup& setup, const Simulate& simulate) {
    Results results{.setup = setup, .formulas = formulas_of(setup)};
    Formulas& formulas = results.formulas;
    const Target& target = results.setup.target;
    results.baseline_errors = baseline_errors(results.setup, formulas);
    Runs runs(results.setup, simulate);
    // The runs of the first fits know nothing of later ones; further runs may have what was fitted.
    for (const FormulaFit& fit : target.formula_fits) {
        Needs needs(formulas);
        needs.add(fit.grid.rows.front().error, "formula_fits." + fit.name);
        runs.need(needs.names, formulas);
        know_formula_fit(fit, results.setup, formulas);
    }
    runs.need(needs_of(target, results.setup.file, formulas), formulas);
    if (!target.fit.axes.empty()) {
        results.fits = fit(results.setup, runs, formulas);
        know_fits(results.fits, results.setup, formulas);
    }
    results.figures = figures_of(target, results.baseline_errors, formulas);
    return results;
}

}  // namespace systole::validate
