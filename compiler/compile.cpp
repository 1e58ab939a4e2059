#include "compiler/compile.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/rounding.h"
#include "compiler/passes/set_rounding.h"
#include "compiler/target/edge_tpu/family.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tpu_v1/family.h"

namespace systole::compiler {
namespace {

const target::Family& family_of(const machine::MachineConfig& machine) {
    switch (machine.family) {
        case machine::Family::TpuV1:
            return tpu_v1::family;
        case machine::Family::EdgeTpu:
            return edge_tpu::family;
        case machine::Family::TensorCore:
            return tensor_core::family;
    }
    throw std::logic_error("a family of machines without a compiler");
}

}  // namespace

Compiled compile(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                 const Options& options, const PassObserver& observer) {
    const target::Family& family = family_of(machine);
    return family.compile(prepare(graph, std::move(calibration), machine, observer), machine, options);
}

ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                  const PassObserver& observer) {
    const target::Family& family = family_of(machine);
    if (family.words != nullptr) {
        ir::Graph prepared = passes::prepare_in_words(graph, family.words(machine), observer);
        passes::check_borders(graph, prepared);
        return prepared;
    }
    ir::Graph prepared = prepare_for(family, graph, std::move(calibration), observer);
    if (family.rounding == nullptr || family.rounding(machine) == Rounding::Tflite) return prepared;
    return passes::set_rounding(std::move(prepared), family.rounding(machine));
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
    std::vector<std::string> names = passes::preparation({}).names();
    // Those of machines that compute in floats begin as these do.
    for (std::string& name : passes::preparation_in_words({}).names()) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

QuantizedNetwork prepare_beside_float(const ir::Graph& graph, Calibration calibration) {
    QuantizedNetwork network = passes::prepare_beside_float(graph, std::move(calibration));
    passes::check_borders(graph, network.stored);
    return network;
}

std::vector<FamilyPlaces> operator_places() {
    return {{"TPU v1", tpu_v1::family.place_of},
            {"Edge TPU", edge_tpu::family.place_of},
            {"Cloud TPU", tensor_core::family.place_of}};
}

bool places_operators(const machine::MachineConfig& machine) {
    return family_of(machine).places_operators;
}

std::string machine_key(const machine::MachineConfig& machine, const machine::Mapping& mapping) {
    return family_of(machine).machine_key(machine, mapping);
}

}  // namespace systole::compiler
