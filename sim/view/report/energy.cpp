// The energy of the run, by event or from published watts, and the area of the die.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/view/area/area.h"
#include "sim/view/energy/operating_point.h"
#include "sim/view/energy/run_energy.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/sections.h"

namespace systole::report {
namespace {

Json power_json(const energy::PowerOverTime& power) {
    Json watts = Json::object();
    for (std::size_t window = 0; window < power.windows.size(); ++window) {
        const energy::Joules& joules = power.windows[window];
        for (std::size_t i = 0; i < joules.size(); ++i) {
            watts[joules.name(i)].push_back(joules[i] / power.seconds[window]);
        }
    }
    return {{"window_cycles", power.window_cycles}, {"watts", std::move(watts)}};
}

/// The energy of a run, and the static part of it: that of an idle chip.
struct Parts {
    double static_joules = 0.0;
    double dynamic_joules = 0.0;
    std::optional<double> watts = {};
    /// A machine may have published watts of the busy chip alone. Then all energy counts as dynamic here, and
    /// no text tells the parts.
    bool knows_static = true;
    double static_watts = 0.0;
    double voltage = 1.0;  ///< over that at which the machine's watts and energies hold
};

/// The changed keys of a run, without values.
std::vector<std::string> changed_keys(const run::RunRecord& record) {
    std::vector<std::string> keys;
    for (const run::LabelledSetting& setting : record.spec.labels.machine_settings) {
        keys.push_back(setting.key);
    }
    return keys;
}

Json to_json(const Parts& energy, const Basis& basis, Json by_unit) {
    const run::RunRecord& record = basis.record;
    const double joules = energy.static_joules + energy.dynamic_joules;
    const bool has_inferences = record.program.inferences > 0 && basis.no_speed.empty();
    const auto known = [&](double of_parts) { return energy.knows_static ? Json(of_parts) : Json(nullptr); };
    return {{"joules", joules},
            {"joules_per_inference",
             has_inferences ? Json(joules / static_cast<double>(record.program.inferences)) : Json(nullptr)},
            {"watts", or_null(energy.watts)},
            {"by_unit", by_unit.is_null() ? Json{{"chip", joules}} : std::move(by_unit)},
            {"static_joules", known(energy.static_joules)},
            {"dynamic_joules", known(energy.dynamic_joules)},
            {"static_watts", known(energy.static_watts)},
            {"voltage", energy.voltage},
            {"notes", energy_notes(basis.machine, record.units, changed_keys(record))}};
}

/// Of a machine that gives events their energy.
Json by_event(const Basis& basis) {
    const run::RunRecord& record = basis.record;
    const machine::MachineConfig& machine = basis.machine;
    const energy::Joules joules = energy::joules_of_run(record, machine);
    Parts energy{.static_joules = joules.of_static_power(), .dynamic_joules = joules.dynamic()};
    Json by_unit = Json::object();
    for (std::size_t i = 0; i < joules.size(); ++i) {
        energy.static_watts += joules.consumer(i).static_watts;
        by_unit[joules.name(i)] = joules[i];
    }
    energy.knows_static = energy.static_watts > 0.0;
    energy.voltage = energy::operating_point(machine).voltage;
    energy.watts = ratio(energy.static_joules + energy.dynamic_joules, basis.seconds);
    Json object = to_json(energy, basis, std::move(by_unit));
    if (basis.parts.names_energy) object["of"] = basis.main.main->energy_of;
    // Without weight memory, host and what else is on the board.
    object["die_watts"] = or_null(ratio(joules.on_die(), basis.seconds));
    const double published = machine.power.busy_watts;
    object["published_busy_watts"] = published > 0.0 ? Json(published) : Json(nullptr);
    if (machine.energy) {
        machine::MachineConfig uncalibrated_machine = machine;
        uncalibrated_machine.energy->die_dynamic_factor = 1.0;
        const energy::Joules uncalibrated = energy::joules_of_run(record, uncalibrated_machine);
        object["die_dynamic_factor"] = machine.energy->die_dynamic_factor;
        object["uncalibrated"] = {{"joules", uncalibrated.total()},
                                  {"die_watts", or_null(ratio(uncalibrated.on_die(), basis.seconds))}};
    }
    if (const auto power = power_over_time(record)) object["power_over_time"] = power_json(*power);
    return object;
}

/// From published watts: busy watts while the program runs.
Json from_published_watts(const Basis& basis) {
    const machine::PowerConfig& power = basis.machine.power;
    const Parts energy{.static_joules = power.idle_watts * basis.seconds,
                       .dynamic_joules = (power.busy_watts - power.idle_watts) * basis.seconds,
                       .watts = power.busy_watts,
                       .knows_static = power.idle_watts > 0.0,
                       .static_watts = power.idle_watts};
    Json by_unit = nullptr;
    if (energy.knows_static) {
        by_unit = {{"chip_static", energy.static_joules}, {"chip_dynamic", energy.dynamic_joules}};
    }
    Json object = to_json(energy, basis, std::move(by_unit));
    if (basis.parts.names_energy) object["of"] = "the chip";
    return object;
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

/// For a machine whose events have a section `energy` or `tensor_energy`, at another clock than the measured
/// chip's.
std::string voltage_note(const machine::MachineConfig& machine) {
    const energy::OperatingPoint point = energy::operating_point(machine);
    std::string what =
        fmt::format("static power and the energy of each event are for {:.2f} times the voltage of {:g} MHz",
                    point.voltage, machine.power.clock_mhz);
    if (machine.clock_mhz >= point.least_mhz) return what;
    return fmt::format("{}, the lowest of the model: it would be enough for {:.0f} MHz", what,
                       point.least_mhz);
}

/// The units on the chip whose events have no energy.
std::string unpublished_note(std::span<const machine::UnitDescription> units) {
    std::vector<std::string> names;
    for (const machine::UnitDescription& unit : units) {
        const bool works = unit.on_die && unit.box && !unit.box->busy_counter.empty();
        const bool has_energy = std::ranges::any_of(units, [&](const machine::UnitDescription& each) {
            return std::ranges::any_of(each.energy,
                                       [&](const machine::EnergyRow& row) { return row.unit == unit.name; });
        });
        if (!works || has_energy) continue;
        std::string name = unit.name;
        std::ranges::replace(name, '_', ' ');
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return fmt::format(
        "not published, and left out: the energy of {}, and what registers, clock and wires take "
        "beyond the idle power",
        fmt::join(names, ", "));
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
        machine.process_nm()  ? fmt::format("static power, {:g} W,", power.idle_watts)
        : machine.tile_energy ? fmt::format("power of the board, {:g} W,", machine.tile_energy->board_watts)
                              : fmt::format("power, {:g} W,", power.busy_watts);
    std::vector<std::string> notes;
    if (machine.process_nm() && power.die_mm2 > 0.0) {
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
    if (machine.tensor_energy) notes.push_back(unpublished_note(units));
    if (!other_clock) return notes;
    if (machine.process_nm() && knows_clock) {
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

Json energy_json(const Basis& basis) {
    const machine::MachineConfig& machine = basis.machine;
    const std::optional<std::string> none = no_energy_reason(machine);
    if (!none) return machine.has_event_energy() ? by_event(basis) : from_published_watts(basis);
    // The keys that a machine with energy has: formulas of studies then have no value, and are no error.
    Json object;
    for (const char* const key : {"joules", "joules_per_inference", "watts", "by_unit", "static_joules",
                                  "dynamic_joules", "static_watts", "voltage"}) {
        object[key] = nullptr;
    }
    object["notes"] = Json::array({*none});
    for (const char* const key :
         {"die_watts", "published_busy_watts", "die_dynamic_factor", "uncalibrated"}) {
        object[key] = nullptr;
    }
    return object;
}

Json area_json(const run::RunRecord& record) {
    const std::optional<area::Area> area = area::area_of(record.spec.machine, record.units);
    if (!area) return nullptr;
    const auto estimate = [](const area::Estimate& mm2) {
        return Json{{"mm2", mm2.nominal}, {"mm2_low", mm2.low}, {"mm2_high", mm2.high}};
    };
    Json object = estimate(area->die);
    object["process_nm"] = area->process_nm;
    if (!area->note.empty()) object["note"] = area->note;
    object["by_unit"] = Json::object();
    for (const area::UnitArea& unit : area->units) object["by_unit"][unit.name] = estimate(unit.mm2);
    return object;
}

}  // namespace systole::report
