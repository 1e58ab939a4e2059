#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/trace.h"
#include "hw/common/unit_bound.h"
#include "hw/common/unit_waves.h"
#include "hw/isa/instruction.h"
#include "hw/isa/memory.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::hw {

/// A group of counters and its path in the machine: "matrix_unit".
struct PlacedCounters {
    std::string path;
    const CounterGroup* group;
};

/// What an instruction under way waits for: that an instruction of another queue gives it.
struct AwaitedWork {
    isa::QueueId from = isa::QueueId::HostRead;
    bool (*gives)(const isa::Instruction& instruction) = nullptr;
    std::string_view words;   ///< "for a weight tile, which {} fetches", with {} for the instruction
    std::string_view nobody;  ///< in its place where there is none: "no read_weights"
};

/// A memory that instructions name, and the number of its places: rows, or what isa::MemoryId says.
struct MemoryPlaces {
    isa::MemoryId memory = isa::MemoryId::UnifiedBuffer;
    std::uint64_t places = 0;
};

/// A module of the chip with counters of its own. Its constructor registers each group of counters once.
class UnitModule : public sc_core::sc_module {
public:
    /// The groups with their names as paths, relative to the unit's parent.
    const std::vector<PlacedCounters>& counter_groups() const { return groups_; }
    /// Groups that only explain those: reports list them behind the groups of all units.
    const std::vector<PlacedCounters>& detail_groups() const { return details_; }
    /// The run ended at this cycle, and the unit's program under this tag: the unit counts the cycles that it
    /// has not counted. Where several cores run, another program may have ended last.
    virtual void finish(Cycle /*end*/, Tag /*tag*/) {}
    /// What the unit says of itself. Paths are relative to the unit's parent.
    machine::UnitDescription description(const machine::MachineConfig& machine) const;
    /// What the instruction waits for that the unit has taken from one of its queues, in a program in which
    /// nothing moves any more; none for a queue of another unit.
    virtual std::optional<AwaitedWork> awaited(isa::QueueId /*queue*/) const { return std::nullopt; }
    /// The memories that the unit holds, or to which it alone leads.
    virtual std::vector<MemoryPlaces> memories(const machine::MachineConfig& /*machine*/) const { return {}; }
    /// The values in places of such a memory, after the run; empty for a memory of another unit. `tile`: of a
    /// memory that each tile has, whose it is.
    virtual std::span<const std::uint8_t> values(isa::MemoryId /*memory*/, std::uint64_t /*first*/,
                                                 std::uint64_t /*places*/, std::size_t /*tile*/) const {
        return {};
    }
    /// Makes the signals that waves show of the unit, and the listener that drives them from the events of
    /// its core; none for a unit without signals of its own.
    virtual std::unique_ptr<TraceListener> waves(WaveMaker& /*maker*/) const { return nullptr; }
    /// The unit's lower bounds. Their functions refer to the unit and to the machine.
    virtual std::vector<UnitBound> bounds(const machine::MachineConfig& /*machine*/) const { return {}; }

protected:
    explicit UnitModule(const sc_core::sc_module_name& name) : sc_module(name) {}
    /// Adds what the unit says of itself to its name.
    virtual void describe(const machine::MachineConfig& /*machine*/,
                          machine::UnitDescription& /*unit*/) const {}
    /// Registers a group under the unit's name. The group must live as long as the unit.
    void register_counters(const CounterGroup& group) { register_counters(basename(), group); }
    /// Registers a group under a name of its own, for a part that reports show as a unit: "host_read".
    void register_counters(std::string_view name, const CounterGroup& group) {
        groups_.push_back({std::string(name), &group});
    }
    /// The same for a group that only explains another one.
    void register_details(std::string_view name, const CounterGroup& group) {
        details_.push_back({std::string(name), &group});
    }

private:
    std::vector<PlacedCounters> groups_;
    std::vector<PlacedCounters> details_;
};

/// The counter at a path: "matrix_unit.active_cycles". Throws std::logic_error with the path if there is
/// none.
const Counter& find_counter(const std::vector<PlacedCounters>& groups, std::string_view path);

/// Units that run one program.
struct ProgramUnits {
    std::size_t chip = 0;
    std::vector<const UnitModule*> units;
    std::size_t layers = 0;  ///< of the program; their tags begin with 1
};

/// The bounds of all these units, in the order of their places. Programs run side by side, so the
/// largest of the bounds with one name is that of the machine.
std::vector<machine::Bound> bounds_of(const std::vector<ProgramUnits>& all,
                                      const machine::MachineConfig& machine);

}  // namespace systole::hw
