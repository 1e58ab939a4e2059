#include "hw/weight_memory/memory_timing.h"

#include <algorithm>
#include <stdexcept>

#include "hw/weight_memory/dram_timing.h"

namespace systole::hw {

Cycle MemoryTiming::write(std::uint64_t /*bytes*/, Cycle /*issued*/) {
    throw std::logic_error("a write into a weight memory whose model has none");
}

Cycle BandwidthTiming::move(const MemoryWay& way, Direction direction, std::uint64_t bytes, Cycle issued) {
    if (direction != last_) {
        // The parts of a cycle are those of the other rate.
        busy_until_ = {busy_until_.whole + (busy_until_.parts > 0 ? 1 : 0), 0};
        last_ = direction;
    }
    const ExactTime first_byte{issued + way.latency, 0};
    busy_until_ = way.rate.after(std::max(first_byte, busy_until_), bytes);
    return busy_until_.whole;
}

Cycle BandwidthTiming::read(std::uint64_t /*address*/, std::uint64_t bytes, Cycle issued, Tag /*tag*/) {
    return move(reads_, Direction::Read, bytes, issued);
}

Cycle BandwidthTiming::write(std::uint64_t bytes, Cycle issued) {
    if (!writes_) return MemoryTiming::write(bytes, issued);
    return move(*writes_, Direction::Write, bytes, issued);
}

std::unique_ptr<MemoryTiming> make_memory_timing(const machine::MachineConfig& machine) {
    const machine::WeightMemoryConfig& memory = machine.weight_memory;
    switch (memory.model) {
        case machine::WeightMemoryModel::Bandwidth:
            return std::make_unique<BandwidthTiming>(
                MemoryWay{.rate = machine.weight_rate(), .latency = memory.latency_cycles},
                memory.writable ? std::optional(MemoryWay{.rate = machine.weight_write_rate(),
                                                          .latency = memory.writable->latency_cycles})
                                : std::nullopt);
        case machine::WeightMemoryModel::Dram:
            return std::make_unique<DramTiming>(memory.dram, machine.clock_hz(), memory.latency_cycles);
    }
    throw std::logic_error("a model of weight memory without a class");
}

}  // namespace systole::hw
