#pragma once

#include <string>
#include <string_view>

#include "base/rounding.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/words_options.h"
#include "compiler/mapping/compiled.h"
#include "compiler/mapping/options.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"

namespace systole::target {

/// What a family of machines gives to the compiler's door.
struct Family {
    /// Whether float graphs are quantized for it.
    bool computes_on_integers = false;
    /// The numbers of the machine that decide the bits of floats, by which float graphs are computed in
    /// words; null for families that do not compute in floats.
    ir::WordsOptions (*words)(const machine::MachineConfig& machine) = nullptr;
    /// Whether the host computes operators that the chip does not, for a reason that Compiled::placed has.
    bool places_operators = false;
    /// The program of a prepared graph, mapped as the options say. Throws ModelError if the network does not
    /// fit the machine.
    mapping::Compiled (*compile)(const ir::Graph& prepared, const machine::MachineConfig& machine,
                                 const mapping::Options& options) = nullptr;
    /// All of the machine on which programs mapped like that depend.
    std::string (*machine_key)(const machine::MachineConfig& machine,
                               const machine::Mapping& mapping) = nullptr;
    /// How the machine rounds; null for families that round as the network's file says.
    Rounding (*rounding)(const machine::MachineConfig& machine) = nullptr;
    /// In a few words, what runs nodes of an operator in prepared graphs, by the family's own table; for
    /// docs/operators.md.
    std::string_view (*place_of)(const ir::Operator& op) = nullptr;
};

}  // namespace systole::target
