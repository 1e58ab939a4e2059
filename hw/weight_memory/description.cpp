// What the unit says of itself.
#include "hw/weight_memory/weight_memory.h"

namespace systole::hw {

machine::UnitDescription describe_weight_memory(const machine::MachineConfig& /*machine*/) {
    machine::UnitDescription unit;
    unit.name = "weight_memory";
    unit.on_die = false;
    return unit;
}

}  // namespace systole::hw
