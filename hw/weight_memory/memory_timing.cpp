#include "hw/weight_memory/memory_timing.h"

#include <algorithm>
#include <stdexcept>

#include "hw/weight_memory/dram_timing.h"

namespace systole::hw {

Cycle BandwidthTiming::read(std::uint64_t /*address*/, std::uint64_t bytes, Cycle issued, Tag /*tag*/) {
    const ExactTime first_byte{issued + latency_, 0};
    busy_until_ = rate_.after(std::max(first_byte, busy_until_), bytes);
    return busy_until_.whole;
}

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
