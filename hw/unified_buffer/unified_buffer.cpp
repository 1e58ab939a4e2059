#include "hw/unified_buffer/unified_buffer.h"

#include <algorithm>

namespace systole::hw {

UnifiedBuffer::UnifiedBuffer(const sc_core::sc_module_name& name, const machine::MachineConfig& machine)
    : UnitModule(name),
      rows_(machine.unified_buffer.rows),
      row_bytes_(machine.matrix_unit.rows),
      bytes_(rows_ * row_bytes_),
      touched_(rows_, false) {
    register_counters(counters_);
}

const std::uint8_t* UnifiedBuffer::read(std::uint64_t first, std::uint64_t count) const {
    sc_assert(first + count <= rows_);
    return bytes_.data() + first * row_bytes_;
}

std::uint8_t* UnifiedBuffer::write(std::uint64_t first, std::uint64_t count) {
    sc_assert(first + count <= rows_);
    const auto begin = touched_.begin() + static_cast<std::ptrdiff_t>(first);
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(count), true);
    return bytes_.data() + first * row_bytes_;
}

std::uint64_t UnifiedBuffer::touched_bytes() const {
    return static_cast<std::uint64_t>(std::count(touched_.begin(), touched_.end(), true)) * row_bytes_;
}

}  // namespace systole::hw
