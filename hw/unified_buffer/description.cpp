// What the unit says of itself.
#include <fmt/format.h>

#include "hw/unified_buffer/unified_buffer.h"

namespace systole::hw {

void UnifiedBuffer::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::UnifiedBufferConfig& buffer = machine.unified_buffer;
    const std::uint64_t bytes = machine.unified_buffer_bytes();
    unit.box = {
        .title = "Unified buffer",
        .column = 1,
        .row = 1,
        .lines = {{fmt::format("{{}}, rows of {} B", row_bytes_), {{static_cast<double>(bytes), "bytes"}}},
                  {fmt::format("{} ports to read, {} to write", buffer.read_ports, buffer.write_ports)}},
        .filled = machine::Filled{touched_bytes(), bytes},
        .word = "ever used"};
}

}  // namespace systole::hw
