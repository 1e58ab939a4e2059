#include "compiler/target/tensor_core/network.h"

#include <algorithm>
#include <vector>

#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {

std::vector<const ChainUse*> chains_of(const Step& step) {
    std::vector<const ChainUse*> chains;
    for (const ChainUse& chain : step.chains) chains.push_back(&chain);
    for (const FurtherResult& further : step.further) chains.push_back(&further.chain);
    return chains;
}

std::vector<TensorId> summed_by(const Step& step) {
    if (step.before.empty()) return {step.source};
    std::vector<TensorId> rows;
    for (const ChainUse& chain : step.before) {
        for (const Operand& operand : chain.operands) {
            if (operand.kind == OperandKind::Rows) rows.push_back(operand.tensor);
        }
    }
    return rows;
}

std::vector<TensorId> read_by(const Step& step) {
    std::vector<TensorId> read = step.sources;
    if (step.kind != StepKind::Chain && step.sources.empty()) read.push_back(step.source);
    if (step.kind == StepKind::Product || step.kind == StepKind::Depthwise) read.push_back(step.weights);
    if (step.kind == StepKind::SelectAndScatter) read.push_back(step.scattered);
    for (const ChainUse& chain : step.before) {
        for (const Operand& operand : chain.operands) {
            if (operand.kind != OperandKind::Before && operand.tensor != step.source)
                read.push_back(operand.tensor);
        }
    }
    const std::vector<TensorId> own = written_by(step);
    for (const ChainUse* const chain : chains_of(step)) {
        for (const Operand& operand : chain->operands) {
            if (operand.kind == OperandKind::Before || std::ranges::count(own, operand.tensor) > 0) continue;
            read.push_back(operand.tensor);
        }
    }
    for (const Step& sum : step.sums) {
        for (const TensorId id : read_by(sum)) {
            if (std::ranges::count(own, id) == 0) read.push_back(id);
        }
    }
    return read;
}

std::vector<TensorId> written_by(const Step& step) {
    if (!step.results.empty()) return step.results;
    std::vector<TensorId> written{step.result};
    for (const FurtherResult& further : step.further) written.push_back(further.tensor);
    for (const Step& sum : step.sums) written.push_back(sum.result);
    return written;
}

Network make_network(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint64_t images,
                     const NetworkForm& form) {
    return NetworkBuilder(graph, machine, images, form).build();
}

}  // namespace systole::tensor_core
