#include "compiler/compile.h"

#include <array>
#include <utility>

#include "compiler/target/tpu_v1/family.h"

namespace systole::compiler {
namespace {

/// All families of machines.
constexpr std::array families{&tpu_v1::family};

/// The family of a machine. There is one, which is that of every machine: machine files do not name theirs.
const target::Family& family_of(const machine::MachineConfig& /*machine*/) {
    return *families.front();
}

}  // namespace

Compiled compile(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                 const Options& options, const PassObserver& observer) {
    const target::Family& family = family_of(machine);
    return family.compile(prepare_for(family, graph, std::move(calibration), observer), machine, options);
}

ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                  const PassObserver& observer) {
    return prepare_for(family_of(machine), graph, std::move(calibration), observer);
}

ir::Graph prepare_for(const target::Family& family, const ir::Graph& graph, Calibration calibration,
                      const PassObserver& observer) {
    ir::Graph prepared = family.computes_on_integers
                             ? passes::prepare(graph, std::move(calibration), observer)
                             : passes::simplify(graph, observer);
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
    return family_of(machine).machine_key(machine, mapping);
}

}  // namespace systole::compiler
