// What the unit says of itself.
#include "hw/hbm/hbm.h"
#include "hw/machine/event_energies.h"

namespace systole::hw {

void Hbm::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    constexpr double bytes_a_gb = 1e9;
    const machine::HbmConfig& memory = machine.hbm;
    std::uint64_t used_rows = 0;
    for (const Part& part : parts_) used_rows += part.used_rows();
    unit.on_die = false;
    unit.box = {.title = "HBM",
                .column = 1,
                .row = 3,
                .lines = {{"{} at {}",
                           {{static_cast<double>(memory.bytes), "bytes"},
                            {memory.bandwidth_gb_per_s * memory.efficiency * bytes_a_gb, "B/s"}}},
                          machine::latency_line(memory.latency_cycles, memory.latency_ns)},
                .filled = machine::Filled{used_rows * machine.vector_row_bytes(), memory.bytes, "peak"},
                .word = "ever used"};
    unit.what_ifs = {{"hbm_bandwidth",
                      "4x the bandwidth of high-bandwidth memory",
                      {{"hbm.bandwidth_gb_per_s", memory.bandwidth_gb_per_s * 4}}}};
    if (!machine.tensor_energy) return;
    const double byte = machine::tensor_event_energies(machine).hbm_byte;
    unit.energy = {{"hbm", "hbm.read_bytes", byte, ""}, {"hbm", "hbm.written_bytes", byte, ""}};
}

}  // namespace systole::hw
