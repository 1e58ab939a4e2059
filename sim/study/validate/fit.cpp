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

#include "sim/study/validate/records.h"

namespace systole::validate {
namespace {

/// A place on the finest grid: an index on each axis.
using Point = std::array<std::uint32_t, 3>;
using Workloads = std::vector<std::size_t>;

Workloads all_workloads() {
    return {MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1};
}

/// All simulations of a fit; the sets of workloads that are fitted share them.
class Search {
public:
    Search(const FitGrid& grid, const machine::MachineConfig& machine,
           const ByWorkload<double>& useful_percent, const ByWorkload<run::RunSpec>& workloads,
           const Simulate& simulate)
        : axes_(grid.axes),
          finest_(1U << grid.refinements),
          machine_(machine),
          useful_percent_(useful_percent),
          workloads_(workloads),
          simulate_(simulate) {}

    /// Simulates every point of the grid as it is given.
    void try_grid() {
        std::array<std::vector<std::uint32_t>, 3> places;
        for (std::size_t axis = 0; axis < places.size(); ++axis) {
            for (std::uint32_t i = 0; i < axes_[axis].steps; ++i) places[axis].push_back(i * finest_);
        }
        want(places, all_workloads());
        simulate();
    }

    /// Moves the best point of each set, by `step` on each axis, until it has no better neighbour.
    void try_around(std::vector<Workloads> sets, std::uint32_t step) {
        while (!sets.empty()) {
            std::map<Workloads, Point> centres;
            for (const Workloads& set : sets) {
                const Point centre = centres[set] = best(set);
                want({around(centre, 0, step), around(centre, 1, step), around(centre, 2, step)}, set);
            }
            simulate();
            std::erase_if(sets, [&](const Workloads& set) { return best(set) == centres[set]; });
        }
    }

    /// Simulates all workloads at the best point of each set: the held-out ones may be missing there.
    void try_best(const std::vector<Workloads>& sets) {
        for (const Workloads& set : sets) {
            const Point point = best(set);
            want({{{point[0]}, {point[1]}, {point[2]}}}, all_workloads());
        }
        simulate();
    }

    Fit result(const Workloads& set) const {
        const Point point = best(set);
        const Errors& errors = errors_.at(point);
        Workloads others = all_workloads();
        std::erase_if(others, [&](std::size_t i) { return std::ranges::count(set, i) > 0; });
        return {.fitted = set,
                .parameters = parameters(point),
                .errors = by_workload([&](std::size_t i) { return errors[i].value(); }),
                .fitted_error = mean_error(set, errors).value(),
                .held_out_error = others.empty() ? 0.0 : mean_error(others, errors).value()};
    }

    std::uint32_t finest() const { return finest_; }
    std::size_t simulations() const { return simulations_; }

private:
    /// The errors of the workloads that were simulated at a point.
    using Errors = ByWorkload<std::optional<double>>;

    /// The place of the centre on one axis, and its neighbours inside the grid.
    std::vector<std::uint32_t> around(const Point& centre, std::size_t axis, std::uint32_t step) const {
        std::vector<std::uint32_t> places{centre[axis]};
        if (centre[axis] >= step) places.push_back(centre[axis] - step);
        if (centre[axis] + step <= (axes_[axis].steps - 1) * finest_) places.push_back(centre[axis] + step);
        return places;
    }

    /// Notes the workloads that were not yet simulated at the points with these places on the axes.
    void want(const std::array<std::vector<std::uint32_t>, 3>& places, const Workloads& workloads) {
        for (const std::uint32_t i : places[0]) {
            for (const std::uint32_t j : places[1]) {
                for (const std::uint32_t k : places[2]) {
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

    Parameters parameters(const Point& point) const {
        const auto value = [&](std::size_t axis) {
            GridAxis fine = axes_[axis];
            fine.steps = (fine.steps - 1) * finest_ + 1;
            return fine.value(point[axis]);
        };
        return {value(0), value(1), value(2)};
    }

    /// Mean absolute error; absent if one of the workloads was not simulated.
    static std::optional<double> mean_error(const Workloads& workloads, const Errors& errors) {
        double sum = 0.0;
        for (const std::size_t workload : workloads) {
            if (!errors[workload]) return std::nullopt;
            sum += std::abs(*errors[workload]);
        }
        return sum / static_cast<double>(workloads.size());
    }

    /// The point with the least error; of equals, the first in the order of the axes.
    Point best(const Workloads& set) const {
        Point found{};
        double least = std::numeric_limits<double>::infinity();
        for (const auto& [point, errors] : errors_) {
            const std::optional<double> error = mean_error(set, errors);
            if (!error || *error >= least) continue;
            least = *error;
            found = point;
        }
        return found;
    }

    const std::array<GridAxis, 3> axes_;
    const std::uint32_t finest_;  ///< places of the finest grid from one step of the given grid to the next
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
    sets.push_back(all_workloads());
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

Fits fit(const FitGrid& grid, const machine::MachineConfig& machine, const ByWorkload<double>& useful_percent,
         const ByWorkload<run::RunSpec>& workloads, const Simulate& simulate) {
    Search search(grid, machine, useful_percent, workloads, simulate);
    const std::vector<Workloads> sets = fit_sets();
    search.try_grid();
    for (std::uint32_t step = search.finest() / 2; step > 0; step /= 2) search.try_around(sets, step);
    search.try_best(sets);

    Fits fits;
    fits.all = search.result(sets.back());
    for (std::size_t i = 0; i + 1 < sets.size(); ++i) {
        fits.splits.push_back(search.result(sets[i]));
        fits.held_out_mean += fits.splits.back().held_out_error;
    }
    fits.held_out_mean /= static_cast<double>(fits.splits.size());
    fits.simulations = search.simulations();
    return fits;
}

}  // namespace systole::validate
