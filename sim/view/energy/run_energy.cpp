#include "sim/view/energy/run_energy.h"

#include <cstddef>
#include <numeric>

#include "sim/view/energy/event_energies.h"
#include "sim/view/energy/operating_point.h"

namespace systole::energy {

double Joules::total() const {
    return std::accumulate(joules_.begin(), joules_.end(), 0.0);
}

// A difference of two nearly equal sums would lose the digits of what is left.
double Joules::without(Consumer one) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < consumer_count; ++i) {
        if (static_cast<Consumer>(i) != one) sum += joules_[i];
    }
    return sum;
}

double Joules::dynamic() const {
    return without(Consumer::ChipStatic);
}

double Joules::on_die() const {
    return without(Consumer::WeightMemory);
}

std::vector<Event> events(const run::Counters& counters, const machine::MachineConfig& machine) {
    constexpr double joules_a_picojoule = 1e-12;
    const EventEnergies each = event_energies(machine);
    const double voltage = operating_point(machine).voltage;
    const double factor = machine.energy.value().die_dynamic_factor * voltage * voltage;
    std::vector<Event> list;
    const auto add = [&](Consumer consumer, Activity during, double picojoules, std::string_view counter) {
        // Calibration and voltage are the die's: they do not apply to memory beside it.
        const double calibration = consumer == Consumer::WeightMemory ? 1.0 : factor;
        list.push_back({.consumer = consumer,
                        .during = during,
                        .joules_each = picojoules * joules_a_picojoule * calibration,
                        .counter = &counters.at(counter)});
    };
    using enum Consumer;
    add(MatrixUnit, Activity::Matrix, each.mac, "matrix_unit.useful_macs");
    add(MatrixUnit, Activity::Matrix, each.unused_mac, "matrix_unit.unused_macs");

    add(Accumulators, Activity::Matrix, each.sums_row, "accumulators.pass_writes");
    add(Accumulators, Activity::Matrix, each.sums_row + each.sums_add, "accumulators.additions");
    add(Accumulators, Activity::Activation, each.sums_row, "accumulators.reads");

    add(UnifiedBuffer, Activity::Matrix, each.buffer_row, "systolic_data_setup.fetches");
    add(UnifiedBuffer, Activity::Activation, each.buffer_row, "activation_unit.buffer_reads");
    add(UnifiedBuffer, Activity::Activation, each.buffer_row, "activation_unit.buffer_writes");
    add(UnifiedBuffer, Activity::HostRead, each.buffer_row, "host_interface.buffer_writes");
    add(UnifiedBuffer, Activity::HostWrite, each.buffer_row, "host_interface.buffer_reads");

    add(WeightMemory, Activity::WeightFetch, each.weight_byte, "weight_fifo.bytes");
    add(WeightFifo, Activity::WeightFetch, each.fifo_byte, "weight_fifo.bytes");
    add(WeightFifo, Activity::WeightFetch, each.fifo_byte, "weight_fifo.spilled_bytes");
    add(WeightFifo, Activity::WeightShift, each.fifo_byte, "weight_fifo.shifted_bytes");

    add(ActivationUnit, Activity::Activation, each.requantized, "activation_unit.elements");
    add(ActivationUnit, Activity::Activation, each.lookup, "activation_unit.lookups");
    add(ActivationUnit, Activity::Activation, each.operand, "activation_unit.operand_elements");
    add(ActivationUnit, Activity::Activation, each.pooled, "activation_unit.pooled_elements");

    add(HostInterface, Activity::HostRead, each.host_byte, "host_interface.read_bytes");
    add(HostInterface, Activity::WeightFetch, each.host_byte, "host_interface.weight_bytes");
    add(HostInterface, Activity::HostWrite, each.host_byte, "host_interface.write_bytes");
    add(HostInterface, Activity::Any, each.host_byte, "host_interface.instruction_bytes");
    add(Sequencer, Activity::Any, each.instruction_byte, "host_interface.instruction_bytes");
    return list;
}

Joules joules(const std::vector<Event>& events, const machine::MachineConfig& machine, std::uint64_t cycles,
              std::optional<run::Tag> tag) {
    Joules sum;
    sum[Consumer::ChipStatic] =
        static_watts(machine) * static_cast<double>(cycles) / static_cast<double>(machine.clock_hz());
    for (const Event& event : events) {
        const std::uint64_t count = tag ? event.counter->value(*tag) : event.counter->value();
        sum[event.consumer] += event.joules_each * static_cast<double>(count);
    }
    return sum;
}

Joules joules_of_run(const run::RunRecord& record, const machine::MachineConfig& machine) {
    return joules(events(record.counters, machine), machine, record.cycles);
}

}  // namespace systole::energy
