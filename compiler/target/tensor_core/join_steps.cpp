#include "compiler/target/tensor_core/join_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tensor_core/tensor_uses.h"

namespace systole::tensor_core {
namespace {

/// A row of all tensors of a step takes at most so small a part of vector memory, so that there is room for
/// tiles of many rows, also beside tensors that stay.
constexpr std::uint64_t least_rows_of_tile = 64;

class Joining {
public:
    Joining(Network& network, const machine::MachineConfig& machine)
        : network_(network), machine_(machine), uses_(network) {}

    void join() {
        std::vector<bool> moved(network_.steps.size());
        for (std::size_t step = 0; step < moved.size(); ++step) {
            const auto before = is_chain(step) ? step_to_join(step, moved) : std::nullopt;
            if (!before) continue;
            add_to(*before, step);
            moved[step] = true;
        }
        std::size_t position = 0;
        std::erase_if(network_.steps, [&](const Step&) { return moved[position++]; });
    }

private:
    bool is_chain(std::size_t step) const {
        const Step& each = network_.steps[step];
        return each.kind == StepKind::Chain && each.chains.size() == 1;
    }

    /// The last one of the chains before a step whose rows it shares.
    std::optional<std::size_t> step_to_join(std::size_t step, const std::vector<bool>& moved) const {
        std::vector<TensorId> rows;
        for (const Operand& operand : network_.steps[step].chains[0].operands) {
            if (operand.kind == OperandKind::Rows) rows.push_back(operand.tensor);
        }
        for (const std::size_t other : uses_.steps_with(rows)) {
            if (other < step && !moved[other] && is_chain(other) && can_join(other, step)) return other;
        }
        return std::nullopt;
    }

    bool can_join(std::size_t first, std::size_t second) const {
        const Step& one = network_.steps[first];
        const Step& other = network_.steps[second];
        const Tensor& result = network_.tensors[one.result];
        const Tensor& further = network_.tensors[other.result];
        if (result.rows != further.rows || result.columns != further.columns ||
            result.is_shared != further.is_shared)
            return false;
        const std::vector<TensorId> own = written_by(one);
        for (const Operand& operand : other.chains[0].operands) {
            if (operand.kind == OperandKind::Before) return false;
            if (std::ranges::count(own, operand.tensor) > 0) {
                if (operand.kind != OperandKind::Rows) return false;
                continue;
            }
            // It is computed earlier, so it is there for both.
            const std::vector<std::size_t>& writers = uses_.writers[operand.tensor];
            if (std::ranges::any_of(writers, [&](std::size_t writer) { return writer >= first; }))
                return false;
        }
        return fits(one, other);
    }

    bool fits(const Step& one, const Step& other) const {
        std::set<TensorId> tensors;
        for (const Step* const step : {&one, &other}) {
            for (const TensorId id : read_by(*step)) tensors.insert(id);
            for (const TensorId id : written_by(*step)) tensors.insert(id);
        }
        std::uint64_t rows = 0;
        for (const TensorId id : tensors)
            rows += divide_up(network_.tensors[id].columns, std::uint64_t{machine_.vector_unit.lanes});
        return rows <= machine_.vector_memory.rows / least_rows_of_tile;
    }

    void add_to(std::size_t first, std::size_t second) {
        Step& one = network_.steps[first];
        Step& other = network_.steps[second];
        for (const TensorId read : read_by(other)) uses_.readers[read].push_back(first);
        std::ranges::replace(uses_.writers[other.result], second, first);
        one.further.push_back({.tensor = other.result, .chain = std::move(other.chains[0])});
    }

    Network& network_;
    const machine::MachineConfig& machine_;
    TensorUses uses_;
};

}  // namespace

void join_steps(Network& network, const machine::MachineConfig& machine) {
    Joining(network, machine).join();
}

}  // namespace systole::tensor_core
