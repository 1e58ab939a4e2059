#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hw/machine/config_description.h"
#include "hw/machine/machine_config.h"

/// The parameters of a machine one by one, and other values of each.
namespace systole::validate {

/// A number, switch or choice of a machine. Its names are none.
struct MachineParameter {
    std::string key;       ///< "weight_fifo.depth_tiles"; in a list "matrix_unit.formats[0].passes"
    std::string entry;     ///< of a list: what the entry says besides, "uint8, int8, int32"
    nlohmann::json value;  ///< of the machine
    machine::KeyDescription description;
    std::string list;       ///< key of the list, or empty
    std::size_t index = 0;  ///< in the list

    /// With its unit: "700 MHz".
    std::string shown() const;
};

/// In the order of the machine's file, also those that a file may leave out.
std::vector<MachineParameter> machine_parameters(const machine::MachineConfig& machine);

/// The machine with another value of one parameter.
struct Change {
    std::string label;  ///< "x0.9" for a real number, otherwise the value
    machine::MachineConfig machine;
};

/// A real number a tenth less and more; a count halved and doubled, or as near to that as a machine can be
/// built; a switch and a choice in each other way. A 0 has no tenth and no half: it becomes 100, and 0.1
/// where 1 is the most. Empty if no machine with another value can be built.
std::vector<Change> changes_of(const machine::MachineConfig& machine, const MachineParameter& parameter);

}  // namespace systole::validate
