#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/mapping/compiled.h"
#include "compiler/mapping/options.h"
#include "compiler/passes/calibrate.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/ready_for_run.h"
#include "compiler/target/family.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"

/// The compiler's one door: a graph that a frontend has read, a machine and options go in; a program with its
/// weights, and what was chosen for it, come out.
namespace systole::compiler {

using mapping::Batches;
using mapping::Compiled;
using mapping::HostCosts;
using mapping::Options;
using mapping::PlacedOperators;
using mapping::Simulate;
using passes::Calibration;
using passes::CalibrationMethod;
using passes::InputEncoding;
using passes::PassObserver;
using passes::QuantizedNetwork;
using passes::ready_for_run;
using passes::RunNeeds;

/// The program of a graph for a machine, which must be valid. A float graph is quantized by the calibration
/// if the machine computes on integers, other graphs are only simplified; `observer` is told the graph after
/// each of these passes. Throws ModelError, in one line, if the network does not fit the machine or an option
/// is 0.
Compiled compile(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                 const Options& options, const PassObserver& observer = {});

/// The passes alone: the graph on integers where the machine computes on them, or in words where it computes
/// in floats.
ir::Graph prepare(const ir::Graph& graph, Calibration calibration, const machine::MachineConfig& machine,
                  const PassObserver& observer = {});
/// The same for any machine of a family that does not compute in floats.
ir::Graph prepare_for(const target::Family& family, const ir::Graph& graph, Calibration calibration,
                      const PassObserver& observer = {});
/// Their names, in order: those for integers, and those for words alone.
std::vector<std::string> pass_names();
/// The graph on integers beside the one in float.
QuantizedNetwork prepare_beside_float(const ir::Graph& graph, Calibration calibration);

/// A family of machines, and what runs nodes of an operator there (target::Family::place_of).
struct FamilyPlaces {
    std::string_view name;  ///< for people
    std::string_view (*place_of)(const ir::Operator& op) = nullptr;
};
/// Of all families.
std::vector<FamilyPlaces> operator_places();

/// Whether the machine's host computes operators that its chip does not: Compiled::placed says which and why.
bool places_operators(const machine::MachineConfig& machine);

/// All of the machine on which programs mapped like that depend: with equal keys, other machines have the
/// same programs.
std::string machine_key(const machine::MachineConfig& machine, const machine::Mapping& mapping);

}  // namespace systole::compiler
