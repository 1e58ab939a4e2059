#include "compiler/target/tensor_core/order_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"

namespace systole::tensor_core {
namespace {

/// Steps that are done together at most, so that one of them ends a life.
constexpr std::size_t most_together = 8;
/// How far behind a tensor a step is looked for whose result is small.
constexpr std::size_t most_behind = 3;

using StepId = std::size_t;

class Ordering {
public:
    Ordering(const Network& network, const machine::MachineConfig& machine)
        : network_(network),
          lanes_(machine.vector_unit.lanes),
          needed_(network.steps.size()),
          readers_(network.tensors.size()),
          open_(readers_.size()),
          stays_(readers_.size()),
          is_done_(network.steps.size()) {
        std::vector<std::vector<StepId>> writers(readers_.size());
        for (StepId step = 0; step < network.steps.size(); ++step) {
            const auto needs = [&](const std::vector<StepId>& before) {
                needed_[step].insert(needed_[step].end(), before.begin(), before.end());
            };
            for (const TensorId read : tensors_of(read_by(network.steps[step]))) {
                needs(writers[read]);
                readers_[read].push_back(step);
                ++open_[read];
            }
            for (const TensorId written : written_by(network.steps[step])) {
                needs(writers[written]);
                needs(readers_[written]);
                writers[written].push_back(step);
            }
            std::erase(needed_[step], step);
        }
        for (const TensorId output : network.outputs) stays_[output] = true;
        for (const StateTensors& state : network.state) stays_[state.input] = true;
        for (TensorId id = 0; id < network.tensors.size(); ++id) {
            const Tensor& tensor = network.tensors[id];
            if (tensor.constant || tensor.is_constant) stays_[id] = true;
        }
    }

    std::vector<StepId> order() {
        for (StepId next = 0; next < is_done_.size(); ++next) {
            if (is_done_[next]) continue;
            add({next});
            while (const auto best = best_group()) add(*best);
        }
        return std::move(order_);
    }

private:
    using Group = std::vector<StepId>;  ///< in order

    static std::set<TensorId> tensors_of(const std::vector<TensorId>& tensors) {
        return {tensors.begin(), tensors.end()};
    }

    std::int64_t rows_of(TensorId id) const {
        const Tensor& tensor = network_.tensors[id];
        return static_cast<std::int64_t>(tensor.memory_rows(tensor.rows) * divide_up(tensor.columns, lanes_));
    }

    void add(const Group& group) {
        for (const StepId step : group) {
            is_done_[step] = true;
            order_.push_back(step);
            for (const TensorId read : tensors_of(read_by(network_.steps[step]))) {
                --open_[read];
                touch(read);
            }
            for (const TensorId written : written_by(network_.steps[step])) touch(written);
        }
    }

    /// What many steps still read, or what stays, ends no life soon.
    void touch(TensorId id) {
        constexpr std::size_t many = 64;
        if (!stays_[id] && open_[id] <= many) touched_.insert(id);
    }

    /// Of the steps near what has been read and written last: the one that frees most, with what it needs.
    std::optional<Group> best_group() {
        std::set<StepId> near;
        std::set<TensorId> tensors = std::exchange(touched_, {});
        for (std::size_t distance = 0; distance < most_behind; ++distance) {
            std::set<TensorId> behind;
            for (const TensorId id : tensors) {
                for (const StepId step : readers_[id]) {
                    if (is_done_[step] || !near.insert(step).second) continue;
                    for (const TensorId written : written_by(network_.steps[step])) behind.insert(written);
                }
            }
            tensors = std::move(behind);
        }
        std::optional<Group> best;
        std::int64_t least = 0;
        for (const StepId step : near) {
            std::optional<Group> group = with_needed(step);
            if (!group) continue;
            const std::int64_t change = change_by(*group);
            if (change >= least) continue;
            least = change;
            best = std::move(group);
        }
        return best;
    }

    /// The step behind all that it needs; nullopt if these are many.
    std::optional<Group> with_needed(StepId step) const {
        std::set<StepId> found{step};
        Group open{step};
        while (!open.empty()) {
            const StepId each = open.back();
            open.pop_back();
            for (const StepId before : needed_[each]) {
                if (is_done_[before] || !found.insert(before).second) continue;
                if (found.size() > most_together) return std::nullopt;
                open.push_back(before);
            }
        }
        return Group{found.begin(), found.end()};  // what is needed has lower numbers
    }

    /// Rows of memory that are taken behind the group more than before it.
    std::int64_t change_by(const Group& group) const {
        std::set<TensorId> written;
        std::map<TensorId, std::size_t> read;  // by how many steps of the group
        for (const StepId step : group) {
            for (const TensorId id : written_by(network_.steps[step])) written.insert(id);
            for (const TensorId id : tensors_of(read_by(network_.steps[step]))) ++read[id];
        }
        const auto has_other_readers = [&](TensorId id) {
            const auto of_group = read.find(id);
            return open_[id] > (of_group == read.end() ? 0 : of_group->second);
        };
        std::int64_t change = 0;
        for (const TensorId id : written) {
            if (!stays_[id] && has_other_readers(id)) change += rows_of(id);
        }
        for (const auto& [id, count] : read) {
            if (!stays_[id] && !written.contains(id) && !has_other_readers(id)) change -= rows_of(id);
        }
        return change;
    }

    const Network& network_;
    const std::uint64_t lanes_;
    std::vector<std::vector<StepId>> needed_;   ///< steps before it, by step
    std::vector<std::vector<StepId>> readers_;  ///< by tensor
    std::vector<std::size_t> open_;             ///< readers that are not done, by tensor
    std::vector<bool> stays_;                   ///< by tensor: its place is never free
    std::vector<bool> is_done_;
    std::vector<StepId> order_;
    std::set<TensorId> touched_;
};

}  // namespace

void order_steps(Network& network, const machine::MachineConfig& machine) {
    std::vector<Step> ordered;
    ordered.reserve(network.steps.size());
    for (const StepId step : Ordering(network, machine).order())
        ordered.push_back(std::move(network.steps[step]));
    network.steps = std::move(ordered);
}

}  // namespace systole::tensor_core
