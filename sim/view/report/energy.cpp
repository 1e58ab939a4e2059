// The energy of the run, by event or from published watts.
#include <fmt/format.h>

#include <algorithm>

#include "sim/view/energy/run_energy.h"
#include "sim/view/report/report.h"

namespace systole::report {
namespace {

std::optional<double> for_each_inference(double joules, const run::RunRecord& record) {
    if (record.program.inferences == 0) return std::nullopt;
    return joules / static_cast<double>(record.program.inferences);
}

double over(double joules, double seconds) {
    return seconds > 0.0 ? joules / seconds : 0.0;
}

Energy by_event(const run::RunRecord& record, double seconds) {
    const machine::MachineConfig& machine = record.spec.machine;
    const energy::Joules joules = energy::joules_of_run(record, machine);
    machine::MachineConfig uncalibrated_machine = machine;
    uncalibrated_machine.energy->die_dynamic_factor = 1.0;
    const energy::Joules uncalibrated = energy::joules_of_run(record, uncalibrated_machine);

    Energy energy;
    energy.static_joules = joules[energy::Consumer::ChipStatic];
    energy.dynamic_joules = joules.dynamic();
    energy.watts = over(energy.joules(), seconds);
    energy.joules_per_inference = for_each_inference(energy.joules(), record);
    for (std::size_t i = 0; i < energy::consumer_count; ++i) {
        energy.by_unit.emplace_back(energy::consumer_names[i], joules[static_cast<energy::Consumer>(i)]);
    }
    energy.events = EventEnergy{.die_watts = over(joules.on_die(), seconds),
                                .published_watts = machine.power.busy_watts,
                                .die_dynamic_factor = machine.energy->die_dynamic_factor,
                                .uncalibrated_joules = uncalibrated.total(),
                                .uncalibrated_die_watts = over(uncalibrated.on_die(), seconds),
                                .over_time = power_over_time(record)};
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
    energy.static_joules = power.idle_watts * seconds;
    energy.dynamic_joules = (power.busy_watts - power.idle_watts) * seconds;
    energy.watts = power.busy_watts;
    energy.joules_per_inference = for_each_inference(energy.joules(), record);
    energy.by_unit = {{"chip_static", energy.static_joules}, {"chip_dynamic", energy.dynamic_joules}};
    return energy;
}

}  // namespace

std::optional<energy::PowerOverTime> power_over_time(const run::RunRecord& record) {
    const std::uint32_t windows = record.spec.observed.power_windows;
    if (windows == 0) return std::nullopt;
    const machine::MachineConfig& machine = record.spec.machine;
    return energy::power_over_time(energy::events(record.counters, machine), machine, record.work,
                                   record.cycles, windows);
}

std::optional<energy::Joules> energy_under(const run::RunRecord& record, run::Tag tag, std::uint64_t cycles) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (!machine.energy) return std::nullopt;
    return energy::joules(energy::events(record.counters, machine), machine, cycles, tag);
}

std::vector<std::string> energy_notes(const machine::MachineConfig& machine,
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
    // Published watts are those of a busy chip; with events, only static power does not follow.
    const std::string watts = machine.energy ? fmt::format("static power, {:g} W,", power.idle_watts)
                                             : fmt::format("power, {:g} W,", power.busy_watts);
    std::vector<std::string> notes;
    if (other_array) {
        const std::string whose =
            knows_array ? fmt::format("an array of {} x {}", power.array_rows, power.array_columns)
                        : "the unchanged array";
        notes.push_back(fmt::format("{} is that of {}: it does not follow the array's size, now {} x {}",
                                    watts, whose, array.rows, array.columns));
    }
    if (!other_clock) return notes;
    const std::string at = knows_clock ? fmt::format("{:g} MHz", power.clock_mhz) : "the unchanged clock";
    const std::string what = machine.energy ? fmt::format("{} and the energy of each event are those", watts)
                                            : fmt::format("{} is that", watts);
    const bool is_higher = knows_clock && machine.clock_mhz > power.clock_mhz;
    notes.push_back(fmt::format("{} of {} and its voltage: {:g} MHz {}", what, at, machine.clock_mhz,
                                is_higher ? "may need a higher voltage or another design, which take more"
                                          : "may have another voltage, which is not in these figures"));
    return notes;
}

std::optional<Energy> make_energy(const run::RunRecord& record, double seconds) {
    const machine::MachineConfig& machine = record.spec.machine;
    if (!machine.energy && !(machine.power.busy_watts > 0.0)) return std::nullopt;
    Energy energy = machine.energy ? by_event(record, seconds) : from_published_watts(record, seconds);
    energy.notes = energy_notes(machine, changed_keys(record));
    return energy;
}

}  // namespace systole::report
