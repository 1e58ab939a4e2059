#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

/// The area of a machine's die: of the units, as they describe it (hw/machine/floorplan.h), of what lies
/// between them, and of all, in the machine's process. docs/area.md explains each rule and its source.
namespace systole::area {

using machine::Estimate;

struct UnitArea {
    std::string name;  ///< "matrix_unit", ..., "other": what the floorplan does not name
    std::string label;
    Estimate mm2;
};

struct Area {
    double process_nm = 0.0;
    std::vector<UnitArea> units;
    Estimate die;           ///< the sum of the units, in mm²
    std::string note = {};  ///< what has no area of its own; empty: every part has
};

/// Whether the area of the main unit, without which that of a die says nothing, is known.
bool is_known(std::span<const machine::UnitDescription> units);

/// Absent where it is not known, or the machine does not say its process (energy.process_nm,
/// tensor_energy.process_nm).
std::optional<Area> area_of(const machine::MachineConfig& machine,
                            std::span<const machine::UnitDescription> units);

/// The area of a 6-transistor SRAM cell in µm², in a process from 7 to 45 nm: between published cells, linear
/// with logarithmic size and area. 45 nm: Mistry et al., IEDM 2007. 28, 16 nm: Chen et al., JSSC 50(1), 2015.
/// 7 nm: Chang et al., ISSCC 2017. As quoted by others (docs/area.md).
double sram_cell_um2(double process_nm);

}  // namespace systole::area
