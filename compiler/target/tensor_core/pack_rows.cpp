#include "compiler/target/tensor_core/pack_rows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/target/tensor_core/tiles.h"

namespace systole::tensor_core {
namespace {

bool is_even(std::uint64_t number) {
    return number % 2 == 0;
}

/// Whether tiles of a step's result can begin with an even row of each image.
bool has_pairs(const Network& network, const Step& step) {
    const ResultRows rows = result_rows(network, step, 1);
    return is_even(rows.lines * rows.width);
}

/// Whether units that read and write packed rows make the step's result from its source.
bool is_work_on_pairs(const Network& network, const Step& step) {
    if (step.kind == StepKind::Chain) return has_pairs(network, step);
    return step.kind == StepKind::Product && !step.reads_lines && has_pairs(network, step);
}

bool can_be_source(const Network& network, const Step& step) {
    switch (step.kind) {
        case StepKind::Product:
            if (step.source_transposed) return step.passes.size() == 1;
            if (step.window) return !step.reads_lines && is_even(step.image.width);
            return is_work_on_pairs(network, step) && step.passes.size() == 1 && step.matrices.count() == 1;
        case StepKind::ReduceRows:
            return is_even(step.reduced_rows);
        case StepKind::ReduceLanes:
            return has_pairs(network, step);
        case StepKind::Depthwise:
        case StepKind::Windows:
        case StepKind::SelectAndScatter:
            return is_even(step.image.width);
        case StepKind::Chain:
        case StepKind::GatherRows:
        case StepKind::Move:
        case StepKind::MoveBoxes:
        case StepKind::Transpose:
        case StepKind::AllReduce:
            return false;
    }
    return false;
}

/// Blocks of the source begin with even rows, and so do those of the result.
bool transposes_pairs(const Step& step) {
    if (step.kind != StepKind::Transpose) return false;
    const Transposition& moved = *step.movement.transposition;
    const auto is_of_pairs = [](const Transposition::Axis& axis) {
        return axis.extent == 1 || (is_even(axis.from) && is_even(axis.to));
    };
    return moved.rows_apart == 1 && moved.columns_apart == 1 && is_even(moved.rows) &&
           is_even(moved.columns) && std::ranges::all_of(moved.outer, is_of_pairs);
}

class Packing {
public:
    explicit Packing(Network& network) : network_(network), may_be_packed_(network.tensors.size()) {}

    void pack() {
        for (std::size_t id = 0; id < may_be_packed_.size(); ++id) {
            const Tensor& tensor = network_.tensors[id];
            may_be_packed_[id] = tensor.is_bfloat16 && is_even(tensor.rows) && tensor.columns > 1 &&
                                 !tensor.constant && !tensor.is_constant;
        }
        for (const StateTensors& state : network_.state) may_be_packed_[state.input] = false;
        for (const CacheTensors& cache : network_.caches) {
            if (cache.input) may_be_packed_[*cache.input] = false;
        }
        for (const TensorId id : network_.outputs) may_be_packed_[id] = false;
        for (const Step& step : network_.steps) check(step);
        for (std::size_t id = 0; id < may_be_packed_.size(); ++id)
            network_.tensors[id].is_packed = may_be_packed_[id];
    }

private:
    void keep_apart(TensorId id) { may_be_packed_[id] = false; }

    void check(const Step& step) {
        const bool is_transposition = transposes_pairs(step);
        if (!is_transposition) {
            for (const TensorId source : step.sources) keep_apart(source);
        }
        if (step.sources.empty() && step.kind != StepKind::Chain && !can_be_source(network_, step))
            keep_apart(step.source);
        if (step.kind == StepKind::Product) {
            const bool takes_pairs = step.passes.size() == 1 && step.matrices.count() == 1 && !step.window;
            if (!takes_pairs) keep_apart(step.weights);
        }
        if (step.kind == StepKind::Depthwise) keep_apart(step.weights);
        if (step.kind == StepKind::SelectAndScatter) keep_apart(step.scattered);
        for (const ChainUse& chain : step.before) {
            const bool is_of_pairs =
                step.kind == StepKind::ReduceRows ? is_even(step.reduced_rows) : has_pairs(network_, step);
            for (const Operand& operand : chain.operands) {
                if (operand.kind == OperandKind::Before) continue;
                if (operand.kind != OperandKind::Rows || !is_of_pairs) keep_apart(operand.tensor);
            }
        }
        const bool is_on_pairs = is_work_on_pairs(network_, step);
        for (const ChainUse* const chain : chains_of(step)) {
            for (const Operand& operand : chain->operands) {
                if (operand.kind == OperandKind::Before) continue;
                if (operand.kind != OperandKind::Rows || !is_on_pairs) keep_apart(operand.tensor);
            }
        }
        const bool ends_with_chain = is_on_pairs && !step.chains.empty();
        if (ends_with_chain || is_transposition) return;
        for (const TensorId written : written_by(step)) keep_apart(written);
    }

    Network& network_;
    std::vector<bool> may_be_packed_;
};

}  // namespace

void pack_rows(Network& network, const machine::MachineConfig& machine) {
    // Tiles of weights, and panels of transposed ones, begin with even rows.
    if (!is_even(machine.matrix_unit.rows) || !is_even(machine.vector_unit.lanes)) return;
    Packing(network).pack();
}

}  // namespace systole::tensor_core
