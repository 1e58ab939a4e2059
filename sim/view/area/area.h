#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"

/// The area of a machine's die, by unit. The model has one anchor, the published floorplan of TPU v1 (below
/// 331 mm² in 28 nm); other machines follow from it by the sizes of their units and by process. docs/area.md
/// explains each rule and its source.
namespace systole::area {

/// mm² between a low and a high estimate.
struct Estimate {
    double mm2 = 0.0;
    double low = 0.0;
    double high = 0.0;
};

struct UnitArea {
    std::string_view name;  ///< "matrix_unit", ..., "other": what the floorplan does not name
    Estimate area;
};

struct Area {
    double process_nm = 0.0;
    std::vector<UnitArea> units;
    Estimate die;  ///< the sum of the units
};

/// Absent if the machine does not say its process (energy.process_nm).
std::optional<Area> area_of(const machine::MachineConfig& machine);

/// The area of a 6-transistor SRAM cell in µm², in a process from 7 to 45 nm: between published cells, linear
/// with logarithmic size and area. 45 nm: Mistry et al., IEDM 2007. 28, 16 nm: Chen et al., JSSC 50(1), 2015.
/// 7 nm: Chang et al., ISSCC 2017. As quoted by others (docs/area.md).
double sram_cell_um2(double process_nm);

}  // namespace systole::area
