// What the run took, by event or from published watts.
#include "sim/energy/run_energy.h"
#include "sim/report/report.h"

namespace systole::report {
namespace {

std::optional<double> for_each_inference(double joules, const run::Result& result) {
    if (result.program->inferences == 0) return std::nullopt;
    return joules / static_cast<double>(result.program->inferences);
}

double over(double joules, double seconds) {
    return seconds > 0.0 ? joules / seconds : 0.0;
}

energy::Joules joules_of_run(const run::Result& result, const machine::MachineConfig& machine) {
    return energy::joules(energy::events(*result.tpu, machine), machine, result.tpu->cycles());
}

Energy by_event(const run::Result& result, double seconds) {
    const machine::MachineConfig& machine = result.machine;
    const energy::Joules joules = joules_of_run(result, machine);
    machine::MachineConfig uncalibrated_machine = machine;
    uncalibrated_machine.energy->die_dynamic_factor = 1.0;
    const energy::Joules uncalibrated = joules_of_run(result, uncalibrated_machine);

    Energy energy;
    energy.static_joules = joules[energy::Consumer::ChipStatic];
    energy.dynamic_joules = joules.dynamic();
    energy.watts = over(energy.joules(), seconds);
    energy.joules_per_inference = for_each_inference(energy.joules(), result);
    for (std::size_t i = 0; i < energy::consumer_count; ++i) {
        energy.by_unit.emplace_back(energy::consumer_names[i], joules[static_cast<energy::Consumer>(i)]);
    }
    energy.events = EventEnergy{.die_watts = over(joules.on_die(), seconds),
                                .published_watts = machine.power.busy_watts,
                                .die_dynamic_factor = machine.energy->die_dynamic_factor,
                                .uncalibrated_joules = uncalibrated.total(),
                                .uncalibrated_die_watts = over(uncalibrated.on_die(), seconds),
                                .over_time = result.power};
    return energy;
}

}  // namespace

std::optional<energy::Joules> energy_under(const run::Result& result, hw::Tag tag, std::uint64_t cycles) {
    if (!result.machine.energy) return std::nullopt;
    return energy::joules(energy::events(*result.tpu, result.machine), result.machine, cycles, tag);
}

std::optional<Energy> make_energy(const run::Result& result, double seconds) {
    if (result.machine.energy) return by_event(result, seconds);
    const machine::PowerConfig& power = result.machine.power;
    if (!(power.busy_watts > 0.0)) return std::nullopt;
    Energy energy;
    energy.static_joules = power.idle_watts * seconds;
    energy.dynamic_joules = (power.busy_watts - power.idle_watts) * seconds;
    energy.watts = power.busy_watts;
    energy.joules_per_inference = for_each_inference(energy.joules(), result);
    energy.by_unit = {{"chip_static", energy.static_joules}, {"chip_dynamic", energy.dynamic_joules}};
    return energy;
}

}  // namespace systole::report
