// What the unit says of itself.
#include <fmt/format.h>

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
    unit.what_ifs = {{"queues",
                      "4x the depth of the instruction queues",
                      {{"sequencer.queue_depth", machine.sequencer.queue_depth * 4}}}};
}

}  // namespace systole::hw
