#pragma once

#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "hw/common/counter.h"

namespace systole::hw {

/// A group of counters and its place in the tree of modules: "matrix_unit".
struct PlacedCounters {
    std::string path;
    const CounterGroup* group;
};

/// A module of the chip with counters of its own. It registers each group of them once, where it is built;
/// SystemC's hierarchy of modules is the tree in which others find them.
class UnitModule : public sc_core::sc_module {
public:
    /// Each is placed by its name alone, beside the other units of the parent.
    const std::vector<PlacedCounters>& counter_groups() const { return groups_; }

protected:
    explicit UnitModule(const sc_core::sc_module_name& name) : sc_module(name) {}
    /// The group has the unit's name and must live as long as the unit.
    void register_counters(const CounterGroup& group) { register_counters(basename(), group); }
    /// A part of the unit that reports show as a unit: "host_read" of the host interface.
    void register_counters(std::string_view name, const CounterGroup& group) {
        groups_.push_back({std::string(name), &group});
    }

private:
    std::vector<PlacedCounters> groups_;
};

/// The groups of all units below a module, in the order in which the units were built. A path names the
/// modules from there to the unit's parent, then the group: "matrix_unit", "host_read", "core1.matrix_unit".
std::vector<PlacedCounters> counters_below(const sc_core::sc_object& module);

/// The counter at a path below a module: "matrix_unit.active_cycles". Throws std::logic_error, naming the
/// path, where there is none.
const Counter& find_counter(const sc_core::sc_object& module, std::string_view path);

}  // namespace systole::hw
