#include "sim/study/validate/study_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/study/validate/figures.h"

namespace systole::validate {

using tables::Cell;
using tables::Cells;
using tables::joined;
using tables::Table;

namespace {

using Some = std::vector<const Figure*>;

Cell count(std::size_t number) {
    return Cell::number(static_cast<double>(number), 0);
}

Cell error_cell(const std::optional<double>& error) {
    return error ? Cell::difference(100.0 * *error, 0) : Cell::figure("no value");
}

Some those(const std::vector<Figure>& figures, const std::function<bool(const Figure&)>& wanted) {
    Some some;
    for (const Figure& figure : figures) {
        if (wanted(figure)) some.push_back(&figure);
    }
    return some;
}

std::vector<std::string> places_of(const Some& figures) {
    std::vector<std::string> places;
    for (const Figure* figure : figures) {
        if (std::ranges::count(places, figure->place) == 0) places.push_back(figure->place);
    }
    return places;
}

void add_scores(const Results& results, Table& to) {
    const auto add = [&](const std::string& label, const Some& some) {
        const Closeness close = closeness(some);
        Cells cells{count(close.figures)};
        for (const std::size_t within : close.within) cells.push_back(count(within));
        cells.push_back(std::isfinite(close.median) ? Cell::percent(close.median) : Cell::figure("none"));
        cells.push_back(error_cell(close.worst->error()));
        to.add(label, std::move(cells));
    };
    for (std::size_t origin = 0; origin < origin_names.size(); ++origin) {
        const auto is_of = [&](const Figure& figure) { return figure.origin == static_cast<Origin>(origin); };
        const Some of_origin = those(results.figures, is_of);
        if (of_origin.empty()) continue;
        add(std::string(origin_names[origin]), of_origin);
        for (const std::string& place : places_of(of_origin)) {
            add("  " + place, those(results.figures, [&](const Figure& figure) {
                    return is_of(figure) && figure.place == place;
                }));
        }
    }
}

/// The figures that a roofline has, too, and how many of both are close.
void add_null_scores(const Results& results, Table& to) {
    const auto add = [&](const std::string& label, const std::function<bool(const std::string&)>& counts) {
        Some some = those(results.figures, [&](const Figure& figure) {
            return figure.origin == Origin::Simulated && figure.has_roofline && counts(figure.place);
        });
        Cells cells{count(some.size())};
        for (const auto error : {&Figure::error, &Figure::roofline_error}) {
            for (const std::size_t within : closeness(some, error).within) cells.push_back(count(within));
        }
        to.add(label, std::move(cells));
        return some;
    };
    const Some all = add("all that both have", [](const std::string&) { return true; });
    for (const std::string& group : results.setup.target.groups) {
        // "Table 1" is none of "Table 10".
        const auto is_of_group = [&](const std::string& place) {
            const std::string_view rest =
                std::string_view(place).substr(std::min(group.size(), place.size()));
            return place.starts_with(group) && (rest.empty() || rest[0] < '0' || rest[0] > '9');
        };
        add(group, is_of_group);
        for (const std::string& place : places_of(all)) {
            if (!is_of_group(place)) continue;
            add("  " + place, [&](const std::string& other) { return other == place; });
        }
    }
}

/// A model of another processor knows too little of it for more than two digits.
Cell ours_cell(const Figure& figure) {
    if (figure.origin == Origin::Model && figure.ours) return Cell::rough(*figure.ours);
    return Cell::number(figure.ours, figure.digits);
}

void add_figures(const Results& results, Table& to) {
    for (const Figure& figure : results.figures) {
        to.add(figure.place, {Cell::words(figure.what),
                              Cell::words(std::string(origin_names[static_cast<std::size_t>(figure.origin)])),
                              Cell::number(figure.published, figure.digits), ours_cell(figure),
                              error_cell(figure.error()), Cell::number(figure.roofline, figure.digits),
                              figure.roofline ? error_cell(figure.roofline_error()) : Cell()});
    }
}

Cell percent(Number fraction) {
    return fraction ? Cell::percent(*fraction) : Cell();
}

void add_fits(const Results& results, Table& to) {
    const FitGrid& grid = results.setup.target.fit;
    const auto add = [&](std::string label, const Parameters& parameters, const Cells& errors) {
        Cells cells;
        for (std::size_t i = 0; i < grid.axes.size(); ++i) {
            cells.push_back(parameters.empty()
                                ? Cell()
                                : Cell::number(parameters[i], static_cast<int>(grid.axes[i].digits)));
        }
        to.add(std::move(label), joined(std::move(cells), errors));
    };
    const Fits& fits = results.fits;
    const std::vector<Element>& workloads = results.setup.target.lists.at("workloads");
    for (const Fit& fit : fits.splits) {
        std::vector<std::string> names;
        for (const std::size_t workload : fit.fitted) names.push_back(workloads[workload].name);
        add(fmt::format("{}", fmt::join(names, " ")), fit.parameters,
            {Cell::percent(fit.fitted_error), Cell::percent(fit.others_error), percent(fit.null_error)});
    }
    if (!fits.splits.empty()) {
        add("mean of the splits", {}, {{}, percent(fits.others_mean), percent(fits.null_others_mean)});
    }
    add(grid.label, fits.all.parameters, {Cell::percent(fits.all.fitted_error), {}, {}});
    add("machine file", parameters_of(results.setup.machine, grid), {});
}

/// The machine's value of each parameter of the fit, of the first run that has it.
Parameters shipped_parameters(const Results& results) {
    Parameters values;
    const FitGrid& grid = results.setup.target.fit;
    for (const GridAxis& axis : grid.axes) {
        const std::string run = axis.of.empty() ? grid.rows.front().run : axis.of.front();
        const RunSet set = run.empty() ? RunSet{} : results.setup.target.runs.at(run);
        FitGrid one = grid;
        one.axes = {axis};
        const bool is_targets = set.machine.empty() || set.machine == results.setup.target.machine;
        values.push_back(parameters_of(
            is_targets ? results.setup.machine
                       : machine::read_machine(results.setup.beside.find(set.machine, "machines")),
            one)[0]);
    }
    return values;
}

/// Each fit without a few workloads: its constants, the mean of its own errors, mean and worst of the
/// others'.
void add_left_out(const Results& results, Table& to) {
    const Fits& fits = results.fits;
    const FitGrid& grid = results.setup.target.fit;
    const std::vector<Element>& workloads = results.setup.target.lists.at("workloads");
    const auto add = [&](const std::string& label, const Parameters& parameters, const Cells& errors) {
        Cells cells;
        for (std::size_t i = 0; i < grid.axes.size(); ++i) {
            cells.push_back(parameters.empty()
                                ? Cell()
                                : Cell::number(parameters[i], static_cast<int>(grid.axes[i].digits)));
        }
        to.add(label, joined(std::move(cells), errors));
    };
    for (const Fit& fit : fits.splits) {
        std::vector<std::string> others;
        for (std::size_t i = 0; i < workloads.size(); ++i) {
            if (std::ranges::count(fit.fitted, i) == 0) others.push_back(workloads[i].name);
        }
        add(fmt::format("without {}", fmt::join(others, " ")), fit.parameters,
            {percent(fit.fitted_error), percent(fit.others_error), percent(fit.others_worst)});
    }
    if (!fits.splits.empty()) {
        add("left out: mean, worst", {}, {{}, percent(fits.others_mean), percent(fits.others_worst)});
    }
    add(grid.label, fits.all.parameters,
        {percent(fits.all.fitted_error), {}, percent(fits.all.fitted_worst)});
    add("machine files", shipped_parameters(results), {});
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void add_baselines(const Results& results, Table& to) {
    const BaselineErrors& errors = results.baseline_errors;
    for (const auto* part : {&errors.throughput, &errors.latency, &errors.batch, &errors.ratio}) {
        for (const BaselineErrorRow& row : *part) {
            const bool large = row.published >= 100.0;
            to.add(fmt::format("{}, {}", row.source, row.label),
                   {Cell::words(row.workload), row.batch == 0 ? Cell() : Cell::number(row.batch, 0),
                    Cell::words(row.unit), Cell::number(row.published, large ? 0 : 1), Cell::rough(row.ours),
                    Cell::difference(100.0 * row.error(), 0),
                    row.left_out_error ? Cell::difference(100.0 * *row.left_out_error, 0) : Cell()});
        }
    }
    for (const auto& [name, baseline] : results.setup.baselines) {
        std::vector<double> sizes;
        std::vector<double> left_out;
        for (const BaselineErrorRow& row : errors.throughput) {
            if (row.baseline != baseline.name) continue;
            sizes.push_back(100.0 * std::abs(row.error()));
            left_out.push_back(100.0 * std::abs(row.left_out_error.value()));
        }
        if (sizes.empty()) continue;
        const std::string note = fmt::format(
            "{}: throughput is off by {:.0f} to {:.0f} %, mean {:.0f} %; left out {:.0f} %.", baseline.name,
            std::ranges::min(sizes), std::ranges::max(sizes), mean(sizes), mean(left_out));
        to.notes.insert(to.notes.empty() ? to.notes.end() : to.notes.end() - 1,
                        note);  // the last has the reason
    }
}

void add_array_fill(const Results& results, Table& to) {
    constexpr double half_full = 0.5;  // share of the peak: "begins to fill the array"
    for (const studies::FillRow& row : results.array_fill) {
        Cells cells{Cell::number(row.point.network.width_multiplier, 0), Cell::number(row.point.batch, 0)};
        if (row.error.empty()) {
            for (const double share :
                 {row.useful, row.active, row.weight_stall, row.weight_shift, row.non_matrix}) {
                cells.push_back(Cell::percent(share));
            }
            cells.push_back(Cell::number(row.inferences_per_second, 0));
        }
        to.add(fmt::format("{}", row.point.network.size_multiplier), std::move(cells));
    }
    const auto first = studies::first_above(results.array_fill, half_full);
    if (to.notes.empty()) to.notes.emplace_back();
    to.notes.back() +=
        first ? fmt::format(" The first to use more than half of the array: size {}, width {}, batch {}.",
                            first->point.network.size_multiplier, first->point.network.width_multiplier,
                            first->point.batch)
              : std::string(" None of them uses more than half of the array.");
}

using Add = void (*)(const Results&, Table&);
const std::map<std::string, Add>& studies_by_name() {
    static const std::map<std::string, Add> all{
        {"scores", add_scores},    {"null_scores", add_null_scores}, {"figures", add_figures},
        {"fits", add_fits},        {"baselines", add_baselines},     {"array_fill", add_array_fill},
        {"left_out", add_left_out}};
    return all;
}

}  // namespace

void check_study(const std::string& study, const std::string& table, const std::string& file) {
    if (study.empty() || study == "choices" || studies_by_name().contains(study)) return;
    std::vector<std::string> names{"choices"};
    for (const auto& [name, add] : studies_by_name()) names.push_back(name);
    throw machine::ConfigError(fmt::format("{}: tables.{}.rows_of is \"{}\"; it must be one of {}", file,
                                           table, study, fmt::join(names, ", ")));
}

void add_study_rows(const std::string& study, const Results& results, Table& to) {
    check_study(study, to.id, results.setup.file);
    studies_by_name().at(study)(results, to);
}

}  // namespace systole::validate
