#include "hw/common/unit_module.h"

#include <stdexcept>

namespace systole::hw {
namespace {

void collect(const sc_core::sc_object& module, const std::string& prefix,
             std::vector<PlacedCounters>& found) {
    for (const sc_core::sc_object* child : module.get_child_objects()) {
        if (const auto* unit = dynamic_cast<const UnitModule*>(child)) {
            for (const PlacedCounters& own : unit->counter_groups()) {
                found.push_back({prefix + own.path, own.group});
            }
        }
        collect(*child, prefix + child->basename() + ".", found);
    }
}

}  // namespace

std::vector<PlacedCounters> counters_below(const sc_core::sc_object& module) {
    std::vector<PlacedCounters> found;
    collect(module, {}, found);
    return found;
}

const Counter& find_counter(const sc_core::sc_object& module, std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot != std::string_view::npos) {
        for (const PlacedCounters& placed : counters_below(module)) {
            if (placed.path != path.substr(0, dot)) continue;
            for (const Counter& counter : *placed.group) {
                if (counter.name() == path.substr(dot + 1)) return counter;
            }
        }
    }
    throw std::logic_error("there is no counter " + std::string(path));
}

}  // namespace systole::hw
