#include "sim/study/validate/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace systole::validate {
namespace {

/// A place on the finest grid: an index on each axis.
using Point = std::array<std::uint32_t, 3>;
/// Some indices on each axis; they stand for all points with these.
using Indices = std::array<std::vector<std::uint32_t>, 3>;
/// The errors of the workloads that were simulated at a point.
using Errors = ByWorkload<std::optional<double>>;

/// The loss of some workloads; absent if one of them was not simulated.
std::optional<double> loss_of(Loss loss, const Workloads& workloads, const Errors& errors) {
    double sum = 0.0;
    double most = 0.0;
    for (const std::size_t workload : workloads) {
        if (!errors[workload]) return std::nullopt;
        const double error = std::abs(*errors[workload]);
        sum += loss == Loss::MeanSquare ? error * error : error;
        most = std::max(most, error);
    }
    switch (loss) {
        case Loss::MeanAbsolute:
        case Loss::MeanSquare:
            return sum / static_cast<double>(workloads.size());
        case Loss::Largest:
            return most;
    }
    throw std::logic_error("a loss that does not exist");
}

std::optional<double> mean_error(const Workloads& workloads, const Errors& errors) {
    return loss_of(Loss::MeanAbsolute, workloads, errors);
}

/// All simulations of a fit; the sets of workloads that are fitted share them.
class Search {
public:
    Search(const FitGrid& grid, const machine::MachineConfig& machine,
           const ByWorkload<double>& useful_percent, const ByWorkload<run::RunSpec>& workloads,
           const Simulate& simulate)
        : axes_(grid.axes),
          loss_(grid.loss),
          finest_(1U << grid.refinements),
          machine_(machine),
          useful_percent_(useful_percent),
          workloads_(workloads),
          simulate_(simulate) {}

    /// Simulates the grid as it is given, then around the best point of each set, then all workloads at the
    /// best points.
    void run(const std::vector<Workloads>& sets) {
        Indices grid;
        for (std::size_t axis = 0; axis < grid.size(); ++axis) {
            for (std::uint32_t i = 0; i < axes_[axis].steps; ++i) grid[axis].push_back(i * finest_);
        }
        want(grid, all_workloads);
        simulate();
        for (std::uint32_t step = finest_ / 2; step > 0; step /= 2) try_around(sets, step);
        for (const Workloads& set : sets) want(around(best(set), 0), all_workloads);
        simulate();
    }

    Fit result(const Workloads& set) const {
        const Point point = best(set);
        const Errors& errors = errors_.at(point);
        Workloads others = all_workloads;
        std::erase_if(others, [&](std::size_t i) { return std::ranges::count(set, i) > 0; });
        return {.fitted = set,
                .parameters = parameters(point),
                .errors = by_workload([&](std::size_t i) { return errors[i].value(); }),
                .fitted_error = mean_error(set, errors).value(),
                .others_error = others.empty() ? 0.0 : mean_error(others, errors).value()};
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
        Indices indices;
        for (std::size_t axis = 0; axis < point.size(); ++axis) {
            indices[axis].push_back(point[axis]);
            if (point[axis] >= step) indices[axis].push_back(point[axis] - step);
            if (point[axis] + step < fine(axis).steps) indices[axis].push_back(point[axis] + step);
        }
        return indices;
    }

    /// Notes the workloads that were not yet simulated at the points with these indices.
    void want(const Indices& indices, const Workloads& workloads) {
        for (const std::uint32_t i : indices[0]) {
            for (const std::uint32_t j : indices[1]) {
                for (const std::uint32_t k : indices[2]) {
                    for (const std::size_t workload : workloads) {
                        if (!errors_[{i, j, k}][workload]) wanted_.insert({{i, j, k}, workload});
                    }
                }
            }
        }
    }

    void simulate() {
        std::vector<run::RunSpec> specs;
        for (const auto& [point, workload] : wanted_) {
            specs.push_back(with_machine(workloads_[workload], with(machine_, parameters(point))));
        }
        const std::vector<run::RunRecord> records = simulate_(specs);
        auto next = records.begin();
        for (const auto& [point, workload] : wanted_) {
            errors_[point][workload] = cycles_error(useful_percent_[workload], *next++);
        }
        simulations_ += wanted_.size();
        wanted_.clear();
    }

    /// The axis with the steps of the finest grid.
    GridAxis fine(std::size_t axis) const {
        return {axes_[axis].from, axes_[axis].to, (axes_[axis].steps - 1) * finest_ + 1};
    }

    Parameters parameters(const Point& point) const {
        return {fine(0).value(point[0]), fine(1).value(point[1]), fine(2).value(point[2])};
    }

    /// The point with the least loss; of equals, the first in the order of the axes.
    Point best(const Workloads& set) const {
        Point found{};
        double least = std::numeric_limits<double>::infinity();
        for (const auto& [point, errors] : errors_) {
            const std::optional<double> error = loss_of(loss_, set, errors);
            if (!error || *error >= least) continue;
            least = *error;
            found = point;
        }
        return found;
    }

    const std::array<GridAxis, 3> axes_;
    const Loss loss_;
    const std::uint32_t finest_;  ///< indices from one step of the given grid to the next
    const machine::MachineConfig& machine_;
    const ByWorkload<double>& useful_percent_;
    const ByWorkload<run::RunSpec>& workloads_;
    const Simulate& simulate_;
    std::map<Point, Errors> errors_;
    std::set<std::pair<Point, std::size_t>> wanted_;
    std::size_t simulations_ = 0;
};

/// Each three of the six, then all six.
std::vector<Workloads> fit_sets() {
    std::vector<Workloads> sets;
    for (std::size_t i = 0; i < workload_count; ++i) {
        for (std::size_t j = i + 1; j < workload_count; ++j) {
            for (std::size_t k = j + 1; k < workload_count; ++k) sets.push_back({i, j, k});
        }
    }
    sets.push_back(all_workloads);
    return sets;
}

}  // namespace

machine::MachineConfig with(machine::MachineConfig machine, const Parameters& parameters) {
    machine.weight_memory.bandwidth_gb_per_s = parameters[0];
    machine.activation_unit.latency_ns = parameters[1];
    machine.host_interface.latency_ns = parameters[2];
    return machine;
}

Parameters parameters_of(const machine::MachineConfig& machine) {
    return {machine.weight_memory.bandwidth_gb_per_s, machine.activation_unit.latency_ns,
            machine.host_interface.latency_ns};
}

double cycles_error(double published_useful_percent, const run::RunRecord& ours) {
    const double share = useful_share(ours);
    if (share == 0.0) throw std::logic_error("a workload without multiply-accumulates");
    return published_useful_percent / (100.0 * share) - 1.0;
}

CyclesErrors cycles_errors(const ByWorkload<double>& useful_percent, const ByWorkload<run::RunRecord>& ours) {
    CyclesErrors errors;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double error = cycles_error(useful_percent[i], ours[i]);
        errors.by_workload[i] = error;
        errors.mean += std::abs(error) / static_cast<double>(workload_count);
        errors.largest = std::max(errors.largest, std::abs(error));
    }
    return errors;
}

Fit fit(const FitGrid& grid, const machine::MachineConfig& machine, const ByWorkload<double>& useful_percent,
        const ByWorkload<run::RunSpec>& workloads, const Simulate& simulate) {
    Search search(grid, machine, useful_percent, workloads, simulate);
    search.run({all_workloads});
    return search.result(all_workloads);
}

Fits fit_splits(const FitGrid& grid, const machine::MachineConfig& machine,
                const ByWorkload<double>& useful_percent, const ByWorkload<run::RunSpec>& workloads,
                const Simulate& simulate) {
    Search search(grid, machine, useful_percent, workloads, simulate);
    const std::vector<Workloads> sets = fit_sets();
    search.run(sets);

    Fits fits;
    fits.all = search.result(sets.back());
    for (std::size_t i = 0; i + 1 < sets.size(); ++i) {
        fits.splits.push_back(search.result(sets[i]));
        fits.others_mean += fits.splits.back().others_error;
    }
    fits.others_mean /= static_cast<double>(fits.splits.size());
    fits.simulations = search.simulations();
    return fits;
}

}  // namespace systole::validate
