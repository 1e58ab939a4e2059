#include "compiler/target/tensor_core/sums_beside_rows.h"

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

class Joining {
public:
    Joining(Network& network, const machine::MachineConfig& machine)
        : network_(network), machine_(machine), uses_(network) {}

    void join() {
        std::vector<bool> moved(network_.steps.size());
        for (std::size_t step = 0; step < moved.size(); ++step) {
            if (!is_sum(network_.steps[step])) continue;
            const auto host = step_beside(step, moved);
            if (!host) continue;
            for (const TensorId read : read_by(network_.steps[step])) uses_.readers[read].push_back(*host);
            std::ranges::replace(uses_.writers[network_.steps[step].result], step, *host);
            network_.steps[*host].sums.push_back(std::move(network_.steps[step]));
            moved[step] = true;
        }
        std::size_t position = 0;
        std::erase_if(network_.steps, [&](const Step&) { return moved[position++]; });
    }

private:
    /// All rows of an image become one.
    bool is_sum(const Step& step) const {
        return step.kind == StepKind::ReduceRows && network_.tensors[step.result].rows == 1 &&
               needs_only_rows(step);
    }

    /// Rows, and those that are there for all of them.
    static bool needs_only_rows(const Step& step) {
        const auto is_row = [](const Operand& operand) {
            return operand.kind == OperandKind::Before || operand.kind == OperandKind::Rows ||
                   is_one_row(operand);
        };
        return std::ranges::all_of(
            step.before, [&](const ChainUse& chain) { return std::ranges::all_of(chain.operands, is_row); });
    }
    static bool is_one_row(const Operand& operand) {
        return operand.kind == OperandKind::Row || operand.kind == OperandKind::ImageRow;
    }

    /// The last one before the sum.
    std::optional<std::size_t> step_beside(std::size_t sum, const std::vector<bool>& moved) const {
        for (const std::size_t other : uses_.steps_with(summed_by(network_.steps[sum]))) {
            if (other < sum && !moved[other] && can_join(other, sum)) return other;
        }
        return std::nullopt;
    }

    bool can_join(std::size_t host, std::size_t sum) const {
        const Step& step = network_.steps[host];
        const bool is_chain = step.kind == StepKind::Chain;
        if (!is_chain && !is_sum(step)) return false;
        const TensorId rows_of_host = is_chain ? step.result : step.source;
        if (!has_same_rows(rows_of_host, network_.steps[sum].source)) return false;
        std::set<TensorId> written;  // rows of a chain
        if (is_chain) written = written_rows(step);
        std::set<TensorId> sums;
        if (!is_chain) sums.insert(step.result);
        for (const Step& each : step.sums) sums.insert(each.result);
        return shares_rows(step, sum) && is_ready(network_.steps[sum], host, written, sums) &&
               has_room(step, network_.steps[sum]);
    }

    static std::set<TensorId> written_rows(const Step& chain) {
        std::set<TensorId> written{chain.result};
        for (const FurtherResult& further : chain.further) written.insert(further.tensor);
        return written;
    }

    bool has_same_rows(TensorId one, TensorId other) const {
        const Tensor& a = network_.tensors[one];
        const Tensor& b = network_.tensors[other];
        return a.rows == b.rows && a.columns == b.columns && a.is_shared == b.is_shared;
    }

    /// Whether some rows of the sum are rows of the step, and not only there for each or all of its rows.
    bool shares_rows(const Step& step, std::size_t sum) const {
        std::set<TensorId> rows;
        if (step.kind == StepKind::Chain) rows = written_rows(step);
        for (const ChainUse* const chain : chains_of(step)) {
            for (const Operand& operand : chain->operands) {
                if (operand.kind == OperandKind::Rows) rows.insert(operand.tensor);
            }
        }
        if (step.kind == StepKind::ReduceRows) {
            const std::vector<TensorId> summed = summed_by(step);
            rows = {summed.begin(), summed.end()};
        }
        for (const Step& each : step.sums) {
            for (const TensorId id : summed_by(each)) rows.insert(id);
        }
        const std::vector<TensorId> summed = summed_by(network_.steps[sum]);
        return std::ranges::any_of(summed, [&](TensorId id) { return rows.contains(id); });
    }

    /// Whether all that the sum reads is there before the step, but rows that the step writes, and what
    /// earlier sums beside it are.
    bool is_ready(const Step& sum, std::size_t host, const std::set<TensorId>& written,
                  const std::set<TensorId>& sums) const {
        const auto is_early = [&](TensorId id) {
            return std::ranges::all_of(uses_.writers[id], [&](std::size_t writer) { return writer < host; });
        };
        for (const TensorId id : summed_by(sum)) {
            if (!is_early(id) && !written.contains(id)) return false;
        }
        for (const ChainUse& chain : sum.before) {
            for (const Operand& operand : chain.operands) {
                if (is_one_row(operand) && !is_early(operand.tensor)) return false;
            }
        }
        for (const ChainUse& chain : sum.chains) {
            for (const Operand& operand : chain.operands) {
                if (operand.kind == OperandKind::Before || is_early(operand.tensor)) continue;
                if (operand.kind != OperandKind::Rows || !sums.contains(operand.tensor)) return false;
            }
        }
        return true;
    }

    /// For some blocks of rows, of each tensor.
    bool has_room(const Step& step, const Step& sum) const {
        constexpr std::uint64_t part = 8;  // of vector memory
        std::set<TensorId> tensors;
        for (const Step* const each : {&step, &sum}) {
            for (const TensorId id : read_by(*each)) tensors.insert(id);
            for (const TensorId id : written_by(*each)) tensors.insert(id);
        }
        const std::uint64_t lanes = machine_.vector_unit.lanes;
        // Each sum has words of its own, and one row.
        const std::uint64_t words =
            (step.sums.size() + 2) * divide_up(network_.tensors[sum.source].columns, lanes);
        std::uint64_t panels = 0;
        for (const TensorId id : tensors) panels += divide_up(network_.tensors[id].columns, lanes);
        return (panels + words) * lanes <= machine_.vector_memory.rows / part;
    }

    Network& network_;
    const machine::MachineConfig& machine_;
    TensorUses uses_;
};

}  // namespace

void put_sums_beside_rows(Network& network, const machine::MachineConfig& machine) {
    Joining(network, machine).join();
}

}  // namespace systole::tensor_core
