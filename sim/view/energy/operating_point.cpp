#include "sim/view/energy/operating_point.h"

#include <cmath>
#include <optional>

#include "sim/view/area/area.h"

namespace systole::energy {
namespace {

constexpr double alpha = 1.3;
constexpr double threshold = 0.4;
constexpr double least_voltage = 0.7;
constexpr double most_voltage = 1.2;

/// The clock at a voltage, as a multiple of that at voltage 1.
double clock_at(double voltage) {
    return std::pow((voltage - threshold) / (1.0 - threshold), alpha) / voltage;
}

}  // namespace

OperatingPoint operating_point(const machine::MachineConfig& machine) {
    const double reference_mhz = machine.power.clock_mhz;
    if (!(reference_mhz > 0.0)) return {};
    OperatingPoint point{.voltage = 1.0,
                         .least_mhz = reference_mhz * clock_at(least_voltage),
                         .most_mhz = reference_mhz * clock_at(most_voltage)};
    if (machine.clock_mhz == reference_mhz) return point;
    // The clock rises with the voltage: bisection, to the last digits.
    const double wanted = machine.clock_mhz / reference_mhz;
    double low = least_voltage;
    double high = most_voltage;
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {
        const double middle = (low + high) / 2.0;
        (clock_at(middle) < wanted ? low : high) = middle;
    }
    point.voltage = high;
    return point;
}

bool reaches_clock(const machine::MachineConfig& machine) {
    const OperatingPoint point = operating_point(machine);
    return point.most_mhz == 0.0 || machine.clock_mhz <= point.most_mhz;
}

double static_watts(const machine::MachineConfig& machine, std::span<const machine::UnitDescription> units) {
    const double voltage = operating_point(machine).voltage;
    const double idle = machine.power.idle_watts * voltage * voltage;
    const std::optional<area::Area> area = area::area_of(machine, units);
    if (!(machine.power.die_mm2 > 0.0) || !area) return idle;
    return idle * area->die.nominal / machine.power.die_mm2;
}

}  // namespace systole::energy
