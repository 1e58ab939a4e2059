#include "hw/weight_memory/memory_timing.h"

#include <stdexcept>

#include "hw/weight_memory/bandwidth_timing.h"
#include "hw/weight_memory/dram_timing.h"

namespace systole::hw {

std::unique_ptr<MemoryTiming> make_memory_timing(const machine::MachineConfig& machine) {
    const machine::WeightMemoryConfig& memory = machine.weight_memory;
    switch (memory.model) {
        case machine::WeightMemoryModel::Bandwidth:
            return std::make_unique<BandwidthTiming>(machine.weight_rate(), memory.latency_cycles);
        case machine::WeightMemoryModel::Dram:
            return std::make_unique<DramTiming>(memory.dram, machine.clock_hz(), memory.latency_cycles);
    }
    throw std::logic_error("a model of weight memory without a class");
}

}  // namespace systole::hw
