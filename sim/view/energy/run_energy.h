#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/record/record.h"

namespace systole::energy {

/// The consumers of power; their names are keys of report.json.
enum class Consumer : std::uint8_t {
    ChipStatic,
    MatrixUnit,
    Accumulators,
    UnifiedBuffer,
    WeightFifo,
    ActivationUnit,
    HostInterface,
    Sequencer,
    WeightMemory,  ///< on the board, not on the die
};
inline constexpr std::size_t consumer_count = 9;
inline constexpr std::array<std::string_view, consumer_count> consumer_names{
    "chip_static",     "matrix_unit",    "accumulators", "unified_buffer", "weight_fifo",
    "activation_unit", "host_interface", "sequencer",    "weight_memory"};

/// Joules of each consumer.
class Joules {
public:
    double& operator[](Consumer consumer) { return joules_[static_cast<std::size_t>(consumer)]; }
    double operator[](Consumer consumer) const { return joules_[static_cast<std::size_t>(consumer)]; }
    double total() const;
    /// All energy except the static part.
    double dynamic() const;
    /// The energy of the die, without weight memory, which is on the board.
    double on_die() const;

private:
    double without(Consumer one) const;

    std::array<double, consumer_count> joules_{};
};

using run::Activity;

/// One kind of event of a run: a counter, and the energy of each count.
struct Event {
    Consumer consumer = Consumer::MatrixUnit;
    Activity during = Activity::Any;
    double joules_each = 0.0;  ///< calibrated
    const run::Counter* counter = nullptr;
};

/// The events of a run. The machine has a section `energy`; the counters must outlive them.
std::vector<Event> events(const run::Counters& counters, const machine::MachineConfig& machine);

/// The energy of a run, or of its work under one tag. `cycles` are those of the run, or of the tag: they
/// determine the static part.
Joules joules(const std::vector<Event>& events, const machine::MachineConfig& machine, std::uint64_t cycles,
              std::optional<run::Tag> tag = {});

/// The energy of the whole run on a machine with a section `energy`: the record's own, or one that differs in
/// this section.
Joules joules_of_run(const run::RunRecord& record, const machine::MachineConfig& machine);

}  // namespace systole::energy
