// The energy of the run, by event or from published watts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/view/area/area.h"
#include "sim/view/energy/operating_point.h"
#include "sim/view/energy/run_energy.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"

namespace systole::report {
namespace {

std::optional<double> for_each_inference(double joules, const run::RunRecord& record) {
    if (record.program.inferences == 0) return std::nullopt;
    return joules / static_cast<double>(record.program.inferences);
}

/// The mean power; absent for a run of no cycle.
std::optional<double> over(double joules, double seconds) {
    return seconds > 0.0 ? std::optional(joules / seconds) : std::nullopt;
}

Energy by_event(const run::RunRecord& record, double seconds) {
    const machine::MachineConfig& machine = record.spec.machine;
    const energy::Joules joules = energy::joules_of_run(record, machine);
    Energy energy;
    for (std::size_t i = 0; i < joules.size(); ++i) energy.static_watts += joules.consumer(i).static_watts;
    energy.knows_static = energy.static_watts > 0.0;
    energy.voltage = energy::operating_point(machine).voltage;
    energy.static_joules = joules.of_static_power();
    energy.dynamic_joules = joules.dynamic();
    energy.watts = over(energy.joules(), seconds);
    energy.joules_per_inference = for_each_inference(energy.joules(), record);
    for (std::size_t i = 0; i < joules.size(); ++i) energy.by_unit.emplace_back(joules.name(i), joules[i]);
    energy.events = EventEnergy{.die_watts = over(joules.on_die(), seconds),
                                .published_watts = machine.power.busy_watts,
                                .calibration = {},
                                .over_time = power_over_time(record)};
    if (!machine.energy) return energy;
    machine::MachineConfig uncalibrated_machine = machine;
    uncalibrated_machine.energy->die_dynamic_factor = 1.0;
    const energy::Joules uncalibrated = energy::joules_of_run(record, uncalibrated_machine);
    energy.events->calibration = Calibration{.die_dynamic_factor = machine.energy->die_dynamic_factor,
                                             .uncalibrated_joules = uncalibrated.total(),
                                             .uncalibrated_die_watts = over(uncalibrated.on_die(), seconds)};
    return energy;
}

/// The changed keys of a run, without values.
std::vector<std::string> changed_keys(const run::RunRecord& record) {
    std::vector<std::string> keys;
    for (const run::LabelledSetting& setting : record.spec.labels.machine_settings) {
        keys.push_back(setting.key);
    }
    return keys;
}

Energy from_published_watts(const run::RunRecord& record, double seconds) {
    const machine::PowerConfig& power = record.spec.machine.power;
    Energy energy;
    energy.static_watts = power.idle_watts;
    energy.static_joules = power.idle_watts * seconds;
    energy.dynamic_joules = (power.busy_watts - power.idle_watts) * seconds;
    energy.watts = power.busy_watts;
    energy.joules_per_inference = for_each_inference(energy.joules(), record);
    energy.knows_static = power.idle_watts > 0.0;
    energy.by_unit =
        energy.knows_static
            ? std::vector<std::pair<std::string, double>>{{"chip_static", energy.static_joules},
                                                          {"chip_dynamic", energy.dynamic_joules}}
            : std::vector<std::pair<std::string, double>>{{"chip", energy.joules()}};
    return energy;
}

}  // namespace

std::optional<energy::PowerOverTime> power_over_time(const run::RunRecord& record) {
    const std::uint32_t windows = record.spec.observed.power_windows;
    const machine::MachineConfig& machine = record.spec.machine;
    if (windows == 0 || !energy::reaches_clock(machine)) return std::nullopt;
    return energy::power_over_time(energy::Consumers(record, machine), machine, record.work, record.cycles,
                                   windows);
}

std::optional<energy::Joules> energy_under(const run::RunRecord& record, run::Tag tag, std::uint64_t cycles) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (!machine.has_event_energy() || !energy::reaches_clock(machine)) return std::nullopt;
    return energy::joules(energy::Consumers(record, machine), machine, cycles, tag);
}

namespace {

/// For a machine whose static power follows its die's area.
std::optional<std::string> area_note(const machine::MachineConfig& machine,
                                     std::span<const machine::UnitDescription> units) {
    const double measured = machine.power.die_mm2;
    const std::optional<area::Area> area = area::area_of(machine, units);
    if (!area) return std::nullopt;
    const area::Estimate& die = area->die;
    if (std::abs(die.nominal / measured - 1.0) < noticeable_change) return std::nullopt;
    return fmt::format(
        "static power, {:g} W for {:g} mm2, goes with the die's area: {:.0f} mm2 ({:.0f} to {:.0f})",
        machine.power.idle_watts, measured, die.nominal, die.low, die.high);
}

/// For a machine whose events have a section `energy`, at another clock than the measured chip's.
std::string voltage_note(const machine::MachineConfig& machine) {
    const energy::OperatingPoint point = energy::operating_point(machine);
    std::string what =
        fmt::format("static power and the energy of each event are for {:.2f} times the voltage of {:g} MHz",
                    point.voltage, machine.power.clock_mhz);
    if (machine.clock_mhz >= point.least_mhz) return what;
    return fmt::format("{}, the lowest of the model: it would be enough for {:.0f} MHz", what,
                       point.least_mhz);
}

}  // namespace

std::vector<std::string> energy_notes(const machine::MachineConfig& machine,
                                      std::span<const machine::UnitDescription> units,
                                      std::span<const std::string> settings) {
    const machine::PowerConfig& power = machine.power;
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    const auto is_set = [&](std::string_view key) {
        return std::ranges::find(settings, key) != settings.end();
    };
    const bool knows_array = power.array_rows > 0 && power.array_columns > 0;
    const bool other_array = knows_array
                                 ? power.array_rows != array.rows || power.array_columns != array.columns
                                 : is_set("matrix_unit.rows") || is_set("matrix_unit.columns");
    const bool knows_clock = power.clock_mhz > 0.0;
    const bool other_clock = knows_clock ? power.clock_mhz != machine.clock_mhz : is_set("clock_mhz");
    // Published watts are those of a busy chip.
    const std::string watts =
        machine.energy        ? fmt::format("static power, {:g} W,", power.idle_watts)
        : machine.tile_energy ? fmt::format("power of the board, {:g} W,", machine.tile_energy->board_watts)
                              : fmt::format("power, {:g} W,", power.busy_watts);
    std::vector<std::string> notes;
    if (machine.energy && power.die_mm2 > 0.0) {
        if (auto note = area_note(machine, units)) notes.push_back(*std::move(note));
    } else if (other_array) {
        const std::string whose =
            knows_array ? fmt::format("an array of {} x {}", power.array_rows, power.array_columns)
                        : "the unchanged array";
        notes.push_back(fmt::format("{} is that of {}: it does not follow the array's size, now {} x {}",
                                    watts, whose, array.rows, array.columns));
    }
    if (is_set("tile_array.lines") || is_set("tile_array.columns") || is_set("tile_array.lanes")) {
        notes.push_back(fmt::format(
            "{} is that of the unchanged tiles: it does not follow their number and lanes", watts));
    }
    if (!other_clock) return notes;
    if (machine.energy && knows_clock) {
        notes.push_back(voltage_note(machine));
        return notes;
    }
    const std::string at = knows_clock ? fmt::format("{:g} MHz", power.clock_mhz) : "the unchanged clock";
    const std::string what = machine.has_event_energy()
                                 ? fmt::format("{} and the energy of each event are those", watts)
                                 : fmt::format("{} is that", watts);
    notes.push_back(
        fmt::format("{} of {} and its voltage: {:g} MHz may have another voltage, which is not in "
                    "these figures",
                    what, at, machine.clock_mhz));
    return notes;
}

std::optional<std::string> no_energy_reason(const machine::MachineConfig& machine) {
    if (!machine.has_event_energy()) {
        if (machine.power.busy_watts > 0.0) return std::nullopt;
        return "the machine file gives no watts";
    }
    if (energy::reaches_clock(machine)) return std::nullopt;
    return fmt::format(
        "unknown at {:g} MHz: at its highest voltage, {:.2f} times that of {:g} MHz, this design reaches "
        "{:.1f} "
        "MHz",
        machine.clock_mhz, energy::operating_point(machine).voltage, machine.power.clock_mhz,
        energy::operating_point(machine).most_mhz);
}

std::optional<Energy> make_energy(const run::RunRecord& record, double seconds) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (no_energy_reason(machine)) return std::nullopt;
    Energy energy =
        machine.has_event_energy() ? by_event(record, seconds) : from_published_watts(record, seconds);
    energy.notes = energy_notes(machine, record.units, changed_keys(record));
    return energy;
}

}  // namespace systole::report
