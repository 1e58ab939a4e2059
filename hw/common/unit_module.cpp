#include "hw/common/unit_module.h"

#include <stdexcept>

namespace systole::hw {

machine::UnitDescription UnitModule::description(const machine::MachineConfig& machine) const {
    machine::UnitDescription unit;
    unit.name = basename();
    describe(machine, unit);
    return unit;
}

const Counter& find_counter(const std::vector<PlacedCounters>& groups, std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot != std::string_view::npos) {
        for (const PlacedCounters& placed : groups) {
            if (placed.path != path.substr(0, dot)) continue;
            for (const Counter& counter : *placed.group) {
                if (counter.name() == path.substr(dot + 1)) return counter;
            }
        }
    }
    throw std::logic_error("there is no counter " + std::string(path));
}

}  // namespace systole::hw
