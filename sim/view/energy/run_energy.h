#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/record/record.h"

namespace systole::energy {

/// What takes power. Its name is a key of report.json.
struct Consumer {
    std::string name;
    bool on_die = true;
    double static_watts = 0.0;  ///< that it takes whatever happens
    bool is_static = false;     ///< it takes nothing else
};

/// The consumers of a run and the events for which they take energy. First come those of static power, the
/// chip and the board, if the machine knows it; the others are units, in the order of their descriptions.
class Consumers {
public:
    static constexpr std::string_view chip_static = "chip_static";
    static constexpr std::string_view board = "board";

    /// The machine gives events their energy: the record's own, or one with another calibration.
    Consumers(const run::RunRecord& record, const machine::MachineConfig& machine)
        : Consumers(record.units, record.counters, machine) {}
    /// The counters must outlive the object.
    Consumers(const std::vector<machine::UnitDescription>& units, const run::Counters& counters,
              const machine::MachineConfig& machine);

    /// One kind of event: a counter, and the energy of each count.
    struct Event {
        std::size_t consumer = 0;  ///< its index
        std::string during;        ///< see machine::EnergyRow
        double joules_each = 0.0;  ///< calibrated
        bool once = false;         ///< see machine::EnergyRow
        const run::Counter* counter = nullptr;
    };

    const std::vector<Consumer>& all() const { return all_; }
    const std::vector<Event>& events() const { return events_; }

private:
    std::vector<Consumer> all_;
    std::vector<Event> events_;
};

/// Joules of each consumer.
class Joules {
public:
    explicit Joules(std::vector<Consumer> consumers)
        : consumers_(std::move(consumers)), joules_(consumers_.size()) {}

    std::size_t size() const { return joules_.size(); }
    const Consumer& consumer(std::size_t consumer) const { return consumers_[consumer]; }
    const std::string& name(std::size_t consumer) const { return consumers_[consumer].name; }
    double& operator[](std::size_t consumer) { return joules_[consumer]; }
    double operator[](std::size_t consumer) const { return joules_[consumer]; }
    /// Those of the consumer of this name. Throws std::logic_error if there is none.
    double at(std::string_view name) const;

    double total() const;
    /// That of the chip, and of its board.
    double of_static_power() const;
    /// All energy except the static part.
    double dynamic() const;
    /// The energy of the die, without memories on the board.
    double on_die() const;

private:
    std::vector<Consumer> consumers_;
    std::vector<double> joules_;
};

/// The energy of a run, or of its work under one tag. `cycles` are those of the run, or of the tag: they
/// determine the static part.
Joules joules(const Consumers& consumers, const machine::MachineConfig& machine, std::uint64_t cycles,
              std::optional<run::Tag> tag = {});

/// The energy of the whole run on a machine that gives events their energy: the record's own, or one with
/// another calibration.
Joules joules_of_run(const run::RunRecord& record, const machine::MachineConfig& machine);

/// The energy of one call of a run of several, which are alike but for the events of the first: `seconds` are
/// those of the call.
double joules_of_warm_call(const run::RunRecord& record, std::uint64_t calls, double seconds);

}  // namespace systole::energy
