// The energy of the run, by event or from published watts.
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

std::optional<Energy> make_energy(const run::RunRecord& record, double seconds) {
    if (record.spec.machine.energy) return by_event(record, seconds);
    const machine::PowerConfig& power = record.spec.machine.power;
    if (!(power.busy_watts > 0.0)) return std::nullopt;
    Energy energy;
    energy.static_joules = power.idle_watts * seconds;
    energy.dynamic_joules = (power.busy_watts - power.idle_watts) * seconds;
    energy.watts = power.busy_watts;
    energy.joules_per_inference = for_each_inference(energy.joules(), record);
    energy.by_unit = {{"chip_static", energy.static_joules}, {"chip_dynamic", energy.dynamic_joules}};
    return energy;
}

}  // namespace systole::report
