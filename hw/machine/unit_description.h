#pragma once

#include <string>
#include <vector>

/// What a unit says of itself. Reports, drawings and traces read it and know no unit by name. Plain data: a
/// record holds it.
namespace systole::machine {

/// A counter whose every count takes energy.
struct EnergyRow {
    std::string unit;         ///< that takes it; a key of report.json
    std::string counter;      ///< its path: "matrix_unit.useful_macs"
    double picojoules = 0.0;  ///< of a count, at the voltage of the machine's watts, before calibration
    /// The work that counts: the name of a queue, "weight_fetch" or "weight_shift". Empty if it is not known
    /// when: power over time then spreads it over the run.
    std::string during;

    bool operator==(const EnergyRow&) const = default;
};

struct UnitDescription {
    std::string name;               ///< its path in the machine
    bool on_die = true;             ///< else its energy is neither calibrated nor scaled with the voltage
    std::vector<EnergyRow> energy;  ///< also of memories that it reads and writes

    bool operator==(const UnitDescription&) const = default;
};

}  // namespace systole::machine
