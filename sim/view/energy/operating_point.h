#pragma once

#include <span>

#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::energy {

/// The supply voltage at which a machine reaches its clock, as a multiple of the voltage at which its watts
/// and energies hold (power.clock_mhz). The curve is the alpha-power law of Sakurai and Newton, IEEE JSSC
/// 25(2), 1990: clock ~ (V - Vt)^1.3 / V. The threshold voltage, 0.4 of the supply, and the limits, 0.7 and
/// 1.2 times the voltage, are choices of ours; docs/area.md says why.
struct OperatingPoint {
    double voltage = 1.0;    ///< within the limits
    double least_mhz = 0.0;  ///< the clock at the lower limit: below it, the voltage stays
    double most_mhz = 0.0;   ///< the clock at the upper limit: beyond it, another design is needed
};

/// With a voltage of 1 and no limits (0) where the machine does not say at which clock its watts hold.
OperatingPoint operating_point(const machine::MachineConfig& machine);

/// Whether the voltage at which the machine reaches its clock is within the limits, or below them. Beyond the
/// upper limit, neither power nor energy is known.
bool reaches_clock(const machine::MachineConfig& machine);

/// Static power in W: power.idle_watts, in proportion to the die's area where the machine says the area of
/// the chip that was measured (power.die_mm2), and with the square of the voltage.
double static_watts(const machine::MachineConfig& machine, std::span<const machine::UnitDescription> units);

}  // namespace systole::energy
