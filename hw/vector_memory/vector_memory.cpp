#include "hw/vector_memory/vector_memory.h"

#include "hw/isa/panels.h"

namespace systole::hw {

VectorMemory::VectorMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine)
    : UnitModule(name),
      lanes_(machine.vector_unit.lanes),
      rows_(machine.vector_memory.rows),
      words_(rows_ * lanes_) {
    register_counters(counters_);
}

// Signed and unsigned numbers of one size may share memory.

const std::int32_t* VectorMemory::Sums::read(std::uint64_t first, std::uint64_t count) const {
    sc_assert(first + count <= memory_.rows_);
    return reinterpret_cast<const std::int32_t*>(memory_.from_row(first));
}

std::int32_t* VectorMemory::Sums::write(std::uint64_t first, std::uint64_t count) {
    sc_assert(first + count <= memory_.rows_);
    return reinterpret_cast<std::int32_t*>(memory_.from_row(first));
}

void VectorMemory::Sums::count_reads(std::uint64_t rows, Tag tag) {
    memory_.count_reads(rows * memory_.lanes_ * isa::word_bytes, tag);
}

void VectorMemory::Sums::count_passes(std::uint64_t passes, std::uint64_t additions, Tag tag) {
    memory_.count_writes(passes * memory_.lanes_ * isa::word_bytes, tag);
    memory_.count_reads(additions * memory_.lanes_ * isa::word_bytes, tag);
}

}  // namespace systole::hw
