#include "compiler/target/tensor_core/chains_before_reductions.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.h"

namespace systole::tensor_core {
namespace {

class ReductionFusing {
public:
    ReductionFusing(Network& network, const machine::MachineConfig& machine)
        : network_(network),
          machine_(machine),
          readers_(network.tensors.size()),
          writers_(network.tensors.size()) {
        for (const Step& step : network.steps) {
            for (const TensorId read : read_by(step)) ++readers_[read];
        }
        for (std::size_t i = 0; i < network.steps.size(); ++i) {
            for (const TensorId written : written_by(network.steps[i])) writers_[written].push_back(i);
        }
        for (const TensorId output : network.outputs) ++readers_[output];
    }

    void join() {
        std::vector<bool> joined(network_.steps.size());
        for (Step& step : network_.steps) {
            const auto chain = chain_before(step);
            if (!chain) continue;
            step.before = std::move(network_.steps[*chain].chains);
            step.source = rows_of(step.before).front();
            joined[*chain] = true;
        }
        std::size_t position = 0;
        std::erase_if(network_.steps, [&](const Step&) { return joined[position++]; });
    }

private:
    /// The step whose result the reduction alone reads, if it can be a part of it.
    std::optional<std::size_t> chain_before(const Step& step) const {
        const bool is_row = step.kind == StepKind::ReduceRows && network_.tensors[step.result].rows == 1;
        const bool is_column = step.kind == StepKind::ReduceLanes;
        if (!is_row && !is_column) return std::nullopt;
        const Tensor& source = network_.tensors[step.source];
        if (readers_[step.source] != 1 || writers_[step.source].size() != 1) return std::nullopt;
        const std::size_t writer = writers_[step.source][0];
        const Step& chain = network_.steps[writer];
        if (chain.kind != StepKind::Chain || !chain.further.empty()) return std::nullopt;
        for (const ChainUse& each : chain.chains) {
            for (const Operand& operand : each.operands) {
                if (operand.kind == OperandKind::Before) continue;
                const bool is_like_source = operand.kind == OperandKind::Rows &&
                                            network_.tensors[operand.tensor].is_shared == source.is_shared;
                const bool is_few =
                    operand.kind == OperandKind::Row || operand.kind == OperandKind::ImageRow ||
                    operand.kind == OperandKind::Number || (is_column && operand.kind == OperandKind::Column);
                if (!is_like_source && !is_few) return std::nullopt;
                // Lanes are filled with its number for the chain, but not where work on the result reads it.
                const bool fills_lanes =
                    operand.kind == OperandKind::Number || operand.kind == OperandKind::Column;
                if (fills_lanes && is_read_behind(step, operand)) return std::nullopt;
            }
        }
        const std::vector<TensorId> rows = rows_of(chain.chains);
        return !rows.empty() && has_room(step, rows.size()) ? std::optional(writer) : std::nullopt;
    }

    /// The tensors of which chains read an element for each of their results.
    static std::vector<TensorId> rows_of(const std::vector<ChainUse>& chains) {
        std::vector<TensorId> rows;
        for (const ChainUse& chain : chains) {
            for (const Operand& operand : chain.operands) {
                if (operand.kind == OperandKind::Rows) rows.push_back(operand.tensor);
            }
        }
        return rows;
    }

    /// Whether chains behind the reduction read the tensor, too, in another way.
    static bool is_read_behind(const Step& step, const Operand& operand) {
        return std::ranges::any_of(step.chains, [&](const ChainUse& chain) {
            return std::ranges::any_of(chain.operands, [&](const Operand& other) {
                return other.kind != OperandKind::Before && other.tensor == operand.tensor &&
                       other.kind != operand.kind;
            });
        });
    }

    /// Blocks of rows that become one come in together; of rows that become numbers, few do.
    bool has_room(const Step& step, std::size_t sources) const {
        constexpr std::uint64_t few_rows = 8;
        constexpr std::uint64_t part = 4;  // of vector memory
        const std::uint64_t lanes = machine_.vector_unit.lanes;
        const std::uint64_t rows = step.kind == StepKind::ReduceRows ? lanes : few_rows;
        return (sources + 1) * rows * divide_up(network_.tensors[step.source].columns, lanes) <=
               machine_.vector_memory.rows / part;
    }

    Network& network_;
    const machine::MachineConfig& machine_;
    std::vector<std::size_t> readers_;               ///< how many, by tensor
    std::vector<std::vector<std::size_t>> writers_;  ///< steps, by tensor
};

}  // namespace

void put_chains_before_reductions(Network& network, const machine::MachineConfig& machine) {
    ReductionFusing(network, machine).join();
}

}  // namespace systole::tensor_core
