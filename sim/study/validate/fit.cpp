#include "sim/study/validate/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/study/validate/machines.h"
#include "sim/study/validate/null_models/least_error.h"

namespace systole::validate {
namespace {

/// A place on the finest grid: an index on each axis.
using Point = std::vector<std::uint32_t>;
/// Some indices on each axis; they stand for all points with these.
using Indices = std::vector<std::vector<std::uint32_t>>;
/// The errors that were simulated at a point: of all workloads of the first row, then of the next.
using PointErrors = std::vector<std::optional<double>>;

/// The loss of some workloads of `count` in all rows; absent if one of them was not simulated.
std::optional<double> loss_of(Loss loss, const Workloads& workloads, std::size_t count,
                              const PointErrors& errors) {
    double sum = 0.0;
    double most = 0.0;
    if (errors.empty()) return std::nullopt;
    for (std::size_t first = 0; first < errors.size(); first += count) {
        for (const std::size_t workload : workloads) {
            if (!errors[first + workload]) return std::nullopt;
            const double error = std::abs(*errors[first + workload]);
            sum += loss == Loss::MeanSquare ? error * error : error;
            most = std::max(most, error);
        }
    }
    const std::size_t rows = errors.size() / count;
    const auto all = static_cast<double>(workloads.size() * rows);
    switch (loss) {
        case Loss::MeanAbsolute:
        case Loss::MeanSquare:
            return sum / all;
        case Loss::Largest:
            return most;
    }
    throw std::logic_error("a loss that does not exist");
}

Workloads first_workloads(std::size_t count) {
    Workloads all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

Workloads others_of(const Workloads& set, std::size_t count) {
    Workloads others = first_workloads(count);
    std::erase_if(others, [&](std::size_t i) { return std::ranges::count(set, i) > 0; });
    return others;
}

/// All tasks of a fit; the sets of workloads that are fitted share them.
class Search {
public:
    Search(const FitGrid& grid, std::size_t workloads, const Errors& errors_of)
        : axes_(grid.axes),
          loss_(grid.loss),
          finest_(1U << grid.refinements),
          rows_(std::max<std::size_t>(grid.rows.size(), 1)),
          all_(first_workloads(workloads)),
          errors_of_(errors_of) {}

    /// The grid as it is given, then around the best point of each set, then all workloads at the best
    /// points.
    void run(const std::vector<Workloads>& sets) {
        Indices grid(axes_.size());
        for (std::size_t axis = 0; axis < grid.size(); ++axis) {
            for (std::uint32_t i = 0; i < axes_[axis].steps; ++i) grid[axis].push_back(i * finest_);
        }
        want(grid, all_);
        simulate();
        for (std::uint32_t step = finest_ / 2; step > 0; step /= 2) try_around(sets, step);
        for (const Workloads& set : sets) want(around(best(set), 0), all_);
        simulate();
    }

    Fit result(const Workloads& set) const {
        const Point point = best(set);
        const PointErrors& errors = errors_.at(point);
        const Workloads others = others_of(set, all_.size());
        const auto loss = [&](Loss kind, const Workloads& workloads) {
            return workloads.empty() ? 0.0 : loss_of(kind, workloads, all_.size(), errors).value();
        };
        Fit fit{.fitted = set,
                .parameters = parameters(point),
                .errors = {},
                .fitted_error = loss(Loss::MeanAbsolute, set),
                .others_error = loss(Loss::MeanAbsolute, others),
                .fitted_worst = loss(Loss::Largest, set),
                .others_worst = loss(Loss::Largest, others)};
        for (const std::optional<double>& error : errors) fit.errors.push_back(error.value());
        return fit;
    }

    std::size_t simulations() const { return simulations_; }

private:
    /// Moves the best point of each set, by `step` on each axis, until it has no better neighbour.
    void try_around(std::vector<Workloads> sets, std::uint32_t step) {
        while (!sets.empty()) {
            std::map<Workloads, Point> centres;
            for (const Workloads& set : sets) want(around(centres[set] = best(set), step), set);
            simulate();
            std::erase_if(sets, [&](const Workloads& set) { return best(set) == centres[set]; });
        }
    }

    /// The point and its neighbours inside the grid.
    Indices around(const Point& point, std::uint32_t step) const {
        Indices indices(axes_.size());
        for (std::size_t axis = 0; axis < point.size(); ++axis) {
            indices[axis].push_back(point[axis]);
            if (point[axis] >= step) indices[axis].push_back(point[axis] - step);
            if (point[axis] + step < fine(axis).steps) indices[axis].push_back(point[axis] + step);
        }
        return indices;
    }

    /// Notes the workloads that were not yet simulated at the points with these indices.
    void want(const Indices& indices, const Workloads& workloads) {
        Point point(axes_.size());
        const auto choose = [&](const auto& self, std::size_t axis) -> void {
            if (axis < axes_.size()) {
                for (const std::uint32_t index : indices[axis]) {
                    point[axis] = index;
                    self(self, axis + 1);
                }
                return;
            }
            PointErrors& errors = errors_[point];
            errors.resize(rows_ * all_.size());
            for (std::size_t row = 0; row < rows_; ++row) {
                for (const std::size_t workload : workloads) {
                    const std::size_t number = row * all_.size() + workload;
                    if (!errors[number]) wanted_.insert({point, number});
                }
            }
        };
        choose(choose, 0);
    }

    void simulate() {
        std::vector<FitTask> tasks;
        for (const auto& [point, number] : wanted_) {
            tasks.push_back({number % all_.size(), parameters(point), number / all_.size()});
        }
        const std::vector<double> errors = errors_of_(tasks);
        auto next = errors.begin();
        for (const auto& [point, number] : wanted_) errors_[point][number] = *next++;
        simulations_ += wanted_.size();
        wanted_.clear();
    }

    /// The axis with the steps of the finest grid.
    GridAxis fine(std::size_t axis) const {
        GridAxis fine = axes_[axis];
        fine.steps = (fine.steps - 1) * finest_ + 1;
        return fine;
    }

    Parameters parameters(const Point& point) const {
        Parameters values;
        for (std::size_t axis = 0; axis < point.size(); ++axis)
            values.push_back(fine(axis).value(point[axis]));
        return values;
    }

    /// The point with the least loss; of equals, the first in the order of the axes.
    Point best(const Workloads& set) const {
        Point found(axes_.size());
        double least = std::numeric_limits<double>::infinity();
        for (const auto& [point, errors] : errors_) {
            const std::optional<double> error = loss_of(loss_, set, all_.size(), errors);
            if (!error || *error >= least) continue;
            least = *error;
            found = point;
        }
        return found;
    }

    const std::vector<GridAxis>& axes_;
    const Loss loss_;
    const std::uint32_t finest_;  ///< indices from one step of the given grid to the next
    const std::size_t rows_;
    const Workloads all_;
    const Errors& errors_of_;
    std::map<Point, PointErrors> errors_;
    std::set<std::pair<Point, std::size_t>> wanted_;  ///< places in PointErrors
    std::size_t simulations_ = 0;
};

/// Each set of so many, in lexical order, then all.
std::vector<Workloads> fit_sets(std::size_t workloads, std::size_t size) {
    std::vector<Workloads> sets;
    Workloads set;
    const auto choose = [&](const auto& self, std::size_t from) -> void {
        if (set.size() == size) {
            sets.push_back(set);
            return;
        }
        for (std::size_t i = from; i < workloads; ++i) {
            set.push_back(i);
            self(self, i + 1);
            set.pop_back();
        }
    };
    if (size > 0 && size < workloads) choose(choose, 0);
    sets.push_back(first_workloads(workloads));
    return sets;
}

/// The mean absolute error of the others when the factor is that of some workloads.
double null_error(const Workloads& fitted, const std::vector<double>& measured,
                  const std::vector<double>& predicted) {
    std::vector<double> some_measured;
    std::vector<double> some_predicted;
    for (const std::size_t i : fitted) {
        some_measured.push_back(measured[i]);
        some_predicted.push_back(predicted[i]);
    }
    const double factor = null_models::best_factor(some_measured, some_predicted);
    std::vector<double> errors;
    for (const std::size_t i : others_of(fitted, measured.size())) {
        errors.push_back(factor * predicted[i] / measured[i] - 1.0);
    }
    return null_models::mean_absolute(errors);
}

/// A number for each workload.
std::vector<double> whole_row(const std::string& formula, const std::string& place, const Setup& setup,
                              Formulas& formulas) {
    std::vector<double> numbers;
    if (formulas.list_of(formula, place) != &formulas.lists().at("workloads")) {
        throw machine::ConfigError(
            fmt::format("{}: {}: \"{}\" is no row of the workloads", setup.file, place, formula));
    }
    for (const auto& [element, number] : formulas.row(formula, place)) {
        if (!number) {
            throw machine::ConfigError(
                fmt::format("{}: {}: \"{}\" has no value for {}", setup.file, place, formula, element));
        }
        numbers.push_back(*number);
    }
    return numbers;
}

/// What the rows of a fit have to do with the target's runs.
void check_rows(const Setup& setup) {
    const FitGrid& grid = setup.target.fit;
    const auto fail = [&](const std::string& what) {
        throw machine::ConfigError(fmt::format("{}: fit: {}", setup.file, what));
    };
    for (const FitRow& row : grid.rows) {
        if (!row.run.empty() && !setup.target.runs.contains(row.run)) {
            fail(fmt::format("{} is none of the runs", row.run));
        }
        if (row.run.empty() && setup.target.batches > 1) {
            throw machine::ConfigError(fmt::format("{}: batches is {}; a fit is of one batch alone",
                                                   setup.file, setup.target.batches));
        }
    }
    for (const GridAxis& axis : grid.axes) {
        for (const std::string& run : axis.of) {
            if (std::ranges::count(grid.rows, run, &FitRow::run) > 0) continue;
            fail(fmt::format("{} is of {}, which is the run of no row", axis.key, run));
        }
    }
}

/// The errors by simulations; each is made once, whatever the parameters that its run does not have.
class Simulations {
public:
    Simulations(const Setup& setup, Runs& runs, Formulas& formulas)
        : setup_(setup), runs_(runs), formulas_(formulas) {}

    std::vector<double> operator()(const std::vector<FitTask>& tasks) {
        std::vector<FitRun> trials;
        std::vector<const FitTask*> new_tasks;
        for (const FitTask& task : tasks) {
            if (!errors_.emplace(key(task), 0.0).second) continue;
            const FitRow& row = setup_.target.fit.rows[task.row];
            trials.push_back({.run = row.run, .model = name_of(task), .changes = changes(task)});
            new_tasks.push_back(&task);
        }
        const std::vector<FitNumbers> numbers = runs_.tried(trials, formulas_);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            errors_[key(*new_tasks[i])] = error_of(*new_tasks[i], numbers[i]);
        }
        std::vector<double> errors;
        errors.reserve(tasks.size());
        for (const FitTask& task : tasks) errors.push_back(errors_.at(key(task)));
        return errors;
    }

    std::size_t count() const { return errors_.size(); }

private:
    using Key = std::pair<std::pair<std::size_t, std::size_t>, Parameters>;

    bool has(const FitTask& task, std::size_t axis) const {
        const std::vector<std::string>& of = setup_.target.fit.axes[axis].of;
        return of.empty() || std::ranges::count(of, setup_.target.fit.rows[task.row].run) > 0;
    }
    Key key(const FitTask& task) const {
        Parameters parameters;
        for (std::size_t i = 0; i < task.parameters.size(); ++i) {
            if (has(task, i)) parameters.push_back(task.parameters[i]);
        }
        return {{task.row, task.workload}, parameters};
    }
    MachineChanges changes(const FitTask& task) const {
        MachineChanges changes;
        for (std::size_t i = 0; i < task.parameters.size(); ++i) {
            if (has(task, i)) changes[setup_.target.fit.axes[i].key] = task.parameters[i];
        }
        return changes;
    }
    const std::string& name_of(const FitTask& task) const {
        return setup_.target.lists.at("workloads")[task.workload].name;
    }
    double error_of(const FitTask& task, const FitNumbers& numbers) {
        const std::string& formula = setup_.target.fit.rows[task.row].error;
        const std::string place = "fit.error";
        const Number error = formulas_.value(formula, name_of(task), numbers, place);
        if (error) return *error;
        throw machine::ConfigError(
            fmt::format("{}: {}: \"{}\" has no value for {}", setup_.file, place, formula, name_of(task)));
    }

    const Setup& setup_;
    Runs& runs_;
    Formulas& formulas_;
    std::map<Key, double> errors_;
};

}  // namespace

Parameters parameters_of(const machine::MachineConfig& machine, const FitGrid& grid) {
    const std::map<std::string, Number> numbers = flattened(machine::to_json(machine), "");
    Parameters values;
    for (const GridAxis& axis : grid.axes) {
        const auto found = numbers.find(axis.key);
        if (found == numbers.end()) {
            throw machine::ConfigError(
                fmt::format("{}: {} is no number of it that could be fitted", machine.name, axis.key));
        }
        values.push_back(found->second.value());
    }
    return values;
}

double null_others_mean(const std::vector<double>& measured, const std::vector<double>& predicted,
                        std::size_t size) {
    std::vector<Workloads> sets = fit_sets(measured.size(), size);
    sets.pop_back();  // all of them have no others
    double sum = 0.0;
    for (const Workloads& set : sets) sum += null_error(set, measured, predicted);
    return sum / static_cast<double>(sets.size());
}

Fits fit(const FitGrid& grid, std::size_t workloads, const Errors& errors) {
    return fit(grid, workloads, errors, fit_sets(workloads, grid.set_size));
}

Fits fit(const FitGrid& grid, std::size_t workloads, const Errors& errors,
         const std::vector<Workloads>& sets) {
    Search search(grid, workloads, errors);
    search.run(sets);

    Fits fits;
    fits.all = search.result(sets.back());
    double others = 0.0;
    for (std::size_t i = 0; i + 1 < sets.size(); ++i) {
        fits.splits.push_back(search.result(sets[i]));
        others += fits.splits.back().others_error;
        fits.others_worst = std::max(fits.others_worst.value_or(0.0), fits.splits.back().others_worst);
    }
    if (!fits.splits.empty()) fits.others_mean = others / static_cast<double>(fits.splits.size());
    fits.simulations = search.simulations();
    return fits;
}

Fits fit(const Setup& setup, Runs& runs, Formulas& formulas, bool splits) {
    FitGrid grid = setup.target.fit;
    if (!splits) grid.set_size = 0;
    check_rows(setup);
    Simulations simulations(setup, runs, formulas);
    Fits fits = fit(grid, setup.target.lists.at("workloads").size(), std::ref(simulations));
    fits.simulations = simulations.count();
    if (grid.measured.empty()) return fits;
    const std::vector<double> measured = whole_row(grid.measured, "fit.measured", setup, formulas);
    const std::vector<double> predicted = whole_row(grid.predicted, "fit.predicted", setup, formulas);
    for (Fit& split : fits.splits) split.null_error = null_error(split.fitted, measured, predicted);
    if (!fits.splits.empty()) fits.null_others_mean = null_others_mean(measured, predicted, grid.set_size);
    return fits;
}

void know_fits(const Fits& fits, const Setup& setup, Formulas& formulas) {
    formulas.know("fit.error", fits.all.fitted_error);
    formulas.know("fit.worst", fits.all.fitted_worst);
    formulas.know("fit.others_mean", fits.others_mean);
    formulas.know("fit.others_worst", fits.others_worst);
    formulas.know("fit.null_others_mean", fits.null_others_mean);
    formulas.know("fit.simulations", static_cast<double>(fits.simulations));
    const std::vector<FitRow>& rows = setup.target.fit.rows;
    const std::vector<Element>& workloads = setup.target.lists.at("workloads");
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rows[row].name.empty()) continue;
        for (std::size_t workload = 0; workload < workloads.size(); ++workload) {
            const std::size_t number = row * workloads.size() + workload;
            const auto know = [&](const char* what, Number error) {
                formulas.know(fmt::format("fit.{}.{}.{}", what, rows[row].name, workloads[workload].name),
                              error);
            };
            know("errors", fits.all.errors[number]);
            Number left_out;
            for (const Fit& split : fits.splits) {
                const bool is_alone = split.fitted.size() + 1 == workloads.size();
                if (is_alone && std::ranges::count(split.fitted, workload) == 0)
                    left_out = split.errors[number];
            }
            know("left_out", left_out);
        }
    }
}

}  // namespace systole::validate
