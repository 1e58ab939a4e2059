// What the unit says of itself.
#include <fmt/format.h>

#include <algorithm>

#include "hw/machine/floorplan.h"
#include "hw/sequencer/sequencer.h"

namespace systole::hw {

void Sequencer::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    unit.box = {
        .title = "Sequencer",
        .column = 0,
        .row = 0,
        .lines = {{"{} instructions", {{static_cast<double>(program_->instructions.size()), "count"}}},
                  {"buffer of {}",
                   {{static_cast<double>(machine.sequencer.instruction_buffer_bytes), "bytes"}}}},
        .busy_counter = "sequencer.busy_cycles"};
    // TPU v1: control, with an instruction buffer of 32 KiB.
    namespace floorplan = machine::floorplan;
    constexpr double percent_of_die = 2.0;
    const double more_bytes = machine.sequencer.instruction_buffer_bytes - 32768.0;
    const double more = floorplan::unified_buffer_percent * more_bytes / floorplan::unified_buffer_bytes;
    // What the scalar unit of a tensor core takes is not published.
    if (machine.family != machine::Family::TensorCore) {
        unit.die_part = {.name = "sequencer",
                         .label = "sequencer",
                         .place = 5,
                         .percent = floorplan::between(std::max(percent_of_die + more, 0.0))};
    }
    unit.what_ifs = {{"queues",
                      "4x the depth of the instruction queues",
                      {{"sequencer.queue_depth", machine.sequencer.queue_depth * 4}}}};
}

}  // namespace systole::hw
