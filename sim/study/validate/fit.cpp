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
using Workloads = std::vector<std::size_t>;

Workloads all_workloads() {
    return {MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1};
}

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

    /// Simulates every point of the grid as it is given.
    void try_grid() {
        for (std::uint32_t i = 0; i < axes_[0].steps; ++i) {
            for (std::uint32_t j = 0; j < axes_[1].steps; ++j) {
                for (std::uint32_t k = 0; k < axes_[2].steps; ++k) {
                    want({i * finest_, j * finest_, k * finest_}, all_workloads());
                }
            }
        }
        simulate();
    }

    /// Moves the best point of each set, `step` places on each axis, until it has no better neighbour.
    void try_around(std::vector<Workloads> sets, std::uint32_t step) {
        while (!sets.empty()) {
            std::map<Workloads, Point> centres;
            for (const Workloads& set : sets) {
                centres[set] = best(set);
                want_around(centres[set], step, set);
            }
            simulate();
            std::erase_if(sets, [&](const Workloads& set) { return best(set) == centres[set]; });
        }
    }

    /// Simulates all workloads at the best point of each set: the held-out ones may be missing there.
    void try_best(const std::vector<Workloads>& sets) {
        for (const Workloads& set : sets) want(best(set), all_workloads());
        simulate();
    }

    Fit result(const Workloads& set) const {
        const Point point = best(set);
        Workloads others = all_workloads();
        std::erase_if(others,
                      [&](std::size_t i) { return std::find(set.begin(), set.end(), i) != set.end(); });
        Fit fit{.fitted = set, .parameters = parameters(point)};
        fit.errors = by_workload([&](std::size_t i) { return errors_.at(point)[i].value(); });
        fit.fitted_error = mean_error(set, errors_.at(point)).value();
        if (!others.empty()) fit.held_out_error = mean_error(others, errors_.at(point)).value();
        return fit;
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

    void want_around(const Point& centre, std::uint32_t step, const Workloads& workloads) {
        for (const std::uint32_t i : around(centre, 0, step)) {
            for (const std::uint32_t j : around(centre, 1, step)) {
                for (const std::uint32_t k : around(centre, 2, step)) want({i, j, k}, workloads);
            }
        }
    }

    void want(const Point& point, const Workloads& workloads) {
        for (const std::size_t workload : workloads) {
            if (!errors_[point][workload]) wanted_.insert({point, workload});
        }
    }

    void simulate() {
        std::vector<Case> cases;
        for (const auto& [point, workload] : wanted_) {
            cases.push_back({networks_[workload], with(machine_, parameters(point))});
        }
        const std::vector<run::RunRecord> records = simulator_.run(cases);
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
        return {.weight_memory_gb_per_s = value(0),
                .activation_latency_ns = value(1),
                .host_latency_ns = value(2)};
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
    const std::uint32_t finest_;
    const machine::MachineConfig& machine_;
    const ByWorkload<double>& useful_percent_;
    const ByWorkload<NetworkId>& networks_;
    Simulator& simulator_;
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
         const ByWorkload<NetworkId>& networks, Simulator& simulator) {
    Search search(grid, machine, useful_percent, networks, simulator);
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
