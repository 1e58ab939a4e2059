// What the unit says of itself.
#include <algorithm>
#include <cmath>

#include "hw/machine/floorplan.h"
#include "hw/weight_memory/weight_memory.h"

namespace systole::hw {
namespace {

/// The ports of the memory, on the chip.
machine::Estimate area_of_ports(const machine::WeightMemoryConfig& memory) {
    constexpr double percent_of_die = 3.0 + 3.0;  // TPU v1: two DDR3 ports
    constexpr double ports_of_v1 = 2.0;
    constexpr double port_gb_per_s = 17.066666667;  // a DDR3-2133 channel of 64 bits
    // Four channels of GDDR5 in place of two of DDR3 make the die 10 % larger and move 183 GB/s: Jouppi et
    // al., ISCA 2017, section 7.
    constexpr double gddr5_percent = percent_of_die + 10.0;
    constexpr double gddr5_gb_per_s = 183.0;
    const bool is_dram = memory.model == machine::WeightMemoryModel::Dram;
    const double ports = is_dram ? static_cast<double>(memory.dram.channels)
                                 : std::ceil(memory.bandwidth_gb_per_s / port_gb_per_s);
    const double bandwidth = is_dram ? ports * port_gb_per_s : memory.bandwidth_gb_per_s;
    const double ddr3 = percent_of_die * ports / ports_of_v1;
    if (ports <= ports_of_v1) return machine::floorplan::between(ddr3);
    const double share = gddr5_percent * bandwidth / gddr5_gb_per_s;
    // The smaller of the two technologies, GDDR5 with four channels at least.
    return machine::floorplan::between(std::min(ddr3, std::max(share, gddr5_percent)),
                                       {ddr3, std::max(share, percent_of_die)});
}

}  // namespace

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
    unit.die_part = {.name = "weight_memory_ports",
                     .label = "memory ports",
                     .place = 7,
                     .percent = area_of_ports(memory),
                     .shrinks = false};
    const machine::NewValue more =
        memory.model == machine::WeightMemoryModel::Dram
            ? machine::NewValue{"weight_memory.dram.channels", memory.dram.channels * 4}
            : machine::NewValue{"weight_memory.bandwidth_gb_per_s", memory.bandwidth_gb_per_s * 4};
    unit.what_ifs = {{"weight_bandwidth", "4x the weight bandwidth", {more}}};
    return unit;
}

}  // namespace systole::hw
