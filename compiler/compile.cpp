#include "compiler/compile.h"

#include <utility>

#include "compiler/target/tpu_v1/compile.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::compiler {

Compiled compile(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                 const Options& options, const PassObserver& observer) {
    return tpu_v1::compile(tpu_v1::lower(compiler::prepare(graph, std::move(calibration), observer)), machine,
                           options);
}

ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const PassObserver& observer) {
    ir::Graph prepared = passes::prepare(graph, std::move(calibration), observer);
    passes::check_borders(graph, prepared);
    return prepared;
}

std::vector<std::string> pass_names() {
    return passes::preparation({}).names();
}

QuantizedNetwork prepare_beside_float(const ir::Graph& graph, Calibration calibration) {
    QuantizedNetwork network = passes::prepare_beside_float(graph, std::move(calibration));
    passes::check_borders(graph, network.stored);
    return network;
}

std::string machine_key(const machine::MachineConfig& machine, const machine::Mapping& mapping) {
    return tpu_v1::key_of(tpu_v1::target_of(machine, mapping));
}

}  // namespace systole::compiler
