#include "compiler/target/tensor_core/network.h"

#include <vector>

#include "compiler/target/tensor_core/network_builder.h"

namespace systole::tensor_core {

std::vector<TensorId> read_by(const Step& step) {
    std::vector<TensorId> read = step.sources;
    if (step.kind != StepKind::Chain && step.sources.empty()) read.push_back(step.source);
    if (step.kind == StepKind::Product || step.kind == StepKind::Depthwise) read.push_back(step.weights);
    if (step.kind == StepKind::SelectAndScatter) read.push_back(step.scattered);
    for (const ChainUse& chain : step.chains) {
        for (const Operand& operand : chain.operands) {
            if (operand.kind != OperandKind::Before) read.push_back(operand.tensor);
        }
    }
    return read;
}

std::vector<TensorId> written_by(const Step& step) {
    return step.results.empty() ? std::vector{step.result} : step.results;
}

Network make_network(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint64_t images,
                     bool by_lines) {
    return NetworkBuilder(graph, machine, images).build(by_lines);
}

}  // namespace systole::tensor_core
