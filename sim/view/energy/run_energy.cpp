#include "sim/view/energy/run_energy.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/view/energy/operating_point.h"

namespace systole::energy {

Consumers::Consumers(const std::vector<machine::UnitDescription>& units, const run::Counters& counters,
                     const machine::MachineConfig& machine) {
    const double chip = static_watts(machine, units);
    const double whole_board = machine.tile_energy ? machine.tile_energy->board_watts : 0.0;
    if (chip > 0.0 || !(whole_board > 0.0)) {
        all_.push_back({.name = std::string(chip_static), .static_watts = chip, .is_static = true});
    }
    if (whole_board > 0.0) {
        all_.push_back(
            {.name = std::string(board), .on_die = false, .static_watts = whole_board, .is_static = true});
    }
    const auto takes_energy = [&](const machine::UnitDescription& unit) {
        return std::ranges::any_of(units, [&](const machine::UnitDescription& each) {
            return std::ranges::any_of(each.energy,
                                       [&](const machine::EnergyRow& row) { return row.unit == unit.name; });
        });
    };
    for (const machine::UnitDescription& unit : units) {
        const bool is_listed =
            std::ranges::any_of(all_, [&](const Consumer& each) { return each.name == unit.name; });
        if (!is_listed && takes_energy(unit)) all_.push_back({.name = unit.name, .on_die = unit.on_die});
    }
    constexpr double joules_a_picojoule = 1e-12;
    const double voltage = operating_point(machine).voltage;
    const double calibrated = machine.energy ? machine.energy->die_dynamic_factor : 1.0;
    const double factor = calibrated * voltage * voltage;
    for (const machine::UnitDescription& unit : units) {
        for (const machine::EnergyRow& row : unit.energy) {
            const auto consumer =
                std::ranges::find_if(all_, [&](const Consumer& each) { return each.name == row.unit; });
            if (consumer == all_.end()) {
                throw std::logic_error(row.counter + " gives energy to " + row.unit + ", which is no unit");
            }
            // Calibration and voltage are the die's: they do not apply to memory beside it.
            const double calibration = consumer->on_die ? factor : 1.0;
            events_.push_back({.consumer = static_cast<std::size_t>(consumer - all_.begin()),
                               .during = row.during,
                               .joules_each = row.picojoules * joules_a_picojoule * calibration,
                               .once = row.once,
                               .counter = &counters.at(row.counter)});
        }
    }
}

double Joules::at(std::string_view name) const {
    for (std::size_t i = 0; i < consumers_.size(); ++i) {
        if (consumers_[i].name == name) return joules_[i];
    }
    throw std::logic_error("there is no consumer " + std::string(name));
}

double Joules::total() const {
    return std::accumulate(joules_.begin(), joules_.end(), 0.0);
}

double Joules::of_static_power() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < joules_.size(); ++i) {
        if (consumers_[i].is_static) sum += joules_[i];
    }
    return sum;
}

// A difference of two nearly equal sums would lose the digits of what is left.
double Joules::dynamic() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < joules_.size(); ++i) {
        if (!consumers_[i].is_static) sum += joules_[i];
    }
    return sum;
}

double Joules::on_die() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < joules_.size(); ++i) {
        if (consumers_[i].on_die) sum += joules_[i];
    }
    return sum;
}

Joules joules(const Consumers& consumers, const machine::MachineConfig& machine, std::uint64_t cycles,
              std::optional<run::Tag> tag) {
    Joules sum(consumers.all());
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const double watts = sum.consumer(i).static_watts;
        sum[i] = watts * static_cast<double>(cycles) / static_cast<double>(machine.clock_hz());
    }
    for (const Consumers::Event& event : consumers.events()) {
        const std::uint64_t count = tag ? event.counter->value(*tag) : event.counter->value();
        sum[event.consumer] += event.joules_each * static_cast<double>(count);
    }
    return sum;
}

Joules joules_of_run(const run::RunRecord& record, const machine::MachineConfig& machine) {
    return joules(Consumers(record, machine), machine, record.cycles);
}

double joules_of_warm_call(const run::RunRecord& record, std::uint64_t calls, double seconds) {
    const Consumers consumers(record, record.spec.machine);
    double joules = 0.0;
    for (const Consumer& each : consumers.all()) joules += each.static_watts * seconds;
    for (const Consumers::Event& event : consumers.events()) {
        if (event.once) continue;
        joules +=
            event.joules_each * static_cast<double>(event.counter->value()) / static_cast<double>(calls);
    }
    return joules;
}

}  // namespace systole::energy
