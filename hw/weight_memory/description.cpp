// What the unit says of itself.
#include "hw/weight_memory/weight_memory.h"

namespace systole::hw {

machine::UnitDescription describe_weight_memory(const machine::MachineConfig& machine,
                                                std::uint64_t used_bytes) {
    constexpr double bytes_a_gb = 1e9;
    const machine::WeightMemoryConfig& memory = machine.weight_memory;
    const machine::ShownLine bandwidth =
        memory.model == machine::WeightMemoryModel::Dram
            ? machine::ShownLine{"DRAM timing"}
            : machine::ShownLine{"{}", {{memory.bandwidth_gb_per_s * bytes_a_gb, "B/s"}}};
    machine::UnitDescription unit;
    unit.name = "weight_memory";
    unit.on_die = false;
    unit.box = {.title = "Weight memory",
                .column = 2,
                .row = 0,
                .lines = {{"{}", {{static_cast<double>(memory.bytes), "bytes"}}}, bandwidth},
                .filled = machine::Filled{used_bytes, memory.bytes, "used"},
                .word = "filled"};
    const machine::NewValue more =
        memory.model == machine::WeightMemoryModel::Dram
            ? machine::NewValue{"weight_memory.dram.channels", memory.dram.channels * 4}
            : machine::NewValue{"weight_memory.bandwidth_gb_per_s", memory.bandwidth_gb_per_s * 4};
    unit.what_ifs = {{"weight_bandwidth", "4x the weight bandwidth", {more}}};
    return unit;
}

}  // namespace systole::hw
