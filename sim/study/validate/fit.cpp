#include "sim/study/validate/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

namespace systole::validate {
namespace {

/// A place on the finest grid, an index an axis.
using Point = std::array<std::uint32_t, 3>;

constexpr std::array<std::size_t, workload_count> all_workloads{MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1};

class Search {
public:
    Search(const FitGrid& grid, const machine::MachineConfig& machine,
           const ByWorkload<double>& useful_percent, const ByWorkload<NetworkId>& networks,
           Simulator& simulator)
        : axes_{grid.weight_memory_gb_per_s, grid.activation_latency_ns, grid.host_latency_ns},
          finest_(1U << grid.refinements),
          machine_(machine),
          useful_percent_(useful_percent),
          networks_(networks),
          simulator_(simulator) {}

    /// Every point of the grid as it is given.
    void try_grid() {
        std::set<Point> points;
        for (std::uint32_t i = 0; i < axes_[0].steps; ++i) {
            for (std::uint32_t j = 0; j < axes_[1].steps; ++j) {
                for (std::uint32_t k = 0; k < axes_[2].steps; ++k) {
                    points.insert({i * finest_, j * finest_, k * finest_});
                }
            }
        }
        for (const Point& point : points) want(point, all_workloads);
        simulate();
    }

    /// The neighbours, `step` places away on each axis, of each set's best, until that is the best of them.
    void try_around(const std::vector<std::vector<std::size_t>>& sets, std::uint32_t step) {
        std::vector<std::vector<std::size_t>> moving = sets;
        while (!moving.empty()) {
            std::vector<Point> centres;
            for (const std::vector<std::size_t>& set : moving) {
                centres.push_back(best(set));
                want_around(centres.back(), step, set);
            }
            simulate();
            std::vector<std::vector<std::size_t>> moved;
            for (std::size_t i = 0; i < moving.size(); ++i) {
                if (best(moving[i]) != centres[i]) moved.push_back(moving[i]);
            }
            moving = std::move(moved);
        }
    }

    /// All workloads at each set's best, of which those held out may not have been looked at.
    void try_best(const std::vector<std::vector<std::size_t>>& sets) {
        for (const std::vector<std::size_t>& set : sets) want(best(set), all_workloads);
        simulate();
    }

    Fit result(const std::vector<std::size_t>& set) const {
        const Point point = best(set);
        Fit fit;
        fit.fitted = set;
        fit.parameters = parameters(point);
        for (std::size_t i = 0; i < workload_count; ++i) fit.errors[i] = errors_.at(point)[i].value();
        fit.fitted_error = mean_error(set, fit.errors);
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < workload_count; ++i) {
            if (std::find(set.begin(), set.end(), i) == set.end()) others.push_back(i);
        }
        if (!others.empty()) fit.held_out_error = mean_error(others, fit.errors);
        return fit;
    }

    std::uint32_t finest() const { return finest_; }
    std::size_t simulations() const { return simulations_; }

private:
    std::vector<std::uint32_t> around(const Point& centre, std::size_t axis, std::uint32_t step) const {
        const std::uint32_t last = (axes_[axis].steps - 1) * finest_;
        std::vector<std::uint32_t> places{centre[axis]};
        if (centre[axis] >= step) places.push_back(centre[axis] - step);
        if (centre[axis] + step <= last) places.push_back(centre[axis] + step);
        return places;
    }

    void want_around(const Point& centre, std::uint32_t step, std::span<const std::size_t> workloads) {
        for (const std::uint32_t i : around(centre, 0, step)) {
            for (const std::uint32_t j : around(centre, 1, step)) {
                for (const std::uint32_t k : around(centre, 2, step)) want({i, j, k}, workloads);
            }
        }
    }

    double value(std::size_t axis, std::uint32_t place) const {
        GridAxis fine = axes_[axis];
        fine.steps = (fine.steps - 1) * finest_ + 1;
        return fine.value(place);
    }

    Parameters parameters(const Point& point) const {
        return {.weight_memory_gb_per_s = value(0, point[0]),
                .activation_latency_ns = value(1, point[1]),
                .host_latency_ns = value(2, point[2])};
    }

    void want(const Point& point, std::span<const std::size_t> workloads) {
        Errors& errors = errors_[point];
        for (const std::size_t workload : workloads) {
            if (!errors[workload]) wanted_.insert({point, workload});
        }
    }

    void simulate() {
        std::vector<Case> cases;
        for (const auto& [point, workload] : wanted_) {
            cases.push_back({networks_[workload], with(machine_, parameters(point))});
        }
        const std::vector<Measurement> measured = simulator_.run(cases);
        auto next = measured.begin();
        for (const auto& [point, workload] : wanted_) {
            errors_[point][workload] = cycles_error(useful_percent_[workload], *next++);
        }
        simulations_ += wanted_.size();
        wanted_.clear();
    }

    static double mean_error(const std::vector<std::size_t>& set, const ByWorkload<double>& errors) {
        double sum = 0.0;
        for (const std::size_t workload : set) sum += std::abs(errors[workload]);
        return sum / static_cast<double>(set.size());
    }

    /// Of equals, the first in the order of the axes.
    Point best(const std::vector<std::size_t>& set) const {
        Point found{};
        double least = std::numeric_limits<double>::infinity();
        for (const auto& [point, errors] : errors_) {
            ByWorkload<double> values{};
            bool known = true;
            for (const std::size_t workload : set) {
                known = known && errors[workload].has_value();
                values[workload] = errors[workload].value_or(0.0);
            }
            if (!known) continue;
            const double error = mean_error(set, values);
            if (error < least) {
                least = error;
                found = point;
            }
        }
        return found;
    }

    const std::array<GridAxis, 3> axes_;
    const std::uint32_t finest_;
    const machine::MachineConfig& machine_;
    const ByWorkload<double>& useful_percent_;
    const ByWorkload<NetworkId>& networks_;
    Simulator& simulator_;
    /// Of the workloads that were simulated there.
    using Errors = ByWorkload<std::optional<double>>;
    std::map<Point, Errors> errors_;
    std::set<std::pair<Point, std::size_t>> wanted_;
    std::size_t simulations_ = 0;
};

/// All three of the six, then all six.
std::vector<std::vector<std::size_t>> fit_sets() {
    std::vector<std::vector<std::size_t>> sets;
    for (std::size_t i = 0; i < workload_count; ++i) {
        for (std::size_t j = i + 1; j < workload_count; ++j) {
            for (std::size_t k = j + 1; k < workload_count; ++k) sets.push_back({i, j, k});
        }
    }
    sets.emplace_back(all_workloads.begin(), all_workloads.end());
    return sets;
}

}  // namespace

machine::MachineConfig with(machine::MachineConfig machine, const Parameters& parameters) {
    machine.weight_memory.bandwidth_gb_per_s = parameters.weight_memory_gb_per_s;
    machine.activation_unit.latency_ns = parameters.activation_latency_ns;
    machine.host_interface.latency_ns = parameters.host_latency_ns;
    return machine;
}

Parameters parameters_of(const machine::MachineConfig& machine) {
    return {.weight_memory_gb_per_s = machine.weight_memory.bandwidth_gb_per_s,
            .activation_latency_ns = machine.activation_unit.latency_ns,
            .host_latency_ns = machine.host_interface.latency_ns};
}

double cycles_error(double published_useful_percent, const Measurement& ours) {
    if (ours.useful_macs == 0) throw std::logic_error("a workload without multiply-accumulates");
    return published_useful_percent / (100.0 * ours.useful_share()) - 1.0;
}

Fits fit(const FitGrid& grid, const machine::MachineConfig& machine, const ByWorkload<double>& useful_percent,
         const ByWorkload<NetworkId>& networks, Simulator& simulator) {
    Search search(grid, machine, useful_percent, networks, simulator);
    const std::vector<std::vector<std::size_t>> sets = fit_sets();
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
